// Does memory help? What decisions show in which it was withheld at random.

import { empty, h, icon } from "../dom.js";
import { get, getSettings } from "../api.js";
import { count, delta, percent, plural, visible } from "../format.js";
import { bars, interval } from "../charts.js";
import { chip, head } from "./parts.js";

export function verdict(one) {
  if (one.effect === null) return visible(one.verdict);
  if (one.low > 0) return "memory helps";
  if (one.high < 0) return "memory harms";
  return "no difference found yet";
}

export async function uplift({ signal }) {
  const [measured, settings, meters] = await Promise.all([get("/uplifts", {}, signal), getSettings(signal), get("/meters", {}, signal)]);
  const units = Object.fromEntries(meters.items.map((meter) => [meter.name, meter]));
  const all = measured.items;
  const share = settings.holdout;
  const body = h("div", {}, head("Uplift", "In some decisions memory is withheld at random, before anybody knows the outcome. What differs is what memory is worth. The interval holds however often you look."));
  if (!share) body.append(h("div", { class: "notice" }, icon("info"), h("div", {}, h("strong", {}, "Nothing is withheld now"), h("span", {}, "Withhold memory from one decision in ten, and this page will tell: "), h("code", {}, "earnest config holdout 0.1"))));
  else body.append(h("div", { class: "notice" }, icon("info"), h("div", {}, `Memory is withheld from ${percent(share)} of the decisions that it could answer. Guards that you exempt (tag ${visible(settings.holdout_exempt) || "none"}) are never withheld.`)));
  if (!all.length) {
    body.append(h("section", { class: "sheet" }, empty("uplift", "Uplift is unmeasured", "No outcome of a randomised decision was settled yet. A ticket with holdout is settled like any other: do without memory, measure what happens.")));
  }
  for (const one of all) body.append(sheet(one, units[one.meter]));
  return { title: "Uplift", body };
}

function sheet(one, meter) {
  const unit = `of ${visible(one.meter)}'s scale a decision`;
  const known = one.effect !== null;
  const look = !known ? "" : one.low > 0 ? "good" : one.high < 0 ? "bad" : "warn";
  const typed = Object.entries(one.tiers || {}).filter(([tier]) => tier !== "measured");
  return h("section", { class: "sheet" },
    h("div", { class: "head" }, h("div", {}, h("h2", {}, `By meter ${visible(one.meter)}`), h("p", { class: "under" }, `${plural(one.decisions, "randomised decision")}, ${count(one.holdouts)} of them without memory.${meter?.scale ? ` The scale is ${delta(meter.scale, meter.unit).replace("+", "")}.` : ""}`)), chip(known ? verdict(one) : "unmeasured", look)),
    typed.length > 0 && h("div", { class: "chips" }, typed.map(([tier, number]) => h("span", { class: `chip ${tier === "operator" ? "operator" : "warn"}` }, icon(tier === "operator" ? "person" : "alert"), `${count(number)} ${tier === "operator" ? "typed by operator" : tier}`))),
    !known && h("p", { class: "soft" }, visible(one.verdict)),
    known && h("div", { class: "grid" },
      h("div", { class: "span-6" }, h("h3", {}, "Mean outcome"), h("p", { class: "under" }, unit), bars([
        ["with memory", one.shown_mean, delta(Number(one.shown_mean.toFixed(3))), one.shown_mean < 0 ? 4 : 1],
        ["withheld", one.withheld_mean, delta(Number(one.withheld_mean.toFixed(3))), one.withheld_mean < 0 ? 4 : 7],
      ])),
      h("div", { class: "span-6" }, h("h3", {}, `Effect ${delta(Number(one.effect.toFixed(3)))}, between ${delta(Number(one.low.toFixed(3))) || "0"} and ${delta(Number(one.high.toFixed(3)))}`), h("p", { class: "under" }, `with ${percent(1 - one.alpha)} confidence, at all times together`),
        interval({
          label: `Effect of memory by ${one.meter}: ${one.effect.toFixed(3)}, interval ${one.low.toFixed(3)} to ${one.high.toFixed(3)}.`, low: one.low, high: one.high, effect: one.effect, show: (value) => delta(Number(value.toFixed(2))) || "0",
          table: { caption: "Effect of memory", head: ["", "value"], rows: [["effect", one.effect.toFixed(4)], ["low", one.low.toFixed(4)], ["high", one.high.toFixed(4)], ["mean with memory", one.shown_mean.toFixed(4)], ["mean withheld", one.withheld_mean.toFixed(4)]] },
        }))),
    known && one.verdict !== "helps" && one.verdict !== "harms" && h("p", { class: "hint" }, visible(one.verdict)),
    one.lost_shown + one.lost_withheld > 0 && h("p", { class: "hint" }, `Ended without an outcome: ${count(one.lost_shown)} shown, ${count(one.lost_withheld)} withheld.`));
}

// Who measures, how much their word is worth, and what was learned of them.

import { empty, h, icon } from "../dom.js";
import { get } from "../api.js";
import { count, cut, delta, percent, plural, visible } from "../format.js";
import { amount, chip, entryLink, head, moment, pages, table, tierMark, unitsOf } from "./parts.js";

export async function meters({ signal }) {
  const [found, appeals, stats] = await Promise.all([get("/meters", {}, signal), get("/appeals", { limit: 1 }, signal), get("/stats", {}, signal)]);
  const body = h("div", {}, head("Meters", "A meter says what a decision really changed. Trust belongs to a meter on a channel, never to what a caller says of itself; the word of one that is bound to none weighs what the channel weighs."));
  const typed = (stats.by_tier.operator || 0) + (stats.by_tier.claimed || 0);
  if (typed) body.append(h("div", { class: "notice warn" }, icon("person"), h("div", {}, `${plural(typed, "settlement")} of ${count(stats.settled)} were not measured: ${count(stats.by_tier.operator || 0)} typed by an operator, ${count(stats.by_tier.claimed || 0)} claimed by an agent. They are bounded, and marked everywhere.`)), h("br"));
  const rows = table("Meters", [["meter"], ["trust when bound"], ["bound to"], ["sum", "number"], ["outcomes", "number"], ["lie rate", "number"], ["baseline", "number"], ["scale", "number"]]);
  rows.querySelector("tbody").append(...found.items.map(meterRow));
  body.append(h("section", { class: "sheet", "aria-label": "Meters" }, found.items.length
    ? h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of meters" }, rows)
    : empty("meters", "No meter has spoken yet", "A meter is made when it settles first, or by hand, and bound to the channel that it is trusted on:", h("code", {}, "earnest meters add ci --unit tests --scale 2"), h("code", {}, "earnest meters bind ci settle-ci"))));
  body.append(h("section", { class: "sheet" }, h("h2", {}, "Second looks that are wanted"), h("p", { class: "under" }, "Some outcomes are to be measured again by an independent meter: an entry's first ones, those that its standing turned on, and one in twenty drawn after the report."),
    appeals.items.length ? appealList(signal, unitsOf(found)) : h("p", { class: "soft" }, "None.")));
  return { title: "Meters", body };
}

function meterRow(meter) {
  return h("tr", {},
    h("th", { scope: "row" }, visible(meter.name), h("div", { class: "chips" }, meter.alarm && h("span", { class: "chip bad" }, icon("alert"), "in alarm"), meter.revoked !== null && chip(meter.revoked ? `revoked from event ${count(meter.revoked)}` : "revoked", "warn")),
      meter.alarm && h("div", { class: "soft" }, "It carries hardly any information; what it says moves nothing.")),
    h("td", { "data-name": "trust" }, tierMark(meter.tier)),
    h("td", { "data-name": "bound to" }, meter.channels.length ? meter.channels.map(visible).join(", ") : h("span", { class: "soft nowrap" }, "no channel")),
    h("td", { class: amount(meter.unit), "data-name": "sum" }, delta(Number(meter.total.toPrecision(6)), meter.unit)), h("td", { class: "number", "data-name": "outcomes" }, count(meter.settlements)),
    h("td", { class: "number", "data-name": "lie rate" }, meter.lie_rate === null ? h("span", { class: "soft" }, "not learned") : h("span", { class: meter.lie_rate > .25 ? "bad" : "" }, percent(meter.lie_rate))),
    h("td", { class: amount(meter.unit), "data-name": "baseline" }, meter.baseline === null ? h("span", { class: "soft" }, "no controls") : delta(Number(meter.baseline.toPrecision(4)), meter.unit)),
    h("td", { class: amount(meter.unit), "data-name": "scale" }, delta(meter.scale ?? 1, meter.unit).replace("+", "")));
}

const WHY = { first: "one of its first outcomes", appeal: "its standing is at stake", random: "drawn at random" };

function appealList(signal, units) {
  const listed = pages({
    read: (after) => get("/appeals", { after, limit: 10 }, signal), draw: (one) => appealRow(one, units), none: h("p", { class: "soft" }, "None."), label: ["second look", "second looks"], signal,
    list: () => table("Second looks that are wanted", [["ticket"], ["entry"], ["why"], ["reported", "number"], ["asked"]]),
  });
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Second looks that are wanted" }, listed.node);
}

function appealRow(one, units) {
  return h("tr", {}, h("th", { scope: "row" }, h("div", { dir: "auto" }, cut(one.query, 120)), h("span", { class: "mono soft" }, one.ticket)), h("td", { "data-name": "about" }, entryLink(one.entry)), h("td", {}, WHY[one.why] || one.why),
    h("td", { class: amount(one.meter), "data-name": "reported" }, `${delta(one.delta, units[one.meter]) || "0"} by ${cut(one.meter, 40)}`), h("td", { "data-name": "asked" }, `tick ${count(one.since)}, `, moment(one.asked)));
}

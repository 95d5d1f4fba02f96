// Rules and their trials: what an agent is told whenever a trigger matches.

import { empty, h, icon } from "../dom.js";
import { get } from "../api.js";
import { count, cut, delta, plural, visible } from "../format.js";
import { does, proposeRule, tryRule, verifyRule } from "../actions.js";
import { interval } from "../charts.js";
import { chip, entryLink, head, moment, pages, segments } from "./parts.js";

const LOOKS = { active: "good", pending: "warn", trial: "info", rejected: "bad", expired: "" };

export async function rules({ query, signal, stats }) {
  const status = query.get("status") || "";
  const listed = pages({
    read: (after) => get("/rules", { status, all_scopes: true, after, limit: 50 }, signal), draw: ruleRow, label: ["rule", "rules"], signal,
    none: empty("rules", status ? `No rule is ${status === "trial" ? "on trial" : status}` : "No rule yet", "A rule tells an agent what to do whenever its trigger matches. It is proposed by hand or from patterns of errors and successes, and becomes active when a person accepts it or a measured trial proves it.", h("code", {}, 'earnest rules add avoid --trigger "deploy on Friday" --action "wait until Monday"')),
  });
  const body = h("div", {}, head("Rules", "Only active rules are shown to an agent. A rule on trial is shown in a random half of the decisions that it matches, so that its effect can be measured.",
    does("Propose a rule", () => proposeRule(Object.keys(stats()?.by_scope || {})), { look: "main", glyph: "plus" })),
  h("section", { class: "sheet", "aria-label": "Rules" }, h("div", { class: "head" }, segments("Status", "rules", query, "status", [["", "All"], ["pending", "Pending"], ["trial", "On trial"], ["active", "Active"], ["rejected", "Rejected"], ["expired", "Expired"]])), listed.node));
  return { title: "Rules", body };
}

function ruleRow(rule) {
  const pending = rule.status === "pending", open = pending || rule.status === "trial";
  return h("li", {}, h("div", { class: "row acts" },
    h("div", {}, rule.trigger !== "" && h("div", { class: "cue", dir: "auto" }, "when: ", visible(rule.trigger)), h("div", { class: "says", dir: "auto" }, entryLink(rule.id, visible(rule.action))),
      h("div", { class: "chips" }, chip(rule.status === "trial" ? "on trial" : rule.status, LOOKS[rule.status]), rule.standing === "suspended" && chip("suspended", "warn"), chip(visible(rule.type)), rule.scope !== "" && chip(`scope ${cut(rule.scope, 40)}`), rule.sources.slice(0, 2).map((source) => chip(visible(source).slice(0, 40)))),
      rule.evidence.length > 0 && h("p", { class: "hint" }, `Made from ${plural(rule.evidence.length, "entry", "entries")}: `, rule.evidence.slice(0, 3).map((id, place) => [place ? ", " : "", entryLink(id)])),
      rule.trial && trial(rule.trial, rule.status)),
    h("div", { class: "held" }, h("strong", {}, plural(rule.hits, "hit")), rule.by && h("span", {}, visible(rule.by)), rule.since && h("span", {}, "since ", moment(rule.since)), rule.ends && h("span", {}, "until ", moment(rule.ends))),
    h("div", { class: "actions" }, open && does("Accept", () => verifyRule(rule, true), { look: "small" }), pending && does("Try it", () => tryRule(rule), { look: "small" }), open && does("Reject", () => verifyRule(rule, false), { look: "small danger" }))));
}

// A trial's figures as they are; what they must reach was fixed before it began.
function trial({ number, terms, seen, verdict }, status) {
  const done = seen.shown + seen.withheld;
  const told = status === "trial" ? `${count(done)} of ${count(terms.decisions)} outcomes` : `ended ${verdict ? visible(verdict) : ""} after ${plural(done, "outcome")}`;
  return h("div", { class: "held" }, h("span", {}, `Trial ${number}: ${told}, ${count(seen.shown)} with the rule and ${count(seen.withheld)} without; worth an effect of ${terms.worth}${terms.meter ? ` by meter ${visible(terms.meter)}` : ""}.`),
    h("div", { class: "meter", "aria-hidden": "true" }, h("span", { width: `${Math.min(100, (100 * done) / terms.decisions)}%` })),
    seen.effect !== null && interval({
      label: `Effect of the rule: ${seen.effect.toFixed(3)}, interval ${seen.low.toFixed(3)} to ${seen.high.toFixed(3)}.`, low: seen.low, high: seen.high, effect: seen.effect, show: (value) => delta(Number(value.toFixed(2))) || "0",
      table: { caption: "Effect of the rule", head: ["", "value"], rows: [["effect", seen.effect.toFixed(4)], ["low", seen.low.toFixed(4)], ["high", seen.high.toFixed(4)]] },
    }), seen.reason && h("span", {}, icon("info"), visible(seen.reason)));
}

// Rules and their trials: what an agent is told whenever a trigger matches.

import { empty, h } from "../dom.js";
import { get } from "../api.js";
import { percent, plural, visible } from "../format.js";
import { does, verifyRule } from "../actions.js";
import { chip, entryLink, head, pages, segments } from "./parts.js";

const LOOKS = { active: "good", pending: "warn", trial: "info", rejected: "bad", expired: "" };

export async function rules({ query, signal }) {
  const status = query.get("status") || "";
  const listed = pages({
    read: async () => {
      const found = await get("/rules", { status, limit: 500 }, signal);
      return { items: found.items, next: null };
    },
    draw: ruleRow, label: ["rule", "rules"], signal,
    none: empty("rules", status ? `No rule is ${status}` : "No rule yet", "A rule tells an agent what to do whenever its trigger matches. It is proposed by hand or from patterns of errors and successes, and becomes active when a person accepts it or a measured trial does.", h("code", {}, 'earnest rules add avoid --trigger "deploy on Friday" --action "wait until Monday"')),
  });
  const body = h("div", {}, head("Rules", "Only active rules are shown to an agent. A rule on trial is shown in a random half of the decisions that it matches, so that its effect can be measured."),
    h("section", { class: "sheet", "aria-label": "Rules" }, h("div", { class: "head" }, segments("Status", "rules", query, "status", [["", "All"], ["pending", "Pending"], ["trial", "On trial"], ["active", "Active"], ["rejected", "Rejected"], ["expired", "Expired"]])), listed.node));
  return { title: "Rules", body };
}

function ruleRow(rule) {
  const open = rule.status === "pending" || rule.status === "trial";
  return h("li", {}, h("div", { class: "row" },
    h("div", {}, h("div", { class: "cue", dir: "auto" }, "when ", visible(rule.trigger)), h("div", { class: "says", dir: "auto" }, entryLink(rule.id, visible(rule.action))), h("div", { class: "chips" }, chip(rule.status, LOOKS[rule.status] || ""), chip(visible(rule.type)), h("span", { class: "mono soft" }, rule.id))),
    h("div", { class: "held" }, h("strong", {}, plural(rule.hits ?? 0, "hit")), rule.chance !== undefined && rule.chance !== null && h("span", {}, `${percent(rule.chance)} helps`), rule.trial && h("span", {}, visible(rule.trial))),
    h("div", { class: "actions" }, open && does("Accept", () => verifyRule(rule, true), { look: "small" }), (open || rule.status === "active") && does("Reject", () => verifyRule(rule, false), { look: "small plain" }))));
}

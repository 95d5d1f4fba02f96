// Open decisions, oldest first: what was asked, who decided, how long it has been waiting.

import { empty, h } from "../dom.js";
import { get, getSettings } from "../api.js";
import { count, cut, plural } from "../format.js";
import { abandon, does, settle } from "../actions.js";
import { chip, entryLink, head, moment, pages } from "./parts.js";

export async function tickets({ signal }) {
  const [stats, settings, meters] = await Promise.all([get("/stats", {}, signal), getSettings(signal), get("/meters", {}, signal)]);
  const listed = pages({
    read: (after) => get("/decisions", { after, limit: 50 }, signal), draw: (ticket) => ticketRow(ticket, settings, meters.items), label: ["ticket", "tickets"], signal,
    none: empty("tickets", "No ticket is open", "A ticket is an open decision. It is opened by earnest decide, by an agent's memory_query or over REST, and ends when the outcome was measured.", h("code", {}, 'earnest decide "May old log files be deleted?"')),
  });
  const body = h("div", {}, head("Open tickets", `${plural(stats.pending, "decision")} waiting for what really came of it. So far ${count(stats.settled)} were settled, ${count(stats.abandoned)} abandoned, ${count(stats.expired)} expired; ${plural(stats.dropped, "settlement")} named a ticket that was not open.`),
    h("section", { class: "sheet", "aria-label": "Open tickets" }, listed.node));
  return { title: "Open tickets", body };
}

export function ticketRow(ticket, settings, meters) {
  const left = settings.expire_after - ticket.age_ticks;
  return h("li", {}, h("div", { class: "row acts" },
    h("div", {}, h("div", { class: "says", dir: "auto" }, cut(ticket.query, 240)),
      ticket.holdout ? h("div", { class: "cue" }, "Memory was withheld: measure what happens without it.") : h("div", { class: "cue", dir: "auto" }, "Memory said: ", cut(ticket.answer, 200)),
      h("div", { class: "chips" }, ticket.holdout && chip("holdout", "info"), ticket.deciding && h("span", { class: "chip" }, "decided by ", entryLink(ticket.deciding)), ticket.supporting.length > 0 && chip(`${count(ticket.supporting.length)} supporting`), h("span", { class: "mono soft" }, ticket.id))),
    h("div", { class: "held" }, h("strong", {}, ticket.age_ticks ? `open for ${plural(ticket.age_ticks, "tick")}` : "opened in this tick"), h("span", {}, `since tick ${count(ticket.opened_tick)}, `, moment(ticket.opened)), h("span", { class: left <= 5 ? "warn" : "" }, `expires in ${plural(Math.max(0, left + 1), "tick")}`)),
    h("div", { class: "actions" }, does("Settle", () => settle(ticket, meters), { look: "small" }), does("Abandon", () => abandon(ticket), { look: "small" }))));
}

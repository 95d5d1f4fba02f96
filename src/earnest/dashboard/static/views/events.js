// The log, newest first; of one entry or one kind if wanted.

import { button, empty, h } from "../dom.js";
import { get } from "../api.js";
import { EVENTS, count, cut, delta, energy, eventName, visible, when } from "../format.js";
import { field } from "../actions.js";
import { address, entryLink, head, pages, table, tierMark, unitsOf, withQuery } from "./parts.js";

export async function events({ query, signal }) {
  const entry = query.get("entry") || "", kind = query.get("kind") || "";
  const kinds = field("kind", "Kind", { kind: "select", value: kind, options: [["", "every kind"], ...Object.entries(EVENTS).sort((a, b) => a[1].localeCompare(b[1]))] });
  const which = field("entry", "Entry", { value: entry, placeholder: "id of an entry" });
  const go = () => { location.hash = address("events", withQuery(query, { kind: kinds.read(), entry: which.read().trim() })); };
  kinds.control.addEventListener("change", go);
  const form = h("form", { class: "filters", "aria-label": "Filter the events" }, kinds.node, which.node, h("button", { class: "button", type: "submit" }, "Show"), button("Clear", () => { location.hash = "#/events"; }, { look: "plain" }));
  form.addEventListener("submit", (event) => { event.preventDefault(); go(); });
  const units = unitsOf(await get("/meters", {}, signal));
  const listed = pages({
    read: (after) => get("/events", { entry, kind, newest: true, after, limit: 100 }, signal),
    draw: (event) => eventRow(event, units), list: () => table("Events, newest first", [["event", "number"], ["time (UTC)"], ["tick", "number"], ["what"], ["about"], ["by"]]),
    none: empty("events", "No such events", entry ? "The log holds nothing like that about this entry." : "Everything that happens here is written down: who did it, when, by which channel."), label: ["event", "events"], signal,
  });
  const body = h("div", {}, head("Events", "What happened, in order. The log is chained by hashes and never changed; it holds ids and numbers, no texts."), form,
    h("section", { class: "sheet", "aria-label": "Events" }, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of events" }, listed.node)));
  return { title: "Events", body };
}

export function eventRow(event, units) {
  return h("tr", {},
    h("td", { class: "number mono", "data-name": "event" }, event.seq), h("td", { class: "nowrap", "data-name": "at" }, when(event.at).replace(" UTC", "")), h("td", { class: "number", "data-name": "tick" }, count(event.tick)),
    h("th", { scope: "row" }, h("a", { href: `#/events?kind=${event.kind}` }, eventName(event.kind)), h("div", { class: "soft" }, summary(event, units)), event.note && h("div", { class: "cue", dir: "auto" }, cut(event.note, 240))),
    h("td", {}, event.entries.slice(0, 3).map((id) => h("div", {}, entryLink(id))), event.entries.length > 3 && `+${event.entries.length - 3}`),
    h("td", { "data-name": "by" }, visible(event.actor), event.actor !== event.channel && ` over ${visible(event.channel)}`));
}

// What an event says beside its kind, in few words.
function summary(event, units) {
  const { data } = event;
  if (event.kind === "settle") return [delta(data.delta, units[data.meter]), ` by ${visible(data.meter)} `, tierMark(data.tier)];
  if (event.kind === "remeasure" || event.kind === "control") return [delta(data.delta, units[data.meter]), ` by ${visible(data.meter)} `, data.tier && tierMark(data.tier)];
  if (event.kind === "tick") return `${count(data.population)} alive, ${count(data.died)} died, rent ${energy(data.rent)}`;
  if (event.kind === "death" || event.kind === "forget") return visible(data.cause ?? "");
  if (event.kind === "undo") return `of event ${count(data.event)} (${eventName(data.kind)})`;
  if (event.kind === "setting") return Object.entries(data).map(([name, value]) => `${visible(name)}: ${visible(value)}`).join(", ");
  if (data.reason && String(data.reason).length < 60) return visible(data.reason);
  if (event.kind === "edit") return (data.fields || []).map(visible).join(", ");
  return "";
}

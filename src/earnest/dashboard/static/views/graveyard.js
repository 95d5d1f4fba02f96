// The dead, by what they died of.

import { empty, h } from "../dom.js";
import { get } from "../api.js";
import { CAUSES, CAUSE_COLOURS, count, cut, plural } from "../format.js";
import { bars } from "../charts.js";
import { does, restore } from "../actions.js";
import { chip, entryLink, head, pages, segments, standingChip } from "./parts.js";

export async function graveyard({ query, signal }) {
  const stats = await get("/stats", {}, signal);
  const causes = Object.entries(stats.by_cause).sort((a, b) => b[1] - a[1]);
  const cause = query.get("cause") || "";
  const body = h("div", {}, head("Graveyard", `${plural(stats.dead, "entry has", "entries have")} died. Every removal has a cause and an author, and all but erasure an undo.`));
  if (causes.length) {
    body.append(h("section", { class: "sheet" }, h("h2", {}, "By cause"), h("p", { class: "under" }, "What each of them means stands beside the entries."),
      bars(causes.map(([name, number]) => [h("a", { href: `#/graveyard?cause=${name}` }, name), number, count(number), CAUSE_COLOURS[name] || 7]))));
  }
  const listed = pages({
    read: (after) => get("/graveyard", { cause, after, limit: 50 }, signal),
    draw: dead, label: ["entry", "entries"], signal,
    none: empty("graveyard", cause ? `Nobody was ${cause}` : "Nobody died yet", cause ? CAUSES[cause] || "" : "Entries that do harm are executed, those that earn nothing starve, and what you forget is kept here until it is erased."),
  });
  body.append(h("section", { class: "sheet" },
    causes.length > 0 && h("div", { class: "head" }, segments("Cause of death", "graveyard", query, "cause", [["", "All"], ...causes.map(([name, number]) => [name, `${name} ${count(number)}`])])),
    cause && h("p", { class: "under" }, `${cause}: ${CAUSES[cause] || ""}.`), listed.node));
  return { title: "Graveyard", body };
}

function dead(card) {
  const { entry } = card;
  const replaced = ["merged", "superseded", "erased"].includes(entry.cause);
  return h("li", {}, h("div", { class: "row acts one" },
    h("div", {}, entry.cue && h("div", { class: "cue", dir: "auto" }, cut(entry.cue, 140)), h("div", { class: "says", dir: "auto" }, entryLink(entry.id, cut(entry.text, 260) || "(its text was erased)")),
      h("div", { class: "chips" }, standingChip(entry), chip(entry.kind), entry.scope !== "" && chip(`scope ${cut(entry.scope, 40)}`), entry.sources.slice(0, 2).map((source) => chip(cut(source, 40))))),
    h("div", { class: "held" }, h("span", {}, CAUSES[entry.cause]), entry.heir && h("span", {}, "heir: ", entryLink(entry.heir))),
    h("div", { class: "actions" }, !replaced && does("Restore", () => restore(entry), { look: "small" }))));
}

// Stating and cutting links. Each says what follows from it before, and offers to take it back after.

import { append, h, replace } from "./dom.js";
import { ask as question, get, post, remove } from "./api.js";
import { ask, field, undoOf } from "./actions.js";
import { cut, energy, plural } from "./format.js";

const KINDS = [["related", "related: they belong together"], ["semantic", "semantic: they mean alike"], ["temporal", "temporal: one follows the other"], ["entity", "entity: they name the same thing"]];
const FOUND = 6;

// Entries to choose one from: of the same scope, since links never cross scopes; by their words, or by an id.
function chooser(one) {
  const words = field("words", "The other entry", { type: "search", wide: true, maxlength: 4000, placeholder: "some of its words, or its id", hint: "Living entries of the same scope." });
  const found = h("div", { class: "choices", role: "radiogroup", "aria-label": "Entries that were found" });
  const told = h("p", { class: "hint", role: "status" });
  append(words.node, [found, told]);
  let chosen = "", asked = 0, wait = null;
  const offer = (entries) => replace(found, entries.map((entry) => h("label", { class: "choice" },
    h("input", { type: "radio", name: "other", value: entry.id, checked: entry.id === chosen, onchange: () => { chosen = entry.id; } }),
    h("span", { class: "says", dir: "auto" }, cut(entry.text, 160)), h("span", { class: "hint" }, `${energy(entry.balance)} energy`))));
  async function look() {
    const text = words.read().trim(), mine = ++asked;
    chosen = "";
    if (!text) { replace(found); told.textContent = ""; return; }
    let entries = [];
    try {
      if (/^[a-z2-7]{16}$/.test(text)) entries = await get(`/entries/${text}`).then((entry) => [entry], () => []);
      if (!entries.length) entries = (await question("/survey", { query: text, scope: one.scope, k: FOUND + 1 })).items.map((hit) => hit.card.entry);
    } catch (error) {
      if (mine === asked) told.textContent = error.message;
      return;
    }
    if (mine !== asked) return;
    const others = entries.filter((entry) => entry.id !== one.id).slice(0, FOUND);
    if (others.length === 1) chosen = others[0].id;
    offer(others);
    told.textContent = others.length ? `${plural(others.length, "entry", "entries")} found: choose one.` : "Nothing was found: try other words.";
  }
  words.control.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(look, 250); });
  words.control.addEventListener("keydown", (event) => {
    // Enter searches as long as nothing is chosen, and sends the form after that.
    if (event.key !== "Enter" || chosen) return;
    event.preventDefault();
    clearTimeout(wait);
    look();
  });
  return { ...words, name: "other", read: () => chosen };
}

export function link(one) {
  const weight = field("weight", "Weight", { value: "1", inputmode: "decimal", hint: "Above 0, at most 1." });
  ask({
    title: "Link it with another entry", says: one.text, doing: "Link",
    fields: [chooser(one), field("kind", "Kind", { kind: "select", value: "related", options: KINDS }), weight, field("reason", "Why (for the record)", { wide: true, maxlength: 200 })],
    consequence: ["Each is shown as related with the other, and lends it relevance in recall where the setting “spread” lets it. A link has no direction and moves no energy and no evidence; one that is stated does not fade. Stating a link that is there already strengthens it."],
    run: async (values) => {
      if (!values.other) throw new Error("No other entry is chosen: search for it, and choose it from the list.");
      const heavy = Number(values.weight);
      if (!(heavy > 0 && heavy <= 1)) throw new Error("The weight must be above 0 and at most 1.");
      const made = await post("/links", { a: one.id, b: values.other, kind: values.kind, weight: heavy, reason: values.reason });
      return { told: `Linked with “${cut(made.entry.text, 60)}”.`, undo: await undoOf(one.id, ["link"], "The link is as it was before.") };
    },
  });
}

export function unlink(one, other, bonds) {
  const found = bonds.filter((bond) => !bond.stated).length;
  ask({
    title: bonds.length > 1 ? "Cut the links between these two" : "Cut the link between these two", says: `${cut(one.text, 300)}\n\n${cut(other.text, 300)}`, doing: "Cut", danger: true,
    consequence: [`${plural(bonds.length, "link")} between them ${bonds.length === 1 ? "goes" : "go"}: ${bonds.map((bond) => bond.kind).join(", ")}. Both entries stay as they are.`,
      ...(found ? ["What was found by likeness may be found again when one of the two is written anew."] : [])],
    run: async () => {
      const { cut: gone } = await remove("/links", { a: one.id, b: other.id });
      if (!gone) return { told: "There was no link between them any more." };
      return { told: `${plural(gone, "link")} cut.`, undo: await undoOf(one.id, ["unlink"], "Linked again.") };
    },
  });
}

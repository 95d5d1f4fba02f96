// The living: searched, filtered, in the order that one wants, by pages.

import { announce, button, empty, h, icon, replace } from "../dom.js";
import { ask, get, getSettings } from "../api.js";
import { count, living, plural, visible } from "../format.js";
import { add, does, field } from "../actions.js";
import { CAP, address, chip, head, pages, row, scopeOptions, segments, withQuery } from "./parts.js";

const ORDERS = [["newest", "Newest"], ["oldest", "Oldest"], ["richest", "Hold most"], ["poorest", "About to starve"]];

export async function entries({ query, signal }) {
  const [stats, settings] = await Promise.all([get("/stats", {}, signal), getSettings(signal)]);
  CAP.energy = Math.round(settings.cap * 1e6);
  const place = h("div");
  const now = new URLSearchParams(query);
  const listing = () => {
    replace(place, now.get("q") ? found(now, signal) : list(now, signal, stats));
    history.replaceState(null, "", address("entries", now));
  };
  const set = (changes) => {
    const next = withQuery(now, changes);
    [...now.keys()].forEach((name) => now.delete(name));
    next.forEach((value, name) => now.set(name, value));
    listing();
    announce("The list was read again.");
  };
  const body = h("div", {},
    head("Living entries", `${plural(living(stats), "entry", "entries")}, ${stats.suspended ? count(stats.suspended) : "none"} of them suspended. Each pays rent from what it earned, unless it fades or is kept.`,
      does("Add an entry", () => add({ scopes: Object.keys(stats.by_scope), defaultRetention: settings.default_retention }), { look: "main", glyph: "plus" })),
    filters(now, stats, set), h("section", { class: "sheet", "aria-label": "Entries" }, place));
  replace(place, now.get("q") ? found(now, signal) : list(now, signal, stats));
  return { title: "Living entries", body };
}

function filters(now, stats, set) {
  const q = field("q", "Search", { type: "search", value: now.get("q") || "", placeholder: "what an entry says or answers" });
  const kind = field("kind", "Kind", { kind: "select", value: now.get("kind") || "", options: [["", "every kind"], ["semantic", "semantic"], ["episodic", "episodic"], ["procedural", "procedural"]] });
  const standing = field("standing", "Standing", { kind: "select", value: now.get("standing") || "", options: [["", "living"], ["active", "active"], ["suspended", "suspended"], ["pinned", "pinned"]] });
  const scope = field("scope", "Scope", { kind: "select", value: now.get("scope") || "", options: scopeOptions(stats) });
  const source = field("source", "Source", { value: now.get("source") || "", placeholder: "exact name" });
  const tag = field("tag", "Tag", { value: now.get("tag") || "", placeholder: "exact name" });
  const clear = () => { [q, kind, standing, scope, source, tag].forEach((one) => { one.control.value = ""; }); set({ q: "", kind: "", standing: "", scope: "", source: "", tag: "" }); };
  const form = h("form", { role: "search", "aria-label": "Filter the entries" },
    h("div", { class: "filters" }, q.node, h("button", { class: "button", type: "submit" }, icon("search"), "Search"), button("Clear", clear, { look: "plain" })),
    narrower([kind, standing, scope, source, tag]));
  q.node.classList.add("grow");
  const read = () => set({ q: q.read().trim(), kind: kind.read(), standing: standing.read(), scope: scope.read(), source: source.read().trim(), tag: tag.read().trim() });
  form.addEventListener("submit", (event) => { event.preventDefault(); read(); });
  for (const one of [kind, standing, scope]) one.control.addEventListener("change", read);
  return form;
}

// On a phone the list is what one came for: there the filters are folded away, as long as none is set.
function narrower(fields) {
  const node = h("details", { class: "narrower" }, h("summary", {}, "Filters"), h("div", { class: "filters even" }, fields.map((one) => one.node)));
  const wide = matchMedia("(min-width: 561px)");
  node.open = wide.matches || fields.some((one) => one.read());
  wide.addEventListener("change", () => { node.open ||= wide.matches; });
  return node;
}

const scopeOf = (now) => (now.get("scope") ? now.get("scope").trim() : undefined);

function list(now, signal, stats) {
  const order = now.get("order") || "newest";
  const standing = now.get("standing");
  const wanted = { order, kind: now.get("kind"), scope: scopeOf(now), source: now.get("source"), tag: now.get("tag"), standing: standing === "pinned" ? "" : standing, pinned: standing === "pinned" ? true : undefined };
  const filtered = [...now.keys()].some((name) => name !== "order");
  const none = filtered
    ? empty("search", "No entry passes these filters", "Scopes, sources and tags are matched exactly. Clear a filter to see more.")
    : empty("entries", stats.dead ? "Nobody lives here any more" : "Nothing is remembered yet", stats.dead ? "All entries are in the graveyard; it says why." : "Add an entry here, let an agent write, or turn documents into entries:", h("code", {}, stats.dead ? "earnest doctor" : "earnest encode README.md"));
  const listed = pages({ read: (after) => get("/survey", { ...wanted, after, limit: 50 }, signal), draw: (card) => row(card), none, label: ["entry", "entries"], signal });
  return [h("div", { class: "head" }, h("div", {}, segments("Order", "entries", now, "order", ORDERS)), ["richest", "poorest"].includes(order) && h("p", { class: "hint" }, "Only entries that pay rent, pinned ones left out.")), listed.node];
}

function found(now, signal) {
  const one = (value) => (value ? [value] : null);
  const scope = scopeOf(now);
  const wanted = { query: now.get("q"), kind: one(now.get("kind")), source: one(now.get("source")), tags: one(now.get("tag")), k: 50, all_scopes: scope === undefined };
  if (scope !== undefined) wanted.scope = scope;
  const standing = now.get("standing");
  const keep = (item) => !standing || (standing === "pinned" ? item.card.entry.pinned : item.card.entry.standing === standing);
  const listed = pages({
    read: async () => ({ items: (await ask("/survey", wanted, signal)).items.filter(keep), next: null }),
    draw: ({ card, score, why }) => {
      const made = row(card);
      made.querySelector(".chips").prepend(chip(`relevance ${score.toFixed(2)}`, "info", visible(why)));
      return made;
    },
    none: empty("search", "Memory is silent on that", "No entry matches. Search goes by words, and by meaning where an embedder is set; the best fifty hits are shown."), label: ["hit", "hits"], signal,
  });
  return [h("p", { class: "hint" }, "The best hits, most relevant first. No ranking reads a balance."), listed.node];
}

// What several views show: an entry in a row, its chips and its account; pages that go on; filters that live in the address.

import { announce, append, button, h, icon, problem, replace, waiting } from "../dom.js";
import { CAUSES, TIERS, count, cut, chance, energy, plural, scopeName, when } from "../format.js";

export const CAP = { energy: 5_000_000 };

export function head(title, lead, ...actions) {
  return h("div", { class: "head" }, h("div", {}, h("h1", {}, title), lead && h("p", { class: "lead" }, lead)), actions.some(Boolean) && h("div", { class: "actions" }, actions));
}

// The unit of each meter by its name: a number without one says little.
export const unitsOf = (meters) => Object.fromEntries(meters.items.map((meter) => [meter.name, meter.unit]));
export const chip = (text, look = "", title) => h("span", { class: `chip ${look}`, title }, text);
export const entryLink = (id, text) => h("a", { href: `#/entry/${encodeURIComponent(id)}` }, text ?? h("span", { class: "mono" }, id));

export function tierMark(tier) {
  if (tier === "measured") return chip("measured", "good", TIERS.measured);
  if (tier === "operator") return h("span", { class: "chip operator", title: TIERS.operator }, icon("person"), "typed by operator");
  return h("span", { class: "chip warn", title: TIERS.claimed }, icon("alert"), "claimed");
}

export function standingChip(entry) {
  if (entry.standing === "dead") return chip(entry.cause, entry.cause === "executed" ? "bad" : "", CAUSES[entry.cause]);
  if (entry.standing === "suspended") return chip("suspended", "warn", "It may not decide until a verdict is in");
  return chip("active", "good");
}

export function chips(card, { standing = true, id = false } = {}) {
  const { entry } = card;
  return h("div", { class: "chips" },
    standing && standingChip(entry),
    entry.pinned && h("span", { class: "chip info" }, icon("pin"), "pinned"),
    card.probation > 0 && chip(`on probation: ${plural(card.probation, "outcome")} to go`, "warn"),
    card.open_tickets > 0 && chip(plural(card.open_tickets, "open ticket"), "info"),
    chip(entry.kind),
    entry.retention !== "earned" && chip(entry.retention),
    entry.scope !== "" && chip(`scope ${cut(entry.scope, 40)}`),
    entry.sources.slice(0, 2).map((source) => chip(cut(source, 40))),
    entry.sources.length > 2 && chip(`+${entry.sources.length - 2}`),
    id && h("span", { class: "mono soft" }, entry.id));
}

export function account(card) {
  const { entry } = card;
  if (entry.standing === "dead") return h("div", { class: "held" }, h("strong", {}, "no balance"), h("span", {}, "the dead hold nothing"));
  if (entry.retention !== "earned") return h("div", { class: "held" }, h("strong", {}, entry.retention), h("span", {}, "pays no rent"));
  const part = Math.max(0, Math.min(1, entry.balance / CAP.energy));
  const low = card.runway !== null && card.runway < 5;
  return h("div", { class: "held" },
    h("span", {}, h("strong", {}, energy(entry.balance)), " energy"),
    h("div", { class: `meter ${entry.balance <= 0 ? "out" : low ? "low" : ""}`, "aria-hidden": "true" }, h("span", { width: `${100 * part}%` })),
    h("span", {}, card.runway === null ? (entry.pinned ? "pinned: rests at zero" : "no rent is charged") : `runway ${plural(card.runway, "tick")}`));
}

export function evidence(card) {
  if (card.chance === null) return h("div", { class: "held" }, h("strong", {}, "no evidence"), h("span", {}, "nothing measured yet"));
  return h("div", { class: "held" },
    h("span", {}, h("strong", {}, chance(card.chance)), " helps"),
    h("div", { class: "meter split", "aria-hidden": "true" }, h("span", { width: `${100 * card.chance}%` })),
    h("span", {}, plural(card.words, "outcome")));
}

export function row(card, ...last) {
  const { entry } = card;
  return h("li", {}, h("div", { class: "row" },
    h("div", {},
      entry.cue && h("div", { class: "cue", dir: "auto" }, cut(entry.cue, 140)),
      h("div", { class: "says", dir: "auto" }, entryLink(entry.id, cut(entry.text, 260) || "(no text: it was erased)")),
      chips(card)),
    account(card), evidence(card), last));
}

// A list that grows by pages. `read(after)` gives { items, next }; `draw(item)` an element.
export function pages({ read, draw, none, list = () => h("ul", { class: "list" }), label, signal }) {
  const place = h("div");
  let body = null, shown = 0, next = null;
  const foot = h("div", { class: "more" });
  async function further() {
    const first = !body;
    replace(foot, first ? waiting() : h("span", { class: "soft" }, "Reading …"));
    try {
      const page = await read(next);
      if (signal.aborted) return;
      if (first) {
        if (!page.items.length) { replace(place, none); replace(foot); return; }
        body = list();
        replace(place, body);
      }
      const into = body.querySelector("tbody") || body;
      const made = page.items.map(draw);
      append(into, made);
      shown += made.length;
      next = page.next;
      replace(foot, h("span", { class: "soft" }, next ? `${count(shown)} shown` : `${shown === 1 ? "" : "All "}${plural(shown, label[0], label[1])} shown`),
        next && button("Show more", async () => {
          const focus = made.length;
          await further();
          announce(`${count(shown)} shown`);
          const target = into.children[shown - (shown - focus)];
          target?.querySelector("a, button")?.focus();
        }));
    } catch (error) {
      if (error.name !== "AbortError") replace(foot, problem(error, further));
    }
  }
  const node = h("div", {}, place, foot);
  const ready = further();
  return { node, ready };
}

// Values of the address that a filter changes without leaving the view.
export function withQuery(query, changes) {
  const made = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null || value === undefined) made.delete(name);
    else made.set(name, value);
  }
  return made;
}
export const address = (path, query) => `#/${path}${[...query].length ? `?${query}` : ""}`;

export function segments(label, path, query, name, choices) {
  const now = query.get(name) || choices[0][0];
  return h("nav", { class: "segments", "aria-label": label }, choices.map(([value, shown]) => h("a", {
    href: address(path, withQuery(query, { [name]: value === choices[0][0] ? "" : value })), "aria-current": value === now ? "true" : null,
  }, shown)));
}

export const scopeOptions = (stats) => [["", "every scope"], ...Object.keys(stats?.by_scope || {}).map((name) => [name === "" ? " " : name, scopeName(name)])];
// The look of a cell that holds an amount of something: a long name for that may go to further lines.
export const amount = (of) => (String(of ?? "").length > 16 ? "number unit" : "number");
// A date is not broken where lines end.
export const moment = (iso) => h("span", { class: "nowrap" }, when(iso));
export const table = (caption, head_, { stack = true, hide = true } = {}) => h("table", { class: stack ? "stack" : "" }, h("caption", { class: hide ? "quiet" : "" }, caption),
  h("thead", {}, h("tr", {}, head_.map(([name, look]) => h("th", { scope: "col", class: look || "" }, name)))), h("tbody", {}));

// The whole life of one entry.

import { empty, h, icon } from "../dom.js";
import { get, getSettings } from "../api.js";
import { CAUSES, chance, count, delta, energy, percent, plural, scopeName, visible, when } from "../format.js";
import { lines } from "../charts.js";
import { does, forget, opine, pin, restore, unpin, vouch } from "../actions.js";
import { CAP, account, chips, entryLink, evidence, head, pages, table, tierMark, unitsOf } from "./parts.js";
import { ticketRow } from "./tickets.js";
import { eventRow } from "./events.js";

export async function entry({ id, signal }) {
  const [life, settings, meters] = await Promise.all([get(`/entries/${encodeURIComponent(id)}/life`, {}, signal), getSettings(signal), get("/meters", {}, signal)]);
  CAP.energy = Math.round(settings.cap * 1e6);
  const { card } = life, one = card.entry, units = unitsOf(meters);
  const alive = one.standing !== "dead";
  const acts = [
    alive && (one.pinned ? does("Unpin", () => unpin(one), { glyph: "pin" }) : does("Pin", () => pin(one), { glyph: "pin" })),
    alive && card.probation > 0 && does("Vouch", () => vouch(one, card.probation), { glyph: "check" }),
    alive && does("Opinion", () => opine(one)),
    alive && does("Forget", () => forget(one), { look: "danger", disabled: one.pinned || card.open_tickets > 0, title: one.pinned ? "It is pinned: take the pin away first" : card.open_tickets ? "An open ticket names it: settle or abandon that first" : null }),
    !alive && !["merged", "superseded", "erased"].includes(one.cause) && does("Restore", () => restore(one)),
    h("a", { class: "button", href: `#/graph/${encodeURIComponent(one.id)}` }, icon("graph"), "Links"),
  ];
  const body = h("div", {},
    head("Entry", null, ...acts.filter(Boolean)),
    !alive && h("div", { class: `notice ${one.cause === "executed" ? "bad" : ""}` }, icon("graveyard"), h("div", {}, h("strong", {}, `Dead, ${one.cause}`), h("span", {}, `${CAUSES[one.cause]}.`), one.heir && h("span", {}, "Its heir is ", entryLink(one.heir), "."))),
    one.standing === "suspended" && h("div", { class: "notice warn" }, icon("alert"), h("div", {}, h("strong", {}, "Suspended"), h("span", {}, "It is known and shown as such, and not allowed to decide until a verdict is in."))),
    (!alive || one.standing === "suspended") && h("br"),
    h("div", { class: "grid" },
      h("section", { class: "sheet span-8", "aria-label": "What it says" }, one.cue && h("p", { class: "cue", dir: "auto" }, visible(one.cue)), h("div", { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": "Text" }, visible(one.text) || "(its text was erased)"), h("br"), chips(card)),
      h("section", { class: "sheet span-4" }, h("h2", {}, "How it stands"), h("br"), account(card), h("br"), evidence(card))),
    h("div", { class: "grid" }, judged(life), about(one, life)),
    life.tickets.length > 0 && h("section", { class: "sheet" }, h("h2", {}, "Open tickets that name it"), h("p", { class: "under" }, "It is in escrow: neither buried nor merged until the verdict is in."), h("ul", { class: "list" }, life.tickets.map((ticket) => ticketRow(ticket, settings, meters.items)))),
    verdicts(life, units),
    h("section", { class: "sheet" }, h("h2", {}, "Its story"), h("p", { class: "under" }, "Told from the log."), h("pre", { class: "story", tabindex: "0", role: "group", "aria-label": "Its story", dir: "auto" }, visible(life.story))),
    history(one, signal, units));
  return { title: visible(one.text).slice(0, 60) || "Entry", body };
}

function judged(life) {
  const sheet = h("section", { class: "sheet span-8" }, h("h2", {}, "Evidence through time"), h("p", { class: "under" }, "How likely following it helps, after each measured outcome, with the meters as they are believed now. Below the middle it is suspended."));
  const said = life.judged;
  if (!said.length) sheet.append(empty("uplift", "Nothing was measured of it", "When it decides and the outcome is settled, its evidence begins here."));
  else {
    sheet.append(lines({
      label: `Evidence over ${plural(said.length, "outcome")}: from ${percent(life.prior)} before any to ${chance(said[said.length - 1].chance)}.`, height: 280, low: 0, high: 1, showX: (place) => (place ? `outcome ${count(place)}` : "before any"), showY: percent,
      series: [{ name: "helps", colour: 1, points: [[0, life.prior], ...said.map((one, place) => [place + 1, one.chance])], dots: [7, ...said.map((one) => (one.size < 0 ? 4 : 1))] }],
      table: { caption: "Evidence by outcome", head: ["outcome", "tick", "meter", "size in scales", "second look", "helps"], rows: said.map((one, place) => [count(place + 1), count(one.tick), visible(one.meter), delta(Number(one.size.toPrecision(3))) || "0", one.second ? "yes" : "no", chance(one.chance)]) },
      legend: [["it helped", 1], ["it did harm", 4]],
    }));
  }
  return sheet;
}

function about(one, life) {
  const pairs = [
    ["id", h("span", { class: "mono" }, one.id)], ["kind", one.kind], ["origin", one.origin], ["retention", one.retention], ["scope", scopeName(one.scope)],
    ["sources", one.sources.length ? one.sources.map((source) => h("div", {}, visible(source))) : "none given"],
    ["recorded", when(one.created)], ["born", `tick ${count(one.born_tick)}`], ["last settled", one.last_settled_tick === null ? "never" : `tick ${count(one.last_settled_tick)}`],
    one.valid_from && ["valid from", when(one.valid_from)], one.valid_to && ["valid to", when(one.valid_to)], ["importance", one.importance], ["confidence", one.confidence], ["recalled", plural(one.recalls, "time")],
    ["strength", one.strength.toFixed(2)], ["version", one.version], one.tags.length > 0 && ["tags", one.tags.map(visible).join(", ")], one.lineage.length > 0 && ["made of", one.lineage.map((id) => h("div", {}, entryLink(id)))],
    life.heirs.length > 0 && ["became", life.heirs.map((id) => h("div", {}, entryLink(id)))], Object.keys(one.metadata).length > 0 && ["metadata", h("code", {}, visible(JSON.stringify(one.metadata)))],
  ].filter(Boolean);
  return h("section", { class: "sheet span-4" }, h("h2", {}, "About it"), h("br"), h("dl", { class: "pairs" }, pairs.map(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, value)])));
}

function verdicts(life, units) {
  if (!life.verdicts.length) return null;
  const rows = table("Settlements that named it, newest first", [["tick", "number"], ["delta", "number"], ["meter"], ["trust"], ["part"], ["energy", "number"], ["remark"]]);
  rows.querySelector("tbody").append(...life.verdicts.map(({ settlement: s, role, moved }) => h("tr", {},
    h("td", { class: "number", "data-name": "tick" }, count(s.tick)), h("td", { class: `number ${s.delta < 0 ? "bad" : s.delta > 0 ? "good" : ""}`, "data-name": "delta" }, delta(s.delta, units[s.meter]) || "0"), h("th", { scope: "row" }, visible(s.meter)), h("td", {}, tierMark(s.tier)),
    h("td", { "data-name": "part" }, role, s.acted === false && ", not acted on"), h("td", { class: "number", "data-name": "energy" }, energy(moved, { signed: true })), h("td", { dir: "auto" }, visible(s.detail)))));
  return h("section", { class: "sheet" }, h("h2", {}, "Settlements"), h("p", { class: "under" }, "What was measured after decisions that it shaped, and the energy that it moved."), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Settlements" }, rows));
}

function history(one, signal, units) {
  const listed = pages({
    read: (after) => get("/events", { entry: one.id, newest: true, after, limit: 20 }, signal),
    draw: (event) => eventRow(event, units), list: () => table("Its events, newest first", [["event", "number"], ["time (UTC)"], ["tick", "number"], ["what"], ["about"], ["by"]]), none: h("p", { class: "soft" }, "None."), label: ["event", "events"], signal,
  });
  return h("section", { class: "sheet" }, h("h2", {}, "Its events"), h("p", { class: "under" }, h("a", { href: `#/events?entry=${encodeURIComponent(one.id)}` }, "In the log")), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Its events" }, listed.node));
}

// How this memory is, at a glance.

import { empty, h, icon, problem, replace, waiting } from "../dom.js";
import { currentAgent, get, getSettings } from "../api.js";
import { CAUSE_COLOURS, count, cut, delta, energy, living, plural, short, visible, when } from "../format.js";
import { histogram, lines, stacks } from "../charts.js";
import { add, does, tick } from "../actions.js";
import { CAP, amount, chip, head } from "./parts.js";
import { verdict } from "./uplift.js";

export async function overview({ query, signal }) {
  const ticks = ["50", "200", "1000"].includes(query.get("ticks")) ? query.get("ticks") : "200";
  const [stats, history, balances, meters, settings, measured] = await Promise.all([
    get("/stats", {}, signal), get("/history", { ticks }, signal), get("/balances", { buckets: 20 }, signal),
    get("/meters", {}, signal), getSettings(signal), get("/uplifts", {}, signal),
  ]);
  CAP.energy = Math.round(settings.cap * 1e6);
  const uplifts = measured.items;
  const actions = [
    does("Add an entry", () => add({ scopes: Object.keys(stats.by_scope), defaultRetention: settings.default_retention }), { look: "main", glyph: "plus" }),
    does("Advance one tick", () => tick({ rent: settings.rent, payers: living(stats), pending: stats.pending }), { glyph: "clock" }),
  ];
  const body = h("div", {}, head("Overview", `The memory of agent ${visible(stats.agent)} at tick ${count(stats.tick)}.`, ...actions));
  if (!stats.total) body.append(h("section", { class: "sheet" }, empty("entries", "Nothing is remembered yet", "Entries are what an agent has learned. Add one here, let an agent write over MCP or REST, or turn documents into entries:", h("code", {}, "earnest encode README.md"))));
  body.append(
    h("div", { class: "tiles" },
      tile("#/entries", "Living entries", count(living(stats)), stats.suspended ? `${count(stats.suspended)} suspended` : "none suspended"),
      tile("#/energy", "Energy held", energy(stats.energy, { digits: 1 }), living(stats) > 0 ? `${energy(stats.energy / living(stats), { digits: 2 })} an entry` : "no entries"),
      tile("#/tickets", "Open tickets", count(stats.pending), `${count(stats.settled)} settled so far`),
      tile("#/graveyard", "Dead", count(stats.dead), mostOf(stats.by_cause)),
      tile("#/uplift", "Uplift", upliftFigure(uplifts), uplifts.length ? upliftNote(uplifts) : "unmeasured"),
      tile("#/meters", "Outcomes", count(stats.settled), trustNote(stats.by_tier))),
    h("div", { class: "grid" },
      h("section", { class: "sheet span-7" }, h("h2", {}, "What doctor found"), diagnosis(stats, signal)),
      h("section", { class: "sheet span-5" }, h("h2", {}, "Settled value"), h("p", { class: "under" }, "What meters measured, each in its own unit. Not energy."), values(meters.items))),
    h("div", { class: "grid" }, population(history, stats, ticks), deaths(history)),
    h("div", { class: "grid" }, settledOverTime(history, meters.items), holdings(balances, settings)));
  return { title: "Overview", body };
}

const tile = (href, name, value, note) => h("a", { class: "tile", href }, h("span", { class: "name" }, name), h("span", { class: "value" }, value), h("span", { class: "note" }, note));
const mostOf = (causes) => {
  const [first] = Object.entries(causes).sort((a, b) => b[1] - a[1]);
  return first ? `${count(first[1])} ${first[0]}` : "nobody died yet";
};
const upliftFigure = (all) => {
  const known = all.filter((one) => one.effect !== null);
  return known.length ? delta(Number(known[0].effect.toFixed(2))) : "–";
};
const upliftNote = (all) => {
  const known = all.find((one) => one.effect !== null);
  return known ? `${verdict(known)}, by ${cut(known.meter, 24)}` : "no outcome of both kinds yet";
};
const trustNote = (tiers) => ["measured", "operator", "claimed"].filter((name) => tiers[name]).map((name) => `${count(tiers[name])} ${name === "operator" ? "typed" : name}`).join(", ") || "nothing settled yet";

// The doctor looks at everything, which takes longer than the figures do: they are shown first. As long as nothing happens in the store, what
// it said stays true for a minute (some of it goes by the clock), and is not asked for again.
const KEEP = 60_000;
let told = null;

function diagnosis(stats, signal) {
  const place = h("div");
  const known = told?.agent === currentAgent() ? told : null;
  const at = JSON.stringify(stats);
  if (known) replace(place, findings(known.doctor));
  else replace(place, waiting("The doctor is looking"));
  if (known?.stats === at && performance.now() - known.asked < KEEP) return place;
  const mine = { agent: currentAgent(), stats: at, asked: performance.now() };
  const read = () => get("/doctor", {}, signal).then((doctor) => {
    told = { ...mine, doctor };
    replace(place, findings(doctor));
  }, (error) => {
    if (error.name !== "AbortError") replace(place, problem(error, read));
  });
  read();
  return place;
}

// What stands between two backticks is to be typed.
const coded = (text) => visible(text).split("`").map((part, place, all) => (place % 2 && place < all.length - 1 ? h("code", {}, part) : place % 2 ? `\`${part}` : part));

function findings(doctor) {
  const items = doctor.findings;
  if (!items.length) return h("div", { class: "notice good" }, icon("check"), h("div", {}, "Nothing is wrong with how this memory is used."));
  const look = { error: "bad", warning: "warn", info: "info" };
  return items.map((one) => h("div", { class: "finding" },
    chip(one.severity, look[one.severity]),
    h("div", {}, h("strong", {}, visible(one.summary)), h("p", { class: "do" }, coded(one.evidence)), h("p", { class: "do" }, h("b", {}, "Do: "), coded(one.fix)))));
}

function values(meters) {
  if (!meters.length) return empty("meters", "Nothing was measured yet", "Settle a ticket with what it really changed: bytes, tests, money.", h("code", {}, "earnest settle TICKET +4096 --meter disk"));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What every meter measured" }, h("table", {}, h("caption", { class: "quiet" }, "Sum of what every meter measured"),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "meter"), h("th", { scope: "col", class: "number" }, "sum"), h("th", { scope: "col", class: "number" }, "outcomes"))),
    h("tbody", {}, meters.slice(0, 8).map((meter) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: "#/meters", title: visible(meter.name) }, cut(meter.name, 40)), meter.alarm && [" ", chip("in alarm", "bad")], meter.revoked !== null && [" ", chip("revoked", "warn")]),
      h("td", { class: `${amount(meter.unit)} ${meter.total < 0 ? "bad" : meter.total > 0 ? "good" : ""}` }, delta(Number(meter.total.toPrecision(6)), meter.unit)),
      h("td", { class: "number" }, count(meter.settlements)))))));
}

const range = (ticks) => h("nav", { class: "segments", "aria-label": "How many ticks" }, [["50", "50 ticks"], ["200", "200"], ["1000", "1000"]].map(([value, name]) => h("a", { href: value === "200" ? "#/" : `#/?ticks=${value}`, "aria-current": value === ticks ? "true" : null }, name)));

function population(history, stats, ticks) {
  const sheet = h("section", { class: "sheet span-7" }, h("div", { class: "head" }, h("div", {}, h("h2", {}, "Population"), h("p", { class: "under" }, "Living entries after each tick.")), range(ticks)));
  const { points } = history;
  if (points.length < 2) return add_(sheet, empty("overview", "Time has not moved yet", "A tick is one step of the economy's clock. After two of them there is something to draw."));
  // The last tick is not yet today: what was added since then is the last point.
  const now = stats.tick + 1;
  const shown = (tick) => (tick === now ? "now" : `tick ${count(tick)}`);
  return add_(sheet, lines({
    label: `Population from tick ${points[0].tick} to ${points[points.length - 1].tick}: from ${points[0].population} to ${points[points.length - 1].population} living entries, ${stats.suspended} suspended now.`,
    series: [
      { name: "living", colour: 1, area: true, points: [...points.map((p) => [p.tick, p.population]), [now, stats.alive + stats.suspended]] },
      { name: "suspended", colour: 2, points: [...points.map((p) => [p.tick, p.suspended]), [now, stats.suspended]] },
    ],
    showX: shown, showY: short,
    table: { caption: "Population by tick", head: ["tick", "time", "living", "suspended", "open tickets", "energy"], rows: points.map((p) => [count(p.tick), when(p.at), count(p.population), count(p.suspended), count(p.pending), energy(p.energy)]) },
  }));
}

const add_ = (sheet, ...nodes) => { sheet.append(...nodes); return sheet; };

function deaths(history) {
  const sheet = h("section", { class: "sheet span-5" }, h("h2", {}, "Deaths"), h("p", { class: "under" }, "Who died, by cause."));
  const causes = [...new Set(history.points.flatMap((p) => Object.keys(p.died)))].sort();
  if (!causes.length) return add_(sheet, empty("graveyard", "Nobody died in these ticks", "Entries die when they cannot pay their rent, do measured harm, or are forgotten, merged or replaced."));
  // Neighbouring ticks share a column where there are more of them than room.
  const each = Math.ceil(history.points.length / 60);
  const groups = [];
  history.points.forEach((point, place) => {
    if (place % each === 0) groups.push({ x: point.tick, last: point.tick, died: {} });
    const group = groups[groups.length - 1];
    group.last = point.tick;
    for (const [cause, number] of Object.entries(point.died)) group.died[cause] = (group.died[cause] || 0) + number;
  });
  const total = causes.map((cause) => `${groups.reduce((sum, g) => sum + (g.died[cause] || 0), 0)} ${cause}`).join(", ");
  return add_(sheet, stacks({
    label: `Deaths by cause: ${total}.`, height: 190, showX: (value) => `tick ${count(value)}`,
    columns: groups.map((g) => ({ x: g.x, parts: causes.map((cause) => [cause, CAUSE_COLOURS[cause] || 7, g.died[cause] || 0]) })),
    legend: causes.map((cause) => [cause, CAUSE_COLOURS[cause] || 7]),
    table: { caption: "Deaths by tick and cause", head: ["ticks", ...causes], rows: groups.map((g) => [g.x === g.last ? count(g.x) : `${count(g.x)} to ${count(g.last)}`, ...causes.map((cause) => count(g.died[cause] || 0))]) },
  }));
}

function settledOverTime(history, meters) {
  const sheet = h("section", { class: "sheet span-7" }, h("h2", {}, "Settled value over time"), h("p", { class: "under" }, "What each meter measured in these ticks, added up, in its own unit."));
  const units = Object.fromEntries(meters.map((meter) => [meter.name, meter.unit]));
  const names = [...new Set(history.settled.map((one) => one.meter))];
  if (!names.length) return add_(sheet, empty("uplift", "No outcome in these ticks", "Tickets end when somebody says what their decision really changed."));
  names.slice(0, 4).forEach((name, place) => {
    let sum = 0;
    const byTick = new Map();
    for (const one of history.settled) if (one.meter === name) { sum += one.total; byTick.set(one.tick, sum); }
    const points = [...byTick];
    const outcomes = history.settled.filter((one) => one.meter === name);
    const unmeasured = outcomes.filter((one) => one.tier !== "measured").reduce((n, one) => n + one.count, 0);
    sheet.append(h("h3", {}, visible(name), " ", h("span", { class: sum < 0 ? "bad" : "good" }, delta(Number(sum.toPrecision(6)), units[name])),
      unmeasured > 0 && [" ", h("span", { class: "chip operator" }, icon("person"), `${count(unmeasured)} not measured`)]), points.length < 2 ? h("p", { class: "under" }, `${plural(outcomes.reduce((n, one) => n + one.count, 0), "outcome")}, all in tick ${count(points[0][0])}.`) : lines({
      label: `${name}: ${delta(sum, units[name])} over ${plural(points.length, "tick")} with outcomes.`, height: names.length > 1 ? 120 : 190,
      series: [{ name: units[name] ? visible(units[name]) : "sum", colour: (place % 6) + 1, area: true, points }], showX: (tick) => `tick ${count(tick)}`, showY: short,
      table: { caption: `Outcomes of ${visible(name)} by tick`, head: ["tick", "trust", "outcomes", "harms", "sum"], rows: outcomes.map((one) => [count(one.tick), one.tier === "operator" ? "typed by operator" : one.tier, count(one.count), count(one.harms), delta(one.total, units[name])]) },
    }));
  });
  if (names.length > 4) sheet.append(h("p", { class: "hint" }, `${names.length - 4} more meters: see `, h("a", { href: "#/meters" }, "Meters")));
  return sheet;
}

function holdings(balances, settings) {
  const sheet = h("section", { class: "sheet span-5" }, h("h2", {}, "Balances"), h("p", { class: "under" }, `How many living entries hold how much, from nothing to the cap of ${settings.cap}. The first column is close to starving.`));
  const total = balances.counts.reduce((sum, n) => sum + n, 0);
  if (!total) return add_(sheet, empty("energy", "No entry pays rent", "Entries of retention “earned” live from outcomes; fading and kept ones hold no balance."));
  const edge = (place) => Number(((balances.step * place) / 1e6).toFixed(2)).toLocaleString("en");
  return add_(sheet, histogram({
    label: `Balances of ${plural(total, "entry", "entries")}: ${balances.counts[0]} hold less than ${edge(1)}, ${balances.counts[balances.counts.length - 1]} hold ${edge(balances.counts.length - 1)} or more.`,
    counts: balances.counts, height: 190, showEdge: edge,
    table: { caption: "Balances", head: ["energy", "entries"], rows: balances.counts.map((number, place) => [`${edge(place)} to ${edge(place + 1)}`, count(number)]) },
  }));
}

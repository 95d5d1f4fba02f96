// The accounts of energy, apart from what was measured in the world.

import { empty, h } from "../dom.js";
import { get, getSettings } from "../api.js";
import { ACCOUNTS, count, cut, delta, energy, plural, visible } from "../format.js";
import { bars, lines } from "../charts.js";
import { amount, head, table } from "./parts.js";

export async function accounts({ signal }) {
  const [stats, meters, settings, history] = await Promise.all([get("/stats", {}, signal), get("/meters", {}, signal), getSettings(signal), get("/history", { ticks: 200 }, signal)]);
  const rows = [["the living", stats.energy, "held by living entries now"], ...Object.entries(stats.accounts).map(([name, held]) => [name, held, ACCOUNTS[name] || ""])];
  rows.push(["together", rows.reduce((sum, [, held]) => sum + held, 0), ""]);
  const books = table("Accounts of energy", [["account"], ["energy", "number"], ["what it is"]]);
  books.querySelector("tbody").append(...rows.map(([name, held, told]) => h("tr", {}, h("th", { scope: "row", class: "nowrap" }, name), h("td", { class: "number" }, energy(held, { signed: name !== "the living" })), h("td", { class: "soft" }, told))));
  const measured = table("What meters measured", [["meter"], ["sum", "number"], ["outcomes", "number"]]);
  measured.querySelector("tbody").append(...meters.items.map((meter) => h("tr", {}, h("th", { scope: "row", title: visible(meter.name) }, cut(meter.name, 40)), h("td", { class: amount(meter.unit), "data-name": "sum" }, delta(Number(meter.total.toPrecision(6)), meter.unit) || "0"), h("td", { class: "number", "data-name": "outcomes" }, count(meter.settlements)))));
  const body = h("div", {}, head("Energy", "Energy is what entries live from. It is double-entry, in whole micro-units, and its accounts sum to zero. It is no resource: bytes, tests and money are counted apart."),
    h("div", { class: "grid" },
      h("section", { class: "sheet span-6" }, h("h2", {}, "Energy"), h("p", { class: "under" }, `Rent ${settings.rent} a tick, stake ${settings.stake}, cap ${settings.cap}, rule ${settings.rule}.`), books),
      h("section", { class: "sheet span-6" }, h("h2", {}, "Resources"), h("p", { class: "under" }, "As meters measured them, each in its own unit; never added up with energy."), meters.items.length ? measured : empty("meters", "Nothing measured yet", "Settlements bring what decisions really changed."))),
    h("section", { class: "sheet" }, h("h2", {}, "Energy held by the living"), h("p", { class: "under" }, "After each tick, and the rent that it charged."), history.points.length > 1
      ? lines({
        label: `Energy held: from ${energy(history.points[0].energy)} to ${energy(history.points[history.points.length - 1].energy)} over ${plural(history.points.length, "tick")}.`,
        series: [{ name: "held", colour: 1, area: true, points: history.points.map((p) => [p.tick, p.energy]) }, { name: "rent", colour: 2, points: history.points.map((p) => [p.tick, p.rent]) }],
        showX: (tick) => `tick ${count(tick)}`, showY: (value) => energy(value, { digits: value === 0 || Math.abs(value) >= 1e7 ? 0 : 1 }),
        table: { caption: "Energy by tick", head: ["tick", "held", "rent charged"], rows: history.points.map((p) => [count(p.tick), energy(p.energy), energy(p.rent)]) },
      }) : empty("energy", "Time has not moved yet", "After two ticks there is something to draw.")),
    h("section", { class: "sheet" }, h("h2", {}, "By kind and scope"), h("p", { class: "under" }, "Where the living entries are."), h("div", { class: "grid apart" },
      h("div", { class: "span-6" }, bars(Object.entries(stats.by_kind).map(([name, number]) => [name, number, count(number)]))),
      h("div", { class: "span-6" }, bars(Object.entries(stats.by_scope).slice(0, 12).map(([name, number]) => [name === "" ? "default scope" : cut(name, 24), number, count(number), 3]))))));
  return { title: "Energy", body };
}

// What one entry is linked with: a picture of its neighbourhood, and the same as a list.

import { empty, h, s } from "../dom.js";
import { get } from "../api.js";
import { count, cut, plural } from "../format.js";
import { figure } from "../charts.js";
import { does } from "../actions.js";
import { link, unlink } from "../linking.js";
import { chips, entryLink, head } from "./parts.js";

// Entries are told apart by form, since colours are taken by what links them.
const FORMS = { active: "f1", suspended: "ring", dead: "ring gone" };
const COLOURS = { semantic: 1, temporal: 3, entity: 2, related: 5, supersession: 6 };

export async function graph({ id, signal }) {
  const found = await get(`/entries/${encodeURIComponent(id)}/neighbourhood`, {}, signal);
  const centre = found.nodes[0];
  const kinds = [...new Set(found.bonds.map((bond) => bond.kind))];
  const own = found.bonds.filter((bond) => [bond.a, bond.b].includes(centre.entry.id)).length;
  const forms = [["suspended", "ring"], ["dead", "ring gone"]].filter(([standing]) => found.nodes.some((node) => node.entry.standing === standing));
  const body = h("div", {}, head("Links", `What “${cut(centre.entry.text, 70)}” is linked with, and how those are linked among themselves.`,
    centre.entry.standing !== "dead" && does("Link with another", () => link(centre.entry), { look: "main", glyph: "plus" }), h("a", { class: "button", href: `#/entry/${encodeURIComponent(id)}` }, "Back to the entry")));
  if (found.nodes.length < 2) {
    body.append(h("section", { class: "sheet" }, empty("graph", "It is linked with nothing", "Links join entries that mean alike, follow each other, name the same thing, or replace one another. They are made when entries are written, or by hand: here, or in a terminal.", h("code", {}, `earnest link ${id} OTHER`))));
    return { title: "Links", body };
  }
  const list = h("ul", { class: "list" }, found.nodes.slice(1).map((node) => neighbour(centre, node, found.bonds)));
  body.append(h("section", { class: "sheet" }, figure({ label: `Links of ${plural(found.nodes.length, "entry", "entries")}`, role: "group", draw: (width) => picture(found, width), legend: [...kinds.map((kind) => [kind, COLOURS[kind] || 7]), ...forms] })),
    h("section", { class: "sheet" }, h("h2", {}, "As a list"), h("p", { class: "under" }, `${plural(own, "link")}${own < found.bonds.length ? `, and ${count(found.bonds.length - own)} among the linked` : ""}${found.more ? "; there are more, of which the closest are shown" : ""}.`), list));
  return { title: "Links", body };
}

function neighbour(centre, node, bonds) {
  const between = bonds.filter((bond) => [bond.a, bond.b].includes(node.entry.id) && [bond.a, bond.b].includes(centre.entry.id));
  // Who took whose place is history, and is not cut.
  const mine = between.filter((bond) => bond.kind !== "supersession");
  return h("li", {}, h("div", { class: "row acts" },
    h("div", {}, h("div", { class: "says", dir: "auto" }, entryLink(node.entry.id, cut(node.entry.text, 200))), chips(node)),
    h("div", { class: "held" }, between.map((bond) => h("span", {}, `${bond.kind}, weight ${bond.weight.toFixed(2)}${bond.stated ? ", stated" : ""}`))),
    h("div", { class: "actions" }, h("a", { class: "button small", href: `#/graph/${encodeURIComponent(node.entry.id)}` }, "Its links"),
      mine.length > 0 && does("Cut", () => unlink(centre.entry, node.entry, mine), { look: "small danger" }))));
}

// A calm layout: the same neighbourhood always lies the same, and nothing moves.
export function layout(nodes, edges, width, height) {
  const place = new Map(nodes.map((node, n) => {
    const angle = (2 * Math.PI * n) / Math.max(1, nodes.length - 1), ring = n === 0 ? 0 : 0.34 + 0.06 * (n % 3);
    return [node, { x: width / 2 + ring * width * Math.cos(angle), y: height / 2 + ring * height * Math.sin(angle) }];
  }));
  const wish = Math.sqrt((width * height) / nodes.length) * 0.62;
  for (let heat = 60; heat > 0.5; heat *= 0.965) {
    const push = new Map(nodes.map((node) => [node, { x: 0, y: 0 }]));
    for (let a = 0; a < nodes.length; a++) for (let b = a + 1; b < nodes.length; b++) {
      const p = place.get(nodes[a]), q = place.get(nodes[b]);
      const dx = p.x - q.x || 0.1, dy = (p.y - q.y || 0.1) * 1.6, far = Math.hypot(dx, dy), force = (wish * wish) / far;
      push.get(nodes[a]).x += (dx / far) * force; push.get(nodes[a]).y += (dy / far) * force;
      push.get(nodes[b]).x -= (dx / far) * force; push.get(nodes[b]).y -= (dy / far) * force;
    }
    for (const [a, b] of edges) {
      const p = place.get(a), q = place.get(b), dx = p.x - q.x, dy = p.y - q.y, far = Math.hypot(dx, dy) || 0.1, force = (far * far) / wish;
      push.get(a).x -= (dx / far) * force; push.get(a).y -= (dy / far) * force;
      push.get(b).x += (dx / far) * force; push.get(b).y += (dy / far) * force;
    }
    for (const node of nodes.slice(1)) {
      const p = place.get(node), f = push.get(node), far = Math.hypot(f.x, f.y) || 1;
      p.x = Math.min(width - 70, Math.max(70, p.x + (f.x / far) * Math.min(far, heat)));
      p.y = Math.min(height - 30, Math.max(24, p.y + (f.y / far) * Math.min(far, heat)));
    }
  }
  return place;
}

function picture(found, width) {
  const height = Math.max(320, Math.min(560, width * 0.6)), letters = width < 500 ? 16 : 26;
  const ids = found.nodes.map((node) => node.entry.id);
  const place = layout(ids, found.bonds.map((bond) => [bond.a, bond.b]), width, height);
  const svg = s("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height });
  for (const bond of found.bonds) {
    const a = place.get(bond.a), b = place.get(bond.b);
    svg.append(s("line", { class: `k${COLOURS[bond.kind] || 7}`, x1: a.x, y1: a.y, x2: b.x, y2: b.y, "stroke-width": 1 + 2.5 * bond.weight, "stroke-opacity": 0.7 }));
  }
  found.nodes.forEach((node, n) => {
    const { entry } = node, at = place.get(entry.id), size = n === 0 ? 13 : 8;
    svg.append(s("a", { href: `#/entry/${encodeURIComponent(entry.id)}`, "aria-label": cut(entry.text, 90) },
      s("rect", { x: at.x - 60, y: at.y - size - 4, width: 120, height: 2 * size + 24 }),
      s("circle", { class: FORMS[entry.standing], cx: at.x, cy: at.y, r: size }),
      s("text", { x: at.x, y: at.y + size + 14, "text-anchor": "middle" }, cut(entry.text, letters))));
  });
  return svg;
}

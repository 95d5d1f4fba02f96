// Small charts in SVG. Each has a sentence that says what it shows, and a table with the same numbers.

import { h, s, replace } from "./dom.js";
import { count } from "./format.js";

// A figure that is drawn at the width that it has, so that letters keep their size on every screen.
export function figure({ label, draw, table, legend, role = "img" }) {
  const place = h("div");
  const node = h("figure", { class: "figure" }, place, legend && legendRow(legend), table && tableOf(table));
  let width = 0;
  const watcher = new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now && now !== width) {
      width = now;
      const picture = draw(width);
      picture.setAttribute("role", role);
      picture.setAttribute("aria-label", label);
      replace(place, picture);
    }
  });
  watcher.observe(place);
  return node;
}

function legendRow(items) {
  return h("div", { class: "legend-row" }, items.map(([name, colour]) => h("span", {}, h("i", { class: Number.isInteger(colour) ? `b${colour}` : colour }), name)));
}

function tableOf({ caption, head, rows }) {
  const body = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption });
  const details = h("details", {}, h("summary", {}, "Show as a table"), body);
  details.addEventListener("toggle", () => {
    if (details.open && !body.firstChild) {
      body.append(h("table", {}, h("caption", {}, caption),
        h("thead", {}, h("tr", {}, head.map((name, place) => h("th", { scope: "col", class: place ? "number" : "" }, name)))),
        h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) => (place ? h("td", { class: "number" }, cell) : h("th", { scope: "row" }, cell))))))));
    }
  });
  return details;
}

// Round steps for an axis: 1, 2 or 5 times a power of ten.
export function steps(low, high, wanted = 4) {
  if (!(high > low)) return [low];
  const raw = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const made = [];
  for (let value = Math.ceil(low / size) * size; value <= high + size * 1e-9; value += size) made.push(Math.abs(value) < size * 1e-9 ? 0 : value);
  return made;
}

function frame(width, height, { xs, ys, showX = count, showY = count, left = 46, bottom = 24, top = 10, right = 8, wholeX = true }) {
  const [x0, x1] = xs, [y0, y1] = ys;
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - y0) / (y1 - y0 || 1)) * (height - bottom - top);
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height });
  const reach = Math.max(Math.abs(y0), Math.abs(y1));
  for (const value of steps(y0, y1, height < 130 ? 2 : 4)) {
    picture.append(s("line", { class: value === 0 ? "axis" : "rule", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      s("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, showY(value, reach)));
  }
  for (const value of steps(x0, x1, Math.max(2, Math.min(8, width / 90)))) {
    if (wholeX && !Number.isInteger(value)) continue;
    // A letter is some six units wide; what would leave the picture at an end is set against that end.
    const text = showX(value), half = 3.1 * text.length, past = x(value) + half > width;
    const before = !past && x(value) < half;
    picture.append(s("text", { x: past ? width : before ? 0 : x(value), y: height - 6, "text-anchor": past ? "end" : before ? "start" : "middle" }, text));
  }
  return { picture, x, y, left, right, bottom, top };
}

const path = (points) => points.map(([a, b], place) => `${place ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");

// series: [{ name, colour, points: [[x, y], …], area, dashed }]. A pointer over it reads the values off.
export function lines({ label, series, height = 200, showX = count, showY = count, zero = true, table, low, high, step = false, legend }) {
  const all = series.flatMap((one) => one.points);
  const xs = [Math.min(...all.map((p) => p[0])), Math.max(...all.map((p) => p[0]))];
  let [bottom, top] = [low ?? Math.min(...all.map((p) => p[1])), high ?? Math.max(...all.map((p) => p[1]))];
  if (zero && low === undefined) [bottom, top] = [Math.min(0, bottom), Math.max(0, top)];
  if (bottom === top) top = bottom + 1;
  const draw = (width) => {
    const made = frame(width, height, { xs, ys: [bottom, top], showX, showY });
    const { picture, x, y } = made;
    for (const one of series) {
      let points = one.points.map(([a, b]) => [x(a), y(b)]);
      if (step) points = points.flatMap((p, place) => (place ? [[p[0], points[place - 1][1]], p] : [p]));
      if (one.area) picture.append(s("path", { class: "area1", d: `${path(points)}L${points[points.length - 1][0]} ${y(Math.max(0, bottom))}L${points[0][0]} ${y(Math.max(0, bottom))}Z` }));
      picture.append(s("path", { class: `line k${one.colour}${one.dashed ? " dashed" : ""}`, d: path(points) }));
      if (one.dots) one.points.forEach(([a, b], place) => picture.append(s("circle", { class: `dot f${one.dots[place]}`, cx: x(a), cy: y(b), r: 4.5 })));
      else if (points.length === 1) picture.append(s("circle", { class: `dot f${one.colour}`, cx: points[0][0], cy: points[0][1], r: 4 }));
    }
    readOff(picture, made, series, width, height, showX, showY);
    return picture;
  };
  return figure({ label, draw, table, legend: legend ?? (series.length > 1 ? series.map((one) => [one.name, one.colour]) : undefined) });
}

function readOff(picture, { x, bottom, top }, series, width, height, showX, showY) {
  const cursor = s("line", { class: "cursor", y1: top, y2: height - bottom, visibility: "hidden" });
  picture.append(cursor);
  const ticks = [...new Set(series.flatMap((one) => one.points.map((p) => p[0])))].sort((a, b) => a - b);
  let box = null;
  picture.addEventListener("pointermove", (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    const tick = ticks.reduce((best, one) => (Math.abs(x(one) - at) < Math.abs(x(best) - at) ? one : best), ticks[0]);
    cursor.setAttribute("x1", x(tick));
    cursor.setAttribute("x2", x(tick));
    cursor.setAttribute("visibility", "visible");
    const said = series.map((one) => [one, one.points.find((p) => p[0] === tick)]).filter(([, p]) => p).map(([one, p]) => `${one.name} ${showY(p[1])}`);
    box ||= h("div", { class: "reading", "aria-hidden": "true" });
    box.textContent = `${showX(tick)}: ${said.join(", ")}`;
    if (!box.isConnected) picture.closest(".figure")?.append(box);
  });
  picture.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    box?.remove();
  });
}

// columns: [{ x, parts: [[name, colour, value], …] }], stacked from the ground.
export function stacks({ label, columns, height = 150, showX = count, table, legend }) {
  const top = Math.max(1, ...columns.map((column) => column.parts.reduce((sum, part) => sum + part[2], 0)));
  const xs = [columns[0].x - .5, columns[columns.length - 1].x + .5];
  const draw = (width) => {
    const { picture, x, y } = frame(width, height, { xs, ys: [0, top], showX });
    const wide = Math.max(1.5, Math.min(26, (x(xs[1]) - x(xs[0])) / columns.length - 1.5));
    for (const column of columns) {
      let base = 0;
      for (const [, colour, value] of column.parts) {
        if (!value) continue;
        picture.append(s("rect", { class: `f${colour}`, x: x(column.x) - wide / 2, width: wide, y: y(base + value), height: Math.max(1, y(base) - y(base + value)) }));
        base += value;
      }
    }
    return picture;
  };
  return figure({ label, draw, table, legend });
}

// counts of equal steps, from nothing upwards.
export function histogram({ label, counts, height = 170, showEdge, table }) {
  const top = Math.max(1, ...counts);
  const draw = (width) => {
    const { picture, x, y } = frame(width, height, { xs: [0, counts.length], ys: [0, top], showX: showEdge });
    counts.forEach((value, place) => {
      if (value) picture.append(s("rect", { class: place === 0 ? "f2" : "f1", rx: 2, x: x(place) + 1, width: Math.max(1, x(place + 1) - x(place) - 2), y: y(value), height: Math.max(1, y(0) - y(value)) }));
    });
    return picture;
  };
  return figure({ label, draw, table });
}

// An effect with its interval on a line through zero.
export function interval({ label, low, high, effect, show, height = 84, table }) {
  const reach = Math.max(Math.abs(low), Math.abs(high), 1e-9) * 1.15;
  const draw = (width) => {
    const { picture, x } = frame(width, height, { xs: [-reach, reach], ys: [0, 1], showX: show, showY: () => "", left: 12, right: 12, wholeX: false });
    picture.replaceChildren(...[...picture.childNodes].filter((node) => node.nodeName === "text" && node.textContent));
    const good = low > 0 ? 1 : high < 0 ? 4 : 7;
    picture.append(s("line", { class: "axis", x1: x(0), x2: x(0), y1: 8, y2: height - 24 }),
      s("line", { class: `line k${good}`, x1: x(low), x2: x(high), y1: 32, y2: 32 }),
      ...[low, high].map((end) => s("line", { class: `line k${good}`, x1: x(end), x2: x(end), y1: 24, y2: 40 })),
      s("circle", { class: `dot f${good}`, cx: x(effect), cy: 32, r: 7 }));
    return picture;
  };
  return figure({ label, draw, table });
}

// rows: [[name, value, shown, colour]]: bars to compare by length.
export function bars(rows) {
  const top = Math.max(...rows.map((row) => Math.abs(row[1])), 1e-12);
  return h("div", { class: "bars" }, rows.map(([name, value, shown, colour = 1]) => [
    h("span", {}, name),
    h("span", { class: "bar-track", "aria-hidden": "true" }, h("i", { class: `b${colour}`, width: `${Math.max(value ? 1 : 0, (100 * Math.abs(value)) / top)}%` })),
    h("span", { class: "number" }, shown),
  ]));
}

// Elements are made from data by these functions alone. Text becomes a text node, never markup: what an entry says is data.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "width" && node.style && node.namespaceURI !== SVG) node.style.width = value;
    else if (name === "value" && "value" in node) node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

const PATHS = {
  overview: ["M4 20V11", "M10 20V4", "M16 20v-7", "M22 20H2"],
  entries: ["M4 6h16", "M4 12h16", "M4 18h10"],
  tickets: ["M3 8a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2v2a2 2 0 0 0 0 4v2a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-2a2 2 0 0 0 0-4z", "M14 6v12"],
  graveyard: ["M6 21V10a6 6 0 0 1 12 0v11", "M3 21h18", "M12 9v6", "M9.5 11.5h5"],
  events: ["M12 7v5l3 2", "M12 21a9 9 0 1 0-9-9", "M3 7v5h5"],
  meters: ["M4 18a9 9 0 1 1 16 0", "M12 15l4-5", "M12 15h.01"],
  rules: ["M4 5h9", "M4 12h6", "M4 19h9", "M15 12l2.5 2.5L22 9"],
  energy: ["M13 2 5 14h6l-1 8 8-12h-6z"],
  graph: ["M6 6m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0", "M18 9m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0", "M9 19m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0", "M8.4 6.6l7.2 1.8", "M6.6 8.4l1.8 8.1", "M16.4 11l-5.8 6.2"],
  uplift: ["M4 17l6-6 4 4 7-8", "M15 7h6v6"],
  plus: ["M12 5v14", "M5 12h14"],
  clock: ["M12 7v5l3 3", "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18"],
  pin: ["M9 3h6", "M10 3v6l-3 4h10l-3-4V3", "M12 13v8"],
  alert: ["M12 9v4", "M12 17h.01", "M10.3 4 2.6 17.5A2 2 0 0 0 4.3 20.5h15.4a2 2 0 0 0 1.7-3L13.7 4a2 2 0 0 0-3.4 0z"],
  info: ["M12 11v5", "M12 8h.01", "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18"],
  check: ["M5 13l4 4L19 7"],
  cross: ["M6 6l12 12", "M18 6 6 18"],
  sun: ["M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8", "M12 2v2", "M12 20v2", "M2 12h2", "M20 12h2", "M5 5l1.4 1.4", "M17.6 17.6 19 19", "M5 19l1.4-1.4", "M17.6 6.4 19 5"],
  moon: ["M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z"],
  refresh: ["M20 11a8 8 0 0 0-14-4.5L4 9", "M4 4v5h5", "M4 13a8 8 0 0 0 14 4.5l2-2.5", "M20 20v-5h-5"],
  person: ["M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8", "M4 21a8 8 0 0 1 16 0"],
  search: ["M11 4a7 7 0 1 0 0 14a7 7 0 1 0 0-14", "M16 16l5 5"],
  back: ["M19 12H5", "M11 6l-6 6 6 6"],
  key: ["M15 4a5 5 0 1 0 0 10a5 5 0 1 0 0-10", "M11 12.5 3 20.5", "M6 17.5l2.5 2.5"],
};

export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, PATHS[name].map((d) => s("path", { d })));
}

export function button(label, onclick, { look = "", glyph, ...rest } = {}) {
  return h("button", { type: "button", class: `button ${look}`, onclick, ...rest }, glyph && icon(glyph), label);
}

export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 50);
}

export function waiting(label = "Loading") {
  return h("div", { class: "wait", role: "status", "aria-label": label }, h("span"), h("span"), h("span"));
}

export function empty(glyph, title, ...told) {
  return h("div", { class: "empty" }, icon(glyph), h("p", { class: "title" }, title), told.map((part) => (part instanceof Node ? part : h("p", {}, part))));
}

export function problem(error, again) {
  return h("div", { class: "notice bad", role: "alert" }, icon("alert"),
    h("div", {}, h("strong", {}, error.title || "This could not be read"), h("span", {}, error.message),
      again && h("div", {}, button("Try again", again, { look: "small", glyph: "refresh" }))));
}

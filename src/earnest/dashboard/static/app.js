// The frame around the views: who is asked, where one is, what changed meanwhile.

import { announce, button, h, icon, problem, replace, waiting } from "./dom.js";
import { count, living, visible } from "./format.js";
import * as api from "./api.js";
import { door } from "./door.js";
import { overview } from "./views/overview.js";
import { entries } from "./views/entries.js";
import { entry } from "./views/entry.js";
import { graph } from "./views/graph.js";
import { rules } from "./views/rules.js";
import { tickets } from "./views/tickets.js";
import { graveyard } from "./views/graveyard.js";
import { events } from "./views/events.js";
import { meters } from "./views/meters.js";
import { uplift } from "./views/uplift.js";
import { accounts } from "./views/accounts.js";

// path, name, picture, view, and which number of the store's stands beside it
const VIEWS = [
  ["", "Overview", "overview", overview],
  ["entries", "Entries", "entries", entries, (s) => living(s)],
  ["tickets", "Open tickets", "tickets", tickets, (s) => s.pending],
  ["graveyard", "Graveyard", "graveyard", graveyard, (s) => s.dead],
  ["rules", "Rules", "rules", rules, (s) => s.by_kind.rule || 0],
  ["meters", "Meters", "meters", meters],
  ["uplift", "Uplift", "uplift", uplift],
  ["energy", "Energy", "energy", accounts],
  ["events", "Events", "events", events],
];
const HIDDEN = { entry, graph };

const main = document.getElementById("main");
let running = null;
let stats = null;
let seen = 0;

function where() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return { name, id: rest.length ? decodeURIComponent(rest.join("/")) : "", query: new URLSearchParams(query) };
}

function drawRail() {
  const { name } = where();
  const here = name === "entry" || name === "graph" ? "entries" : name;
  replace(document.getElementById("rail"),
    VIEWS.map(([path, label, glyph, , number]) => h("a", { href: `#/${path}`, "aria-current": path === here ? "page" : null },
      icon(glyph), label, number && stats && h("span", { class: "count" }, count(number(stats))))),
    h("div", { class: "rail-foot" }, stats && h("span", {}, `Tick ${count(stats.tick)}`), h("span", {}, "Times are in UTC. Nothing leaves this machine.")));
  bringIntoSight();
}

async function show({ focus = true } = {}) {
  running?.abort();
  const mine = (running = new AbortController());
  const { name, id, query } = where();
  const view = HIDDEN[name] || VIEWS.find(([path]) => path === name)?.[3];
  drawRail();
  main.setAttribute("aria-busy", "true");
  const slow = setTimeout(() => { if (!mine.signal.aborted) replace(main, waiting()); }, focus ? 120 : 4000);
  try {
    if (!view) throw new api.Problem(404, "There is no such view", "The address names none: choose one from the list of views.");
    const made = await view({ id, query, signal: mine.signal, stats: () => stats });
    if (mine.signal.aborted) return;
    const scroll = scrollY;
    replace(main, made.body);
    document.title = `${made.title} · Earnest`;
    if (focus) {
      scrollTo(0, 0);
      const title = main.querySelector("h1");
      title?.setAttribute("tabindex", "-1");
      title?.focus({ preventScroll: true });
    } else scrollTo(0, scroll);
  } catch (error) {
    if (error.name === "AbortError" || mine.signal.aborted) return;
    replace(main, h("h1", { class: "quiet" }, "Something went wrong"), problem(error, () => show()));
  } finally {
    clearTimeout(slow);
    if (running === mine) {
      main.removeAttribute("aria-busy");
      main.dataset.shown = `${name}${id ? `/${id}` : ""}`;
    }
  }
}

// Where the views lie in a row that scrolls, the one that is open is in sight.
function bringIntoSight() {
  const rail = document.getElementById("rail"), here = rail.querySelector("[aria-current]");
  if (here && rail.scrollWidth > rail.clientWidth) rail.scrollLeft = here.offsetLeft - (rail.clientWidth - here.offsetWidth) / 2;
}

// Numbers beside the views follow the store; what is being read is left alone until one asks for it.
async function look() {
  if (document.hidden || !api.hasToken() || !api.currentAgent()) return;
  try {
    const found = await api.get("/stats");
    const last = found.events ?? `${found.tick}/${found.total}/${found.decisions}/${found.settled}/${found.pending}/${found.dead}`;
    stats = found;
    if (seen && last !== seen) document.getElementById("fresh").hidden = false;
    seen = last;
    drawRail();
  } catch { /* the view that is open says so when it is asked for something */ }
}

async function reread() {
  seen = 0;
  document.getElementById("fresh").hidden = true;
  await Promise.all([look(), show({ focus: false })]);
}

function drawTools() {
  const dark = () => document.documentElement.dataset.scheme ? document.documentElement.dataset.scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = button("", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.scheme = next;
    localStorage.setItem("earnest-scheme", next);
    name();
  }, { look: "plain square" });
  const name = () => {
    replace(scheme, icon(dark() ? "sun" : "moon"));
    scheme.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
  };
  name();
  replace(document.getElementById("tools"),
    button("Something changed", reread, { look: "small", glyph: "refresh", id: "fresh", hidden: true }),
    button("", () => { reread(); announce("Read again."); }, { look: "plain square", glyph: "refresh", "aria-label": "Read again" }), scheme);
}

async function chooseAgent() {
  await api.knowSession();
  const { items } = await api.root("/v1/agents");
  const kept = sessionStorage.getItem("earnest-agent");
  const names = items.map((item) => item.name);
  api.setAgent(names.includes(kept) ? kept : names.includes("default") || !names.length ? "default" : names[0]);
  const place = document.getElementById("agent");
  if (names.length < 2) return replace(place, h("span", { class: "wide-only" }, "agent"), h("strong", {}, visible(names[0] ?? "default")));
  const choice = h("select", { class: "select", "aria-label": "Agent" }, names.map((one) => h("option", { value: one, selected: one === api.currentAgent() }, visible(one))));
  choice.addEventListener("change", () => {
    sessionStorage.setItem("earnest-agent", choice.value);
    api.setAgent(choice.value);
    stats = null;
    location.hash = "#/";
    reread();
  });
  return replace(place, choice);
}

async function enter() {
  try {
    await chooseAgent();
  } catch (error) {
    if (error.status === 401 || error.status === 403) return lock(error);
    return replace(main, h("h1", {}, "Earnest"), problem(error, enter));
  }
  await look();
  await show({ focus: false });
  return undefined;
}

function lock(error) {
  api.keepToken("");
  replace(document.getElementById("rail"));
  replace(document.getElementById("agent"));
  document.title = "Earnest";
  replace(main, door(error, enter));
}

async function begin() {
  const scheme = localStorage.getItem("earnest-scheme");
  if (scheme) document.documentElement.dataset.scheme = scheme;
  drawTools();
  const code = /^#code=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (code) {
    history.replaceState(null, "", "#/");
    try {
      await api.exchangeCode(code[1]);
    } catch (error) {
      if (!api.hasToken()) return lock(error);
    }
  }
  if (!api.hasToken()) return lock();
  return enter();
}

addEventListener("hashchange", () => {
  if (location.hash === "#main") return;
  if (/^#code=/.test(location.hash)) begin();
  // Before it is known whose memory this is, nothing can be asked; what comes then shows the view that the address names.
  else if (api.hasToken() && api.currentAgent()) show();
});
addEventListener("earnest:changed", reread);
addEventListener("earnest:locked", () => { if (api.hasToken()) lock(new api.Problem(401, "This page is not known any more", "The service was started anew, or the token was revoked. Use the new link, or a valid token.")); });
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("visibilitychange", look);
setInterval(look, 5000);
begin();

// The REST service of this machine. The token travels in a header, never in an address or a cookie.

const KEPT = "earnest-token";
let token = sessionStorage.getItem(KEPT) || "";
let agent = "";
let session = {};

export class Problem extends Error {
  constructor(status, title, message) {
    super(message);
    this.status = status;
    this.title = title;
  }
}

export const hasToken = () => token !== "";
export const currentAgent = () => agent;
export const setAgent = (name) => { agent = name; };
export const who = () => session;
export const mayWrite = () => !session.read_only;

// Who this tab is to the service: what it may do, and as whose word its settlements count.
export async function knowSession() {
  session = await call("GET", "/v1/session");
  return session;
}

export function keepToken(value) {
  token = value;
  if (value) sessionStorage.setItem(KEPT, value);
  else sessionStorage.removeItem(KEPT);
}

// The link that `earnest ui` opens carries a one-time code behind the #, which browsers do not send. It is traded for the token.
export async function exchangeCode(code) {
  const kept = await call("POST", "/session", { body: { code } });
  keepToken(kept.token);
}

async function call(method, path, { query, body, signal, key } = {}) {
  const address = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      // An empty scope is the default one; anything else that is empty was not asked for.
      if (one !== undefined && one !== null && (one !== "" || name === "scope")) address.searchParams.append(name, one);
    }
  }
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  // What a person does here is recorded as theirs; only an operator's token may say so.
  if (session.operator && method !== "GET") headers["Earnest-Channel"] = "dashboard";
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The service does not answer", "It may have been stopped. Start it again (earnest ui), then try again.");
  }
  const text = await answer.text();
  let said = null;
  try { said = text ? JSON.parse(text) : null; } catch { said = null; }
  if (answer.ok) return said;
  if (answer.status === 401 && path !== "/v1/session") dispatchEvent(new CustomEvent("earnest:locked"));
  throw new Problem(answer.status, (said && said.title) || `The service answered ${answer.status}`, (said && (said.detail || said.message)) || "It gave no reason; its log may say more.");
}

const at = (path) => `/v1/agents/${encodeURIComponent(agent)}${path}`;

export const getSettings = async (signal) => (await get("/settings", {}, signal)).settings;
export const get = (path, query, signal) => call("GET", at(path), { query, signal });
// A question travels in a body, so that no address holds it.
export const ask = (path, body, signal) => call("POST", at(path), { body, signal });
export const root = (path, query, signal) => call("GET", path, { query, signal });

// A write may go unacknowledged when a connection breaks: each carries a key, so that asking again does not do it twice.
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
export const remove = (path, query, key = newKey()) => call("DELETE", at(path), { query, key });
export const post = (path, body = {}, key = newKey()) => call("POST", at(path), { body, key });

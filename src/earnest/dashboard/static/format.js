// Numbers, times and names as people read them: the same words as in the command line and the pages.

const MICRO = 1_000_000;
const whole = new Intl.NumberFormat("en");

export const count = (value) => whole.format(value);
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

// Rules are counted apart: they stay out of the lists of entries.
export const living = (stats) => stats.alive + stats.suspended - (stats.by_kind.rule || 0);

// Micro-units of energy as 1.000, with a real minus sign.
export function energy(micro, { signed = false, digits = 3 } = {}) {
  const size = Math.abs(micro) / MICRO;
  const sign = micro < 0 ? "−" : signed && micro > 0 ? "+" : "";
  return sign + size.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// A measured change in its own unit: whole numbers grouped, others with up to six digits.
export function delta(value, unit = "") {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : value > 0 ? "+" : "";
  const text = Number.isInteger(size) && size < 1e15 ? count(size) : size.toLocaleString("en", { maximumSignificantDigits: 6 });
  return sign + text + (unit ? ` ${visible(unit)}` : "");
}

// `reach` is the largest of the values beside it: on one axis all are written alike.
export const short = (value, reach = value) => {
  const size = Math.abs(value);
  const text = size > 0 && Math.abs(reach) >= 1e4 ? size.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 }) : size.toLocaleString("en", { maximumFractionDigits: size < 10 ? 2 : 0 });
  return (value < 0 ? "−" : "") + text;
};

// Nothing that was measured is certain: the ends of the scale are not reached.
export const chance = (part) => (part > 0.99 ? "over 99 %" : part < 0.01 ? "under 1 %" : percent(part));
export const percent = (part) => `${Math.round(part * 100)} %`;

// Times are in UTC everywhere, as in the log.
export function when(iso) {
  if (!iso) return "age unknown";
  const at = new Date(iso);
  return `${at.toISOString().slice(0, 10)} ${at.toISOString().slice(11, 16)} UTC`;
}

// Controls that hide or reorder text are shown by their number; so is nothing at all.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;
export function visible(text) {
  return String(text ?? "").replace(/\r\n?/g, "\n").replace(HIDDEN, (sign) => `⟨U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function cut(text, most = 160) {
  const line = visible(text).replace(/\s+/g, " ").trim();
  return [...line].length > most ? `${[...line].slice(0, most - 1).join("")}…` : line;
}

export const scopeName = (scope) => (scope === "" ? "default scope" : visible(scope));

export const CAUSES = {
  executed: "its advice did measured harm, and it ran out of energy",
  starved: "it earned less than its rent, and ran out of energy",
  faded: "it was not recalled for so long that it faded",
  merged: "it was joined with near-duplicates into one entry",
  superseded: "a newer version took its place, or its document does not say it any more",
  forgotten: "somebody asked for it to be forgotten",
  erased: "somebody asked for it to be erased",
};
// One colour for each cause, in every chart.
export const CAUSE_COLOURS = { executed: 4, starved: 2, faded: 7, merged: 3, superseded: 5, forgotten: 6, erased: 7 };

export const TIERS = {
  measured: "by a meter that the operator bound to its channel",
  operator: "typed by a person, bounded: it neither keeps alive nor kills by itself",
  claimed: "claimed by an agent, bounded: it neither keeps alive nor kills by itself",
};

export const ACCOUNTS = {
  mint: "stakes given to new entries",
  world: "paid out for measured good, less fines for harm",
  rent: "paid by the living, tick by tick",
  cap: "what exceeded the cap",
  forfeit: "left by the dead, and debts forgiven",
};

export const EVENTS = {
  create: "store made", add: "entry added", twin: "said again", encode: "encoded from a document", edit: "edited", supersede: "new version",
  decide: "decision", settle: "settled", settle_refused: "settlement refused", abandon: "abandoned", expire: "expired", tick: "tick",
  suspend: "suspended", clear: "cleared", death: "died", forget: "forgotten", restore: "restored", pin: "pinned", unpin: "unpinned",
  merge: "merged", undo: "undone", rollback: "rolled back", graduate: "off probation", setting: "setting changed", meter: "meter changed",
  bind: "meter bound", repair: "repaired", remeasure: "measured again", correct: "put right", control: "control", appeal: "appeal",
  alarm: "meter alarm", revoke: "meter revoked", rule: "rule changed", link: "linked", unlink: "links cut", feedback: "opinion given",
  vouch: "vouched for", import: "imported", erase: "erased", segment: "segment written",
  archive: "log archived", archived: "log was archived",
};
export const eventName = (kind) => EVENTS[kind] || visible(kind).replace(/_/g, " ");

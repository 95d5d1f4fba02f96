// What people can do. Each act says what follows from it before, and offers to take it back after where that is possible.

import { append, announce, button, h, icon, replace } from "./dom.js";
import { get, mayWrite, post, remove, who } from "./api.js";
import { cut, delta, energy, plural, visible } from "./format.js";

// A button for something that writes; nothing for who may only read.
export const does = (label, act, options) => mayWrite() && button(label, act, options);

export const changed = () => dispatchEvent(new CustomEvent("earnest:changed"));

export function toast(text, { undo, bad = false } = {}) {
  const node = h("div", { class: bad ? "toast bad" : "toast" }, h("span", {}, text));
  const leave = () => {
    removeEventListener("keydown", wait);
    node.remove();
  };
  if (undo) {
    node.append(button("Undo", async (event) => {
      event.currentTarget.disabled = true;
      try {
        const told = await undo();
        leave();
        toast(told || "Taken back.");
        changed();
      } catch (error) {
        leave();
        toast(error.message, { bad: true });
      }
    }, { look: "small" }));
  }
  node.append(button("", leave, { look: "small plain square", glyph: "cross", "aria-label": "Close this message" }));
  document.getElementById("toasts").append(node);
  let stay = 0, held = false;
  // Whoever goes there by keys has far to go: with each the time begins anew.
  function wait() {
    clearTimeout(stay);
    if (!held) stay = setTimeout(leave, undo ? 20_000 : 8_000);
  }
  const hold = () => { held = true; wait(); };
  node.addEventListener("focusin", hold);
  node.addEventListener("pointerenter", hold);
  addEventListener("keydown", wait);
  wait();
}

// A dialog with a form. `run(values)` writes; what it raises is shown in the dialog, which stays open.
export function ask({ title, says, consequence, fields = [], doing, danger = false, run, undoable }) {
  const opener = document.activeElement;
  const wrong = h("p", { class: "wrong", role: "alert" });
  const send = h("button", { type: "submit", class: `button main ${danger ? "danger" : ""}` }, doing);
  const name = `title-${Math.floor(performance.now())}`;
  const form = h("form", { method: "dialog" },
    h("h2", { id: name }, title),
    says && h("div", { class: "says", dir: "auto", tabindex: "0", role: "group", "aria-label": "The text" }, visible(says)),
    fields.length > 0 && h("div", { class: "fields" }, fields.map((field) => field.node)),
    h("div", { class: `notice ${danger ? "warn" : ""}` }, icon(danger ? "alert" : "info"),
      h("div", { id: `${name}-why` }, consequence.map((line) => h("p", {}, line)), undoable === false && h("p", {}, h("strong", {}, "This cannot be taken back.")))),
    wrong,
    h("div", { class: "ends" }, button("Cancel", () => dialog.close()), send));
  const dialog = h("dialog", { "aria-labelledby": name, "aria-describedby": `${name}-why` }, form);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (opener && opener.isConnected) opener.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    send.disabled = true;
    try {
      const { told, undo } = await run(Object.fromEntries(fields.map((field) => [field.name, field.read()])));
      dialog.close();
      toast(told, { undo });
      changed();
    } catch (error) {
      wrong.textContent = error.message;
    } finally {
      send.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  (fields[0]?.focus || send).focus();
}

let serial = 0;
export function field(name, label, { kind = "input", wide = false, hint, options, value = "", ...rest } = {}) {
  const id = `field-${++serial}`;
  const described = hint ? `${id}-hint` : undefined;
  const control = kind === "select"
    ? h("select", { id, class: "select", "aria-describedby": described, ...rest }, options.map(([key, shown]) => h("option", { value: key, selected: key === value }, shown)))
    : h(kind === "area" ? "textarea" : "input", { id, class: kind === "area" ? "area" : "input", "aria-describedby": described, autocomplete: "off", value, ...rest });
  return {
    name, focus: control, control, read: () => control.value,
    node: h("div", { class: wide ? "field wide" : "field" }, h("label", { for: id }, label), control, hint && h("span", { class: "hint", id: described }, hint)),
  };
}

// The event that a write appended for an entry, so that it can be undone by its number.
async function lastEvent(entry, kinds) {
  const { items } = await get("/events", { entry, newest: true, limit: 10 });
  return items.find((event) => kinds.includes(event.kind));
}

const undoing = (seq, told) => async () => {
  await post(`/events/${seq}/undo`);
  return told;
};

export async function undoOf(entry, kinds, told) {
  const event = await lastEvent(entry, kinds);
  return event && undoing(event.seq, told);
}

export function pin(entry) {
  ask({
    title: "Pin this entry", says: entry.text, doing: "Pin",
    consequence: ["It is kept from burial and merging. It still pays rent, and rests at zero; harm can still suspend it."],
    run: async () => {
      await post(`/entries/${entry.id}/pin`);
      return { told: "Pinned.", undo: await undoOf(entry.id, ["pin"], "The pin was taken away again.") };
    },
  });
}

export function unpin(entry) {
  const empty = entry.retention === "earned" && entry.balance <= 0;
  ask({
    title: "Take the pin away", says: entry.text, doing: "Unpin", danger: empty,
    consequence: [empty ? "Its balance is used up: without the pin it dies now, unless an open ticket names it." : "From now on it lives from what it earns, like any other."],
    run: async () => {
      await post(`/entries/${entry.id}/unpin`);
      return { told: "The pin was taken away.", undo: await undoOf(entry.id, ["unpin"], "Pinned again.") };
    },
  });
}

export function forget(entry) {
  const reason = field("reason", "Why (for the record)", { wide: true, maxlength: 4000 });
  ask({
    title: "Forget this entry", says: entry.text, doing: "Forget", danger: true, fields: [reason],
    consequence: [`It is buried with the cause "forgotten" and not recalled any more. ${entry.retention === "earned" ? `It holds ${energy(entry.balance)} energy, which comes back with it if it is restored.` : "Restoring brings it back."}`,
      "Its text stays in the store. To destroy a text for good, use earnest erase."],
    run: async (values) => {
      await remove(`/entries/${entry.id}`, { reason: values.reason });
      return { told: "Forgotten.", undo: await undoOf(entry.id, ["forget"], "It lives again.") };
    },
  });
}

export function restore(entry) {
  const fresh = ["executed", "starved", "faded"].includes(entry.cause);
  ask({
    title: "Restore this entry", says: entry.text, doing: "Restore", danger: entry.cause === "executed",
    consequence: [fresh ? "It comes back with a fresh stake." : "It comes back with what it held.",
      ...(entry.cause === "executed" ? ["It was executed: its advice did measured harm. What was measured is not forgotten, so that it may come back suspended."] : [])],
    run: async () => {
      await post(`/entries/${entry.id}/restore`);
      return { told: "Restored.", undo: await undoOf(entry.id, ["restore"], "Buried again, as forgotten.") };
    },
  });
}

export function vouch(entry, probation) {
  ask({
    title: "Vouch for this entry", says: entry.text, doing: "Vouch", danger: true,
    consequence: [`It waits for ${plural(probation, "outcome")} before it may decide, because it was imported or is written like an order to its reader. If you vouch for it, it may decide at once.`, "Read the text first: you answer for it, and the log says so."],
    run: async () => {
      await post(`/entries/${entry.id}/vouch`);
      return { told: "It may decide now.", undo: await undoOf(entry.id, ["vouch"], "It waits again.") };
    },
  });
}

export function opine(entry) {
  const verdict = field("verdict", "What do you think of it?", { kind: "select", wide: true, value: "helpful", options: [["helpful", "helpful: it fades more slowly"], ["unhelpful", "unhelpful: its importance goes down"], ["outdated", "outdated: it is valid no more"]] });
  ask({
    title: "Give an opinion", says: entry.text, doing: "Take it down", fields: [verdict],
    consequence: ["An opinion, not a measurement: it moves no evidence, no balance and no standing. At most three opinions a day change anything on one entry."],
    run: async (values) => {
      const made = await post(`/entries/${entry.id}/feedback`, values);
      return { told: made.reason ? `Taken down: ${made.reason}` : "Taken down.", undo: await undoOf(entry.id, ["feedback"], "Taken back.") };
    },
  });
}

export function abandon(ticket) {
  const reason = field("reason", "Why (for the record)", { wide: true, maxlength: 4000 });
  ask({
    title: "Abandon this ticket", says: ticket.query, doing: "Abandon", danger: true, fields: [reason], undoable: false,
    consequence: ["The ticket closes without an outcome: no information, which is not the same as zero. The entries that it names are let go."],
    run: async (values) => {
      await post(`/decisions/${ticket.id}/abandonment`, { reason: values.reason });
      return { told: "Abandoned." };
    },
  });
}

export function add({ scopes = [], defaultRetention = "earned" } = {}) {
  const list = `scopes-${++serial}`;
  const text = field("text", "What it says", { kind: "area", wide: true, required: true, maxlength: 100000, hint: "One self-contained memory. Somebody who reads nothing else should understand it." });
  const fields = [
    text,
    field("cue", "The question that it answers (optional)", { wide: true, maxlength: 4000 }),
    field("kind", "Kind", { kind: "select", value: "semantic", options: [["semantic", "semantic: a fact"], ["episodic", "episodic: an event"], ["procedural", "procedural: how to do it"]] }),
    field("retention", "What keeps it alive", { kind: "select", value: defaultRetention, options: [["earned", "earned: by its outcomes"], ["fading", "fading: unless recalled"], ["kept", "kept: for good"]] }),
    field("source", "Source", { maxlength: 500, value: "operator", hint: "Where it comes from." }),
    field("scope", "Scope", { maxlength: 500, list, hint: "Empty for the default scope." }),
  ];
  append(fields[5].node, [h("datalist", { id: list }, scopes.filter(Boolean).map((name) => h("option", { value: name })))]);
  ask({
    title: "Add an entry", doing: "Add", fields,
    consequence: ["A new entry starts with its stake and no evidence. If one of the same scope and kind says the same already, that one gains the source, and neither stake nor trust."],
    run: async (values) => {
      if (!values.text.trim()) throw new Error("The text is empty: write down what the entry says.");
      const made = await post("/entries", { text: values.text, cue: values.cue || null, kind: values.kind, retention: values.retention, sources: values.source ? [values.source] : [], scope: values.scope });
      const event = await lastEvent(made.id, ["add", "twin"]);
      const joined = event?.kind === "twin";
      return { told: joined ? `Already known: entry ${made.id} says the same.` : `Added: “${cut(made.text, 60)}”.`, undo: joined ? undefined : event && undoing(event.seq, "Buried again, as forgotten.") };
    },
  });
}

export function tick({ rent, payers, pending }) {
  ask({
    title: "Advance one tick", doing: "Advance one tick", danger: true, undoable: false,
    consequence: [
      rent > 0 ? `Rent of ${rent} energy falls due for each living earned entry (${plural(payers, "entry", "entries")} are alive), if anything was measured since the last tick. Who cannot pay dies.` : "No rent is charged by this store's settings.",
      `Old tickets expire without information; ${plural(pending, "ticket")} ${pending === 1 ? "is" : "are"} open. Time does not run backwards: restore the entries that died if need be.`,
    ],
    run: async () => {
      const made = await post("/ticks");
      return { told: `Tick ${made.tick}: ${plural(made.population, "entry", "entries")} alive, ${made.died.length} died, ${made.expired} expired.` };
    },
  });
}

export function settle(ticket, meters = []) {
  const list = `meters-${++serial}`;
  const fields = [
    field("delta", "Delta: what really changed", { required: true, inputmode: "text", hint: "Signed, in the meter's unit: 4096, -3, 0.5. Never a score." }),
    field("meter", "Meter", { required: true, value: "operator", list, maxlength: 100, hint: "Whose unit it is." }),
    field("acted", "Was anything done on the advice?", { kind: "select", value: "", options: [["", "not said"], ["yes", "yes"], ["no", "no"]] }),
    field("scale", "Size of an ordinary effect (optional)", { inputmode: "text", hint: "The meter's own unless given." }),
    field("detail", "Remark", { wide: true, maxlength: 4000 }),
  ];
  append(fields[1].node, [h("datalist", { id: list }, meters.map((meter) => h("option", { value: meter.name })))]);
  ask({
    title: "Settle this ticket by hand", says: ticket.query, doing: "Settle", danger: true, fields, undoable: false,
    consequence: [
      `You are typing this: it is recorded as ${who().operator ? "operator" : "claimed"}, not measured, and marked so everywhere, unless its meter was bound to this channel. It is bounded: it neither keeps an entry alive nor kills it by itself.`,
      ticket.holdout ? "Memory was withheld from this decision. Its outcome counts for the uplift, and moves nobody's energy." : "Credit or blame goes to the entries that shaped the answer. A ticket ends once.",
    ],
    run: async (values) => {
      const typed = values.delta.trim().replace("−", "-").replace(/,(?=\d{3}\b)/g, "");
      const body = { delta: Number(typed), meter: values.meter.trim() || "operator", detail: values.detail };
      if (!typed || !Number.isFinite(body.delta)) throw new Error(`“${cut(values.delta, 40)}” is no number: write for example 4096, -3 or 0.5.`);
      if (values.acted) body.acted = values.acted === "yes";
      if (values.scale.trim()) {
        body.scale = Number(values.scale);
        if (!(body.scale > 0 && Number.isFinite(body.scale))) throw new Error("The scale must be a positive number, or empty.");
      }
      const made = await post(`/decisions/${ticket.id}/settlement`, body);
      if (made.landed === false) throw new Error(made.reason);
      const ended = [made.suspended?.length && `${plural(made.suspended.length, "entry", "entries")} suspended`, made.buried?.length && `${plural(made.buried.length, "entry", "entries")} died`].filter(Boolean).join(", ");
      return { told: `Settled ${delta(made.delta ?? body.delta)} by ${made.meter ?? body.meter} (${made.tier ?? "operator"})${ended ? `; ${ended}` : ""}.` };
    },
  });
}

const ruleSaid = (rule) => (rule.trigger ? `when: ${rule.trigger}\n` : "") + rule.action;

export function verifyRule(rule, accept) {
  const reason = field("reason", "Why (for the record)", { wide: true, maxlength: 4000 });
  ask({
    title: accept ? "Accept this rule" : "Reject this rule", says: ruleSaid(rule), doing: accept ? "Accept" : "Reject", danger: !accept, fields: [reason],
    consequence: [accept ? "From now on it is shown to the agent wherever its trigger matches. You answer for it: the log says who accepted it, and over which channel." : "It is not shown to anybody any more, and stays rejected if it is proposed again.",
      ...(rule.status === "trial" ? ["Its trial ends by this, without a verdict."] : [])],
    run: async (values) => {
      await post(`/rules/${rule.id}/verification`, { accept, reason: values.reason });
      return { told: accept ? "Accepted." : "Rejected.", undo: await undoOf(rule.id, ["rule"], "As it was before.") };
    },
  });
}

export function tryRule(rule) {
  const most = field("decisions", "Settled decisions after which it ends unproven", { value: "1000", inputmode: "numeric", required: true, hint: "50 to 100,000." });
  ask({
    title: "Put this rule on trial", says: ruleSaid(rule), doing: "Begin the trial", fields: [most],
    consequence: ["It is shown in a random half of the decisions that it matches. What it has to reach is fixed now; measured outcomes then prove or reject it, without anybody's opinion."],
    run: async (values) => {
      const decisions = Number(values.decisions);
      if (!Number.isInteger(decisions)) throw new Error("How many decisions? Write a whole number from 50 to 100000.");
      await post(`/rules/${rule.id}/trial`, { decisions });
      return { told: "The trial has begun.", undo: await undoOf(rule.id, ["rule"], "Pending again.") };
    },
  });
}

export function proposeRule(scopes = []) {
  const list = `scopes-${++serial}`;
  const fields = [
    field("type", "Type", { kind: "select", value: "avoid", options: [["avoid", "avoid: do not do this"], ["prefer", "prefer: rather do this"], ["pattern", "pattern: a sign of something"], ["workflow", "workflow: steps in order"]] }),
    field("scope", "Scope", { maxlength: 500, list, hint: "Empty for the default scope." }),
    field("trigger", "When it applies", { wide: true, required: true, maxlength: 300, hint: "It is found by these words." }),
    field("action", "What to do then", { kind: "area", wide: true, required: true, maxlength: 600 }),
  ];
  append(fields[1].node, [h("datalist", { id: list }, scopes.filter(Boolean).map((name) => h("option", { value: name })))]);
  ask({
    title: "Propose a rule", doing: "Propose", fields,
    consequence: ["A proposed rule is pending: it is shown to nobody until a person accepts it, or a trial proves it."],
    run: async (values) => {
      const made = await post("/rules", values);
      const event = made.status === "pending" && await lastEvent(made.id, ["add"]);
      return { told: event ? "Proposed." : `A rule that says the same is there already; it is ${made.status}.`, undo: event ? undoing(event.seq, "Buried again, as forgotten.") : undefined };
    },
  });
}

export { announce, replace };

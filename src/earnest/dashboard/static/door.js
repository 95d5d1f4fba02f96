// Where a token is asked for. It stays in this tab and is sent to this service alone.

import { h, icon, problem } from "./dom.js";
import { keepToken, knowSession, Problem } from "./api.js";

export function door(error, enter) {
  const token = h("input", { class: "input", id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "token-hint" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const form = h("form", {},
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"), token,
      h("span", { class: "hint", id: "token-hint" }, "It is kept in this tab alone, until you close it.")),
    wrong, h("div", {}, h("button", { class: "button main", type: "submit" }, icon("key"), "Open")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    wrong.textContent = "";
    if (!/^[\x21-\x7e]+$/.test(token.value.trim())) {
      wrong.textContent = "A token is one word of plain letters, digits and signs.";
      return;
    }
    keepToken(token.value.trim());
    try {
      await knowSession();
      await enter();
    } catch (problem_) {
      keepToken("");
      wrong.textContent = problem_ instanceof Problem && problem_.status === 401 ? "That token is not known here. Make one with: earnest serve token" : problem_.message;
    }
  });
  return h("section", { class: "door sheet" },
    h("h1", {}, "This memory is locked"),
    error && error.status !== 401 ? problem(error) : h("p", { class: "lead" }, error ? error.message : "Open it with the link that `earnest ui` prints, or with a token of the service."),
    h("p", { class: "lead" }, "A link works once. Press Enter in the terminal where earnest ui runs for another one; for a service that somebody else runs, ask them for a token."),
    form);
}

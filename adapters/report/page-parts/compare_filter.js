/* The form in which a reader says which pairs to show. */

import { anyPair } from "./compare_rows.js";
import { element, visible } from "./dom.js";

const SEARCH_PAUSE = 120;
const CHANGES = [["", "any"], ["changed", "another answer"], ["same", "the same answer"], ["missing", "no verdict in A or B"]];
const RIGHTS = [["", "any"], ["a", "only A right"], ["b", "only B right"], ["both", "both right"], ["none", "both wrong"]];
const ORDERS = [["", "changed first"], ["distance", "furthest moved first"], ["place", "place in A"]];

export class PairFilterBar {
  /** `changed` is called with the filter whenever the reader changes it. */
  constructor({ rows, changed }) {
    Object.assign(this, { rows, changed, filter: anyPair() });
    this.fields = {
      search: this.search(),
      question: this.choice("question", "Question", [["", "any question"], ...rows.questions.map(({ id }) => [id, id])]),
      change: this.choice("change", "Change", CHANGES),
      from: this.choice("from", "Answer of A", []),
      to: this.choice("to", "Answer of B", []),
      ...(rows.labelled ? { right: this.choice("right", "Labels", RIGHTS) } : {}),
      sort: this.choice("sort", "Order", ORDERS),
    };
    this.status = element("p.status", { role: "status", "aria-live": "polite" });
    this.element = element(
      "form.filters.no-print",
      { role: "search", "aria-label": "Rows", onsubmit: (event) => event.preventDefault() },
      Object.values(this.fields).map(({ label }) => label),
      element("button", { type: "button", onclick: () => this.set(anyPair({ sort: this.filter.sort })) }, "Clear"),
    );
  }

  /** Show a filter in the form, without calling `changed`. */
  show(filter) {
    this.filter = filter;
    const asked = this.rows.questions.filter(({ id }) => !filter.question || id === filter.question);
    const options = [...new Map(asked.flatMap((question) => question.options.map(({ option, name }) => [option, name])))];
    for (const name of ["from", "to"]) fillPairs(this.fields[name].input, [["", "any"], ...options]);
    for (const [name, { input }] of Object.entries(this.fields)) {
      if (input.value !== filter[name]) input.value = filter[name];
    }
  }

  /** Say how many pairs are shown. */
  tell(text) {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  set(filter) {
    this.show(filter);
    this.changed(filter);
  }

  search() {
    const typed = () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.take("search", input.value), SEARCH_PAUSE);
    };
    const input = element("input", { type: "search", name: "search", placeholder: "words in id and text", autocomplete: "off", spellcheck: "false", oninput: typed });
    return { input, label: element("label.grow", {}, "Search", input) };
  }

  choice(name, title, options) {
    const input = element("select", { name, onchange: () => this.take(name, input.value) });
    fillPairs(input, options);
    return { input, label: element("label", {}, title, input) };
  }

  take(name, value) {
    // Options belong to a question: with another one they mean nothing.
    const changes = name === "question" ? { question: value, from: "", to: "" } : { [name]: value };
    this.set({ ...this.filter, ...changes });
  }
}

function fillPairs(select, options) {
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, visible(text))));
}

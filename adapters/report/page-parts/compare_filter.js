/* The form in which a reader says which pairs to show. */

import { anyPair } from "./compare_rows.js";
import { element, visible } from "./dom.js";

const SEARCH_PAUSE = 120;
const CHANGES = [
  ["", "any"],
  ["changed", "another answer"],
  ["same", "the same answer"],
  ["missing", "no verdict in A or B"],
];
const RIGHTS = [
  ["", "any"],
  ["a", "only A right"],
  ["b", "only B right"],
  ["both", "both right"],
  ["none", "both wrong"],
];
const ORDERS = [
  ["", "changed first"],
  ["distance", "furthest moved first"],
  ["place", "place in A"],
];

export class PairFilterBar {
  /** `changed` is called with the filter whenever the reader changes it. */
  constructor({ rows, changed }) {
    Object.assign(this, { rows, changed, filter: anyPair() });
    this.fields = this.made();
    this.status = element("p.status", { role: "status", "aria-live": "polite" });
    const { search, ...more } = this.fields;
    const clear = () => this.set(anyPair({ sort: this.filter.sort }));
    this.more = element(
      "div.more",
      { id: "more-filters" },
      Object.values(more).map(({ box }) => box),
      element("button", { type: "button", onclick: clear }, "Clear"),
    );
    // Where there is room the toggle is not shown, and all fields are.
    this.toggle = element(
      "button.toggle",
      {
        type: "button",
        "aria-controls": "more-filters",
        "aria-expanded": "false",
        onclick: () => this.unfold(),
      },
      "Filter, sort",
    );
    this.element = element(
      "form.filters.no-print",
      { role: "search", "aria-label": "Rows", onsubmit: (event) => event.preventDefault() },
      search.box,
      this.toggle,
      this.more,
    );
  }

  made() {
    const { questions, labelled } = this.rows;
    const asked = [["", "any question"], ...questions.map(({ id }) => [id, id])];
    return {
      search: this.search(),
      question: this.choice("question", "Question", asked),
      change: this.choice("change", "Change", CHANGES),
      from: this.choice("from", "Answer of A", []),
      to: this.choice("to", "Answer of B", []),
      ...(labelled ? { right: this.choice("right", "Labels", RIGHTS) } : {}),
      sort: this.choice("sort", "Order", ORDERS),
    };
  }

  unfold() {
    this.toggle.setAttribute("aria-expanded", String(this.more.classList.toggle("open")));
  }

  /** Show a filter in the form, without calling `changed`. */
  show(filter) {
    this.filter = filter;
    const asked = this.rows.questions.filter(
      ({ id }) => !filter.question || id === filter.question,
    );
    const options = [
      ...new Map(
        asked.flatMap((question) => question.options.map(({ option, name }) => [option, name])),
      ),
    ];
    for (const name of ["from", "to"])
      fillPairs(this.fields[name].input, [["", "any"], ...options]);
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
    const input = element("input", {
      type: "search",
      name: "search",
      id: "pair-search",
      placeholder: "words in id and text",
      autocomplete: "off",
      spellcheck: "false",
      oninput: typed,
    });
    return pairField("Search", input, ".grow");
  }

  choice(name, title, options) {
    const take = () => this.take(name, input.value);
    const input = element("select", { name, id: `pair-${name}`, onchange: take });
    fillPairs(input, options);
    return pairField(title, input);
  }

  take(name, value) {
    // Options belong to a question: with another one they mean nothing.
    const changes = name === "question" ? { question: value, from: "", to: "" } : { [name]: value };
    this.set({ ...this.filter, ...changes });
  }
}

function fillPairs(select, options) {
  select.replaceChildren(
    ...options.map(([value, text]) => element("option", { value }, visible(text))),
  );
}

function pairField(title, input, classes = "") {
  const label = element("label", { for: input.id }, title);
  return { input, box: element(`div.field${classes}`, {}, label, input) };
}

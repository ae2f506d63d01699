/* A form in which a reader says what a table shows; its fields are those of the page. */

import { element, visible } from "./dom.js";

const TYPING_PAUSE = 120;

/**
 * What extends it has `made()`, which returns its fields by the names they have in a filter, with
 * one of them "search"; `refill()`, which offers the options of the questions that are sought; and
 * `cleared()`, the filter that "Clear" sets.
 */
export class FilterForm {
  /**
   * `changed` is called with the filter whenever the reader changes it; `ofQuestion` names the
   * fields whose options belong to a question.
   */
  constructor({ rows, filters, ofQuestion, changed }) {
    Object.assign(this, { rows, filters, ofQuestion, changed, filter: filters.everything() });
    this.fields = this.made();
    this.status = element("p.status", { role: "status", "aria-live": "polite" });
    const { search, ...more } = this.fields;
    this.more = element(
      "div.more",
      { id: "more-filters" },
      Object.values(more).map(({ box }) => box),
      element("button", { type: "button", onclick: () => this.set(this.cleared()) }, "Clear"),
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

  unfold() {
    this.toggle.setAttribute("aria-expanded", String(this.more.classList.toggle("open")));
  }

  /** Show a filter in the form, without calling `changed`. */
  show(filter) {
    this.filter = filter;
    this.refill();
    for (const [name, { input }] of Object.entries(this.fields)) {
      const value = String(filter[name] ?? "");
      if (input.value !== value) input.value = value;
    }
  }

  /** Say how many rows are shown. */
  tell(text) {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  set(filter) {
    this.show(filter);
    this.changed(filter);
  }

  search(hint) {
    const typed = () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.take("search", input.value), TYPING_PAUSE);
    };
    const input = element("input", {
      type: "search",
      placeholder: hint,
      autocomplete: "off",
      spellcheck: "false",
      oninput: typed,
    });
    return field("search", "Search", input, ".grow");
  }

  choice(name, title, options) {
    const input = element("select", { onchange: () => this.take(name, input.value) });
    fill(input, options);
    return field(name, title, input);
  }

  /** Return the choice of the question that is meant. */
  questions() {
    const named = this.rows.questions.map(({ id }) => [id, id]);
    return this.choice("question", "Question", [["", "any question"], ...named]);
  }

  number(name, title) {
    const input = element("input", {
      type: "number",
      min: 0,
      max: 1,
      step: 0.05,
      inputmode: "decimal",
      oninput: () => this.take(name, input.value),
    });
    return field(name, title, input);
  }

  take(name, text) {
    const changes = { [name]: this.filters.value(name, text) };
    // Options belong to a question: with another one they mean nothing.
    if (name === "question") for (const other of this.ofQuestion) changes[other] = "";
    this.set({ ...this.filter, ...changes });
  }

  /** Return the options of the question that is chosen, of all where none is, with their names. */
  options() {
    const asked = this.rows.asked(this.filter);
    const named = asked.flatMap(({ options }) => options.map(({ option, name }) => [option, name]));
    return [...new Map(named)];
  }

  /** Offer these values, with their names, in the field of that name if the form has it. */
  offer(name, options) {
    if (this.fields[name]) fill(this.fields[name].input, options);
  }
}

function field(name, title, input, classes = "") {
  input.id = `filter-${name}`;
  const label = element("label", { for: input.id }, title);
  return { input, box: element(`div.field${classes}`, {}, label, input) };
}

function fill(select, options) {
  select.replaceChildren(
    ...options.map(([value, text]) => element("option", { value }, visible(text))),
  );
}

/* The form in which a reader says which rows to show and in what order. */

import { element, visible } from "./dom.js";
import { everything } from "./filter.js";
import { words } from "./numbers.js";

const TYPING_PAUSE = 120;

export class FilterBar {
  /** `changed` is called with the filter whenever the reader changes it. */
  constructor({ overview, rows, changed }) {
    Object.assign(this, { overview, rows, changed, filter: everything() });
    this.fields = this.made();
    this.status = element("p.status", { role: "status", "aria-live": "polite" });
    const { search, ...more } = this.fields;
    const clear = () =>
      this.set(everything({ sort: this.filter.sort, descending: this.filter.descending }));
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

  unfold() {
    this.toggle.setAttribute("aria-expanded", String(this.more.classList.toggle("open")));
  }

  /** Show a filter in the form, without calling `changed`. */
  show(filter) {
    this.filter = filter;
    this.fillAnswers();
    for (const [name, { input }] of Object.entries(this.fields)) {
      const value = name === "descending" ? String(filter.descending) : (filter[name] ?? "");
      if (input.value !== String(value)) input.value = value;
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

  made() {
    const { questions, flags } = this.overview;
    const labelled = questions.some((question) => question.labelled > 0);
    return {
      search: this.search(),
      question: this.choice("question", "Question", [
        ["", "any question"],
        ...questions.map(({ id }) => [id, id]),
      ]),
      answer: this.choice("answer", "Answer", []),
      ...(labelled
        ? {
            agreement: this.choice("agreement", "Labels", [
              ["", "any"],
              ["disagrees", "disagrees"],
              ["agrees", "agrees"],
              ["unlabelled", "no label"],
            ]),
            label: this.choice("label", "People said", []),
          }
        : {}),
      from: this.number("from", "Confidence from"),
      to: this.number("to", "to"),
      flag: this.choice("flag", "Flag", [["", "any"], ...flags.map((flag) => [flag, flag])]),
      outcome: this.choice("outcome", "Outcome", [
        ["", "any"],
        ["answered", "answered"],
        ["failed", "failed"],
        ["warned", "with a warning"],
      ]),
      sort: this.choice("sort", "Sort by", this.sorts(labelled)),
      descending: this.choice("descending", "Order", [
        ["false", "ascending"],
        ["true", "descending"],
      ]),
    };
  }

  sorts(labelled) {
    const kinds = [
      ["answer", "answer"],
      ["confidence", "confidence"],
      ...(labelled
        ? [
            ["label", "label"],
            ["disagreement", "distance from the label"],
          ]
        : []),
    ];
    const each = this.overview.questions.flatMap(({ id }, index) =>
      kinds.map(([kind, name]) => [`${kind}:${index}`, `${id}: ${name}`]),
    );
    return [
      ["", "place in the file"],
      ["id", "id"],
      ["text", "text"],
      ...each,
      ["flags", "number of flags"],
      ["time", "time taken"],
    ];
  }

  search() {
    const typed = () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.take("search", input.value), TYPING_PAUSE);
    };
    const input = element("input", {
      type: "search",
      placeholder: "words in id, text, answers",
      autocomplete: "off",
      spellcheck: "false",
      oninput: typed,
    });
    return field("search", "Search", input, ".grow");
  }

  choice(name, title, options) {
    const input = element("select", {
      onchange: () => this.take(name, name === "descending" ? input.value === "true" : input.value),
    });
    fill(input, options);
    return field(name, title, input);
  }

  number(name, title) {
    const input = element("input", {
      type: "number",
      min: 0,
      max: 1,
      step: 0.05,
      inputmode: "decimal",
      oninput: () => this.take(name, input.value === "" ? null : Number(input.value)),
    });
    return field(name, title, input);
  }

  take(name, value) {
    const changes = { [name]: value };
    // Options belong to a question: with another one they mean nothing.
    if (name === "question") Object.assign(changes, { answer: "", label: "" });
    this.set({ ...this.filter, ...changes });
  }

  /** Offer the options of the question that is chosen, of all where none is. */
  fillAnswers() {
    const asked = this.overview.questions.filter(
      ({ id }) => !this.filter.question || id === this.filter.question,
    );
    const options = new Map(
      asked.flatMap(({ options: each }) => each.map(({ option, name }) => [option, name])),
    );
    const causes = new Set(asked.flatMap(({ no_verdicts }) => Object.keys(no_verdicts)));
    const answers = [
      ...[...options].map(([option, name]) => [`option:${option}`, name]),
      ...[...causes].map((cause) => [`no verdict:${cause}`, `no verdict: ${words(cause)}`]),
      ...(this.overview.errors.length ? [["failed:", "no answer: the row failed"]] : []),
    ];
    fill(this.fields.answer.input, [["", "any"], ...answers]);
    if (this.fields.label) fill(this.fields.label.input, [["", "anything"], ...options]);
  }
}

function field(name, title, input, classes = "") {
  input.id = `filter-${name}`;
  return {
    input,
    box: element(`div.field${classes}`, {}, element("label", { for: input.id }, title), input),
  };
}

function fill(select, options) {
  select.replaceChildren(
    ...options.map(([value, text]) => element("option", { value }, visible(text))),
  );
}

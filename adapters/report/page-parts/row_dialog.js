/* One row, opened beside the table: its text, every answer with its bars and its evidence. */

import { answerBars } from "./answer_bars.js";
import { flagLines, judged, labelNames, reasonOf } from "./answer_parts.js";
import { element, shown, visible } from "./dom.js";
import { definitions, evidenceOf, tokensUsed } from "./evidence.js";
import { count } from "./numbers.js";

export class RowDialog {
  /**
   * `detail` gives (a promise of) what is kept of a row, `step` is called with -1 or 1 for the row
   * before or after, `closed` when the reader is done.
   */
  constructor({ rows, detail, step, closed }) {
    Object.assign(this, { rows, detail, step });
    this.title = element("h2", { id: "row-title", tabindex: -1 });
    this.place = element("p.soft.number");
    this.content = element("div.row-content");
    this.element = element(
      "dialog.row",
      {
        "aria-labelledby": "row-title",
        onclose: closed,
        onkeydown: (event) => this.onKey(event),
        onclick: (event) => this.onClick(event),
      },
      element(
        "div.row-head",
        {},
        element("div", {}, this.title, this.place),
        button("Previous row", "←", () => step(-1)),
        button("Next row", "→", () => step(1)),
        button("Close", "✕", () => this.element.close()),
      ),
      this.content,
    );
  }

  get isOpen() {
    return this.element.open;
  }

  /** Show a row; position and total say where it is among those that are listed. */
  async show(row, position, total) {
    this.row = row;
    this.title.replaceChildren(visible(this.rows.columns.ids[row]));
    this.place.textContent =
      position < 0
        ? "not among the rows listed"
        : `row ${count(position + 1)} of ${count(total)} listed`;
    if (!this.element.open) this.element.showModal();
    this.title.focus();
    const detail = await this.detail(row);
    // Another row may have been asked for meanwhile.
    if (this.row !== row) return;
    this.content.replaceChildren(...this.parts(row, detail));
    this.element.scrollTop = 0;
  }

  parts(row, detail) {
    const answers = Object.entries(detail.answers);
    return [
      detail.error && shown("p.alert.bad", `${detail.error.type}: ${detail.error.message}`),
      ...(detail.warnings ?? []).map((warning) => shown("p.alert", warning)),
      ...Object.entries(detail.label_problems ?? {}).map(([name, problem]) =>
        shown("p.alert", `The label of ${name} ${problem}`),
      ),
      this.state(row, detail),
      ...answers.map(([id, answer]) => this.answer(id, answer, row, detail.labels?.[id])),
      facts(detail),
    ].filter(Boolean);
  }

  state(row, { state, left_out: leftOut }) {
    if (leftOut) return element("p.soft", {}, "The text that was judged was not kept.");
    const text = state === undefined ? this.rows.text(row) : JSON.stringify(state, null, 2);
    if (text === "") return element("p.soft", {}, "An empty text was judged.");
    return judged(text, "What was judged");
  }

  answer(id, answer, row, labels) {
    const question = this.rows.questions.find((each) => each.id === id);
    return element(
      "section.answer",
      {},
      element(
        "div.answer-head",
        {},
        shown("h3", id),
        shown(answer.message ? "p.warn" : "p.verdict", answer.verdict),
        labelled(this.rows, question, row, labels),
      ),
      answer.message && shown("p", answer.message),
      ...flagLines(answer),
      answer.bars && answerBars(answer.bars, { label: visible(id) }),
      shown("p.soft", answer.facts.join(" · ")),
      reasonOf(answer, "Reason"),
      answer.evidence && evidenceOf(answer.evidence),
    );
  }

  onClick(event) {
    // Outside of the panel there is only the backdrop, which belongs to the dialog.
    if (event.target !== this.element) return;
    const { left, right } = this.element.getBoundingClientRect();
    if (event.clientX < left || event.clientX > right) this.element.close();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
  }
}

function button(name, sign, press) {
  return element(
    "button",
    { type: "button", "aria-label": name, title: name, onclick: press },
    sign,
  );
}

function labelled(rows, question, row, labels) {
  if (!labels) return null;
  const agrees = rows.agrees(question, row);
  const mark = agrees === null ? "" : agrees ? "✓ " : "✗ ";
  return shown(
    `p.label${agrees === null ? "" : agrees ? ".good" : ".bad"}`,
    `${mark}people: ${labelNames(question, labels)}`,
  );
}

function facts(detail) {
  return element(
    "details.evidence",
    {},
    element("summary", {}, "The row"),
    definitions([
      ["Place in the input", detail.index],
      ["Model that answered", detail.model],
      ["Tokens", tokensUsed(detail.usage)],
      ["Requests", detail.attempts],
      ["Seconds", detail.seconds],
      ["Response", detail.response],
      ["HTTP status", detail.error?.status],
      ["Provider's code", detail.error?.code],
      [
        "May succeed later",
        detail.error?.retryable === undefined ? undefined : detail.error.retryable ? "yes" : "no",
      ],
    ]),
  );
}

/*
 * The rows of a page: what columns.py made, with names in place of numbers; which rows a filter
 * keeps, and in what order. It knows nothing of the document.
 */

import { TableRows, wordsOf } from "./table_rows.js";

const NO_ANSWER = -1;
const FIRST_CAUSE = -2;
const DIFFERENT = -2;

export class Rows extends TableRows {
  constructor(overview, columns) {
    super(overview, columns);
    for (const question of this.questions)
      question.places = new Map(question.options.map(({ option }, place) => [option, place]));
  }

  /** Return the name of the error that a row failed with, null if it did not. */
  error(row) {
    const index = this.columns.errors[row];
    return index < 0 ? null : this.overview.error_types[index];
  }

  /** Return what was answered: { option, cause } of which one or both are null. */
  answer(question, row) {
    const code = question.codes[row];
    if (code === NO_ANSWER) return { option: null, cause: null };
    if (code <= FIRST_CAUSE)
      return { option: null, cause: this.overview.causes[FIRST_CAUSE - code] };
    return { option: question.options[code], cause: null };
  }

  /** Return the greatest probability of an answer, null where there is none. */
  confidence(question, row) {
    const confidence = question.confidences[row];
    return confidence < 0 ? null : confidence / 10000;
  }

  /** Return a score, or P(true); null where there is none. */
  value(question, row) {
    const value = question.values?.[row] ?? -1;
    return value < 0 ? null : value / (question.type === "score" ? 1000 : 10000);
  }

  /** Return what people said: an option's name, null, or that they differ. */
  label(question, row) {
    const code = question.labels[row];
    if (code === DIFFERENT) return "differ";
    if (code < 0) return null;
    if (question.type !== "score") return question.options[code].name;
    return question.options[code / 100]?.name ?? (code / 100).toFixed(2);
  }

  /** Return whether answer and label are the same option; null where one is missing. */
  agrees(question, row) {
    const [code, label] = [question.codes[row], question.labels[row]];
    if (code < 0 || label < 0) return null;
    if (question.type !== "score") return code === label;
    return label % 100 === 0 ? code === label / 100 : null;
  }

  /** Return the names of the flags that any answer of a row has. */
  flags(row) {
    let bits = 0;
    for (const { flags } of this.questions) bits |= flags[row];
    return this.overview.flags.filter((_, place) => bits & (1 << place));
  }

  /** Return the rows that a filter keeps, in order. */
  matching(filter) {
    const tests = this.tests(filter);
    const kept = new Uint32Array(this.length);
    let count = 0;
    for (let row = 0; row < this.length; row += 1) {
      if (tests.every((test) => test(row))) kept[count++] = row;
    }
    return this.sorted(kept.subarray(0, count), filter.sort, filter.descending);
  }

  tests(filter) {
    const { errors, warned } = this.columns;
    const tests = [];
    if (filter.outcome === "answered") tests.push((row) => errors[row] < 0);
    if (filter.outcome === "failed") tests.push((row) => errors[row] >= 0);
    if (filter.outcome === "warned") tests.push((row) => warned[row] > 0);
    const ofAnswers = this.answerTests(filter);
    const asked = this.asked(filter);
    // One answer must pass them all, not one answer this test and another one that.
    const passes = (row) => (question) => ofAnswers.every((test) => test(question, row));
    if (ofAnswers.length) tests.push((row) => asked.some(passes(row)));
    // The dearest test comes last, so that it sees the fewest rows.
    const words = wordsOf(filter.search);
    if (words.length) tests.push(this.textTest(words));
    return tests;
  }

  answerTests({ answer, label, agreement, flag, from, to }) {
    const { causes, flags } = this.overview;
    const tests = [];
    if (answer)
      tests.push((question, row) => question.codes[row] === codeOf(question, causes, answer));
    if (label) tests.push((question, row) => question.labels[row] === labelOf(question, label));
    const wanted = { agrees: true, disagrees: false }[agreement];
    if (wanted !== undefined) tests.push((question, row) => this.agrees(question, row) === wanted);
    if (agreement === "unlabelled") tests.push(({ labels }, row) => labels[row] === -1);
    const bit = 1 << flags.indexOf(flag);
    if (flag) tests.push((question, row) => (question.flags[row] & bit) !== 0);
    const [least, most] = [(from ?? 0) * 10000, (to ?? 1) * 10000];
    if (from !== null || to !== null) {
      tests.push(
        ({ confidences }, row) =>
          confidences[row] >= 0 && confidences[row] >= least && confidences[row] <= most,
      );
    }
    return tests;
  }

  /** Every word must be in the row's id, its text or the names of its answers. */
  textTest(words) {
    const texts = this.foldedTexts();
    const named = words.map((word) =>
      this.questions.map(
        ({ options }) =>
          new Set(
            options.flatMap(({ name }, place) =>
              name.toLowerCase().includes(word) ? [place] : [],
            ),
          ),
      ),
    );
    return (row) =>
      words.every(
        (word, index) =>
          texts[row].includes(word) ||
          this.questions.some(({ codes }, question) => named[index][question].has(codes[row])),
      );
  }

  sorted(rows, sort, descending) {
    const keys = this.sortKeys(sort);
    if (keys === null) return descending ? rows.reverse() : rows;
    const sign = descending ? -1 : 1;
    // Rows without a value come last whichever way; equal ones stay in the file's order.
    return rows.sort((a, b) => {
      const [x, y] = [keys[a], keys[b]];
      if (x === y) return a - b;
      if (x < 0 || y < 0) return x < 0 ? 1 : -1;
      return x < y ? -sign : sign;
    });
  }

  /** Return a number per row to sort by, below 0 where it has none; null for the file's order. */
  sortKeys(sort) {
    const [what, id] = sort.split(":");
    if (what === "id") return this.ranks("ids");
    if (what === "text") return this.ranks("texts");
    if (what === "time") return this.columns.milliseconds;
    if (what === "flags") return this.columns.ids.map((_, row) => this.flags(row).length);
    const question = this.questions[Number(id)];
    if (!question) return null;
    if (what === "confidence") return question.confidences;
    if (what === "disagreement") return question.losses;
    if (what === "label") return question.labels;
    return question.values ?? question.codes;
  }

  /** Return each row's place in the order of a column of texts, numbers in them by their size. */
  ranks(column) {
    this.placed ??= {};
    this.placed[column] ??= ranks(this.columns[column]);
    return this.placed[column];
  }

  /** Return the labelled rows of a question that are furthest from their labels, worst first. */
  worst(question, count) {
    const index = this.questions.indexOf(question);
    const wrong = [];
    for (let row = 0; row < this.length; row += 1) {
      if (this.agrees(question, row) === false) wrong.push(row);
    }
    return this.sorted(Uint32Array.from(wrong), `disagreement:${index}`, true).subarray(0, count);
  }
}

/** Return the code of an answer that a filter names: an option, or "no verdict:" and a cause. */
function codeOf(question, causes, answer) {
  if (answer === "failed:") return NO_ANSWER;
  if (answer.startsWith("no verdict:")) return FIRST_CAUSE - causes.indexOf(answer.slice(11));
  return question.places.get(answer.slice(7)) ?? NaN;
}

function labelOf(question, label) {
  const place = question.places.get(label) ?? NaN;
  return question.type === "score" ? place * 100 : place;
}

function ranks(values) {
  const order = values.map((_, row) => row);
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  order.sort((a, b) => compare(values[a], values[b]) || a - b);
  const places = new Uint32Array(values.length);
  order.forEach((row, place) => {
    places[row] = place;
  });
  return places;
}

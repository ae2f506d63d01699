/*
 * Pairs of rows: what compare_rows.py made, which of them a filter keeps, and in what order.
 * It knows nothing of the document.
 */

import { TableRows, wordsOf } from "./table_rows.js";

const FIRST_CAUSE = -2;

export class PairRows extends TableRows {
  constructor(overview, columns) {
    super(overview, columns);
    this.labelled = this.questions.some(({ labels }) => labels.some((label) => label !== -1));
  }

  /** Return a side's answer: { name, cause } of which one is null. */
  answer(question, side, row) {
    const code = question[side][row];
    if (code >= 0) return { name: question.options[code].name, cause: null };
    return { name: null, cause: question.causes[side][FIRST_CAUSE - code] };
  }

  /** Return whether the answers differ; null where a side has no verdict. */
  changed(question, row) {
    const [a, b] = [question.a[row], question.b[row]];
    return a < 0 || b < 0 ? null : a !== b;
  }

  /** Return the total variation of the two distributions, null where one is missing. */
  distance(question, row) {
    const distance = question.distances[row];
    return distance < 0 ? null : distance / 10000;
  }

  /** Return whether a side's answer is the label; null where one of them is missing. */
  right(question, side, row) {
    const [code, label] = [question[side][row], question.labels[row]];
    return code < 0 || label < 0 ? null : code === label;
  }

  /** Return how often each answer of A met each answer of B. */
  table(question) {
    const counts = question.options.map(() => question.options.map(() => 0));
    for (let row = 0; row < this.length; row += 1) {
      if (this.changed(question, row) !== null) counts[question.a[row]][question.b[row]] += 1;
    }
    return counts;
  }

  /** Return the pairs that a filter keeps: those with changed answers first, unless it says. */
  matching(filter) {
    const asked = this.asked(filter);
    const tests = this.pairTests(filter, asked);
    const kept = [];
    for (let row = 0; row < this.length; row += 1) {
      if (tests.every((test) => test(row))) kept.push(row);
    }
    if (filter.sort === "place") return kept;
    const keys = this.pairKeys(filter.sort, asked);
    return kept.sort((a, b) => keys[b] - keys[a] || a - b);
  }

  pairTests(filter, asked) {
    const some = (test) => (row) => asked.some((question) => test(question, row));
    const tests = [];
    if (filter.change === "changed")
      tests.push(some((question, row) => this.changed(question, row) === true));
    if (filter.change === "same")
      tests.push((row) => asked.every((question) => this.changed(question, row) === false));
    if (filter.change === "missing")
      tests.push(some((question, row) => this.changed(question, row) === null));
    for (const [side, option] of [
      ["a", filter.from],
      ["b", filter.to],
    ]) {
      if (option)
        tests.push(
          some((question, row) => question.options[question[side][row]]?.option === option),
        );
    }
    const wanted = { a: [true, false], b: [false, true], both: [true, true], none: [false, false] }[
      filter.right
    ];
    if (wanted) {
      tests.push(
        some(
          (question, row) =>
            this.right(question, "a", row) === wanted[0] &&
            this.right(question, "b", row) === wanted[1],
        ),
      );
    }
    // The dearest test comes last, so that it sees the fewest rows.
    const words = wordsOf(filter.search);
    const texts = words.length ? this.foldedTexts() : [];
    if (words.length) tests.push((row) => words.every((word) => texts[row].includes(word)));
    return tests;
  }

  /** Return a number per pair, the greatest to come first. */
  pairKeys(sort, asked) {
    const keys = new Float64Array(this.length);
    for (let row = 0; row < this.length; row += 1) {
      for (const question of asked) {
        const moved =
          (this.distance(question, row) ?? 0) +
          (sort === "" && this.changed(question, row) ? 2 : 0);
        keys[row] = Math.max(keys[row], moved);
      }
    }
    return keys;
  }
}

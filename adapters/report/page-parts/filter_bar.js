/* The form in which a reader says which rows to show and in what order. */

import { rowFilters } from "./filter.js";
import { FilterForm } from "./filter_form.js";
import { words } from "./numbers.js";

export class FilterBar extends FilterForm {
  constructor({ rows, changed }) {
    super({ rows, changed, filters: rowFilters, ofQuestion: ["answer", "label"] });
  }

  made() {
    const labelled = this.rows.questions.some((question) => question.labelled > 0);
    return {
      search: this.search("words in id, text, answers"),
      question: this.questions(),
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
      flag: this.choice("flag", "Flag", [
        ["", "any"],
        ...this.rows.overview.flags.map((flag) => [flag, flag]),
      ]),
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
    const each = this.rows.questions.flatMap(({ id }, index) =>
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

  cleared() {
    const { sort, descending } = this.filter;
    return rowFilters.everything({ sort, descending });
  }

  refill() {
    const options = this.options();
    const asked = this.rows.asked(this.filter);
    const causes = new Set(asked.flatMap(({ no_verdicts }) => Object.keys(no_verdicts)));
    const failed = this.rows.overview.errors.length > 0;
    this.offer("answer", [
      ["", "any"],
      ...options.map(([option, name]) => [`option:${option}`, name]),
      ...[...causes].map((cause) => [`no verdict:${cause}`, `no verdict: ${words(cause)}`]),
      ...(failed ? [["failed:", "no answer: the row failed"]] : []),
    ]);
    this.offer("label", [["", "anything"], ...options]);
  }
}

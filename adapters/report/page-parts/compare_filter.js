/* The form in which a reader says which pairs to show. */

import { pairFilters } from "./filter.js";
import { FilterForm } from "./filter_form.js";

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

export class PairFilterBar extends FilterForm {
  constructor({ rows, changed }) {
    super({ rows, changed, filters: pairFilters, ofQuestion: ["from", "to"] });
  }

  made() {
    return {
      search: this.search("words in id and text"),
      question: this.questions(),
      change: this.choice("change", "Change", CHANGES),
      from: this.choice("from", "Answer of A", []),
      to: this.choice("to", "Answer of B", []),
      ...(this.rows.labelled ? { right: this.choice("right", "Labels", RIGHTS) } : {}),
      sort: this.choice("sort", "Order", ORDERS),
    };
  }

  cleared() {
    return pairFilters.everything({ sort: this.filter.sort });
  }

  refill() {
    const options = [["", "any"], ...this.options()];
    for (const side of ["from", "to"]) this.offer(side, options);
  }
}

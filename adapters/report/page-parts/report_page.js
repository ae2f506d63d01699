/* The page about results: head, questions, and the table of rows with its filter. */

import { FilterBar } from "./filter_bar.js";
import { narrows, rowFilters } from "./filter.js";
import { Grid } from "./grid.js";
import { count } from "./numbers.js";
import { overviewHead } from "./overview.js";
import { questionSection } from "./question_section.js";
import { rowCell, rowColumns } from "./row_cells.js";
import { RowDialog } from "./row_dialog.js";
import { Rows } from "./rows.js";
import { TablePage } from "./table_page.js";

export class ReportPage extends TablePage {
  get filters() {
    return rowFilters;
  }

  makeRows(overview, columns) {
    return new Rows(overview, columns);
  }

  head(overview) {
    return overviewHead(overview);
  }

  section(question) {
    return questionSection(question, this.rows, {
      find: (changes) => this.find(changes),
      open: (row) => this.open(row),
    });
  }

  makeGrid() {
    const { rows } = this;
    return new Grid({
      label: "Rows",
      columns: rowColumns(rows),
      // On a phone the answers stand below the text, three in a line.
      lines: Math.min(3, Math.ceil(rows.questions.length / 3)),
      cell: (row, key) => rowCell(rows, row, key),
      open: (row) => this.open(row),
      sort: (key) => this.sortBy(key),
    });
  }

  makeBar() {
    return new FilterBar({ rows: this.rows, changed: (filter) => this.take(filter) });
  }

  makeDialog(given) {
    return new RowDialog(given);
  }

  apply() {
    super.apply();
    this.grid.markSorted(this.filter.sort, !this.filter.descending);
  }

  shownCount() {
    const all = count(this.rows.length);
    return narrows(this.filter) ? `${count(this.shown.length)} of ${all} rows` : `${all} rows`;
  }

  sortBy(key) {
    const { sort, descending } = this.filter;
    const again = sort === key;
    this.bar.set({
      ...this.filter,
      sort: again && descending ? "" : key,
      descending: again && !descending,
    });
  }
}

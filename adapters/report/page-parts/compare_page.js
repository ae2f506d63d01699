/* The page about two runs: head, questions, and the table of pairs with its filter. */

import { pairCell, pairColumns } from "./compare_cells.js";
import { PairDialog } from "./compare_dialog.js";
import { pairSection } from "./compare_figures.js";
import { PairFilterBar } from "./compare_filter.js";
import { pairHead } from "./compare_overview.js";
import { PairRows } from "./compare_rows.js";
import { pairFilters } from "./filter.js";
import { Grid } from "./grid.js";
import { count, counted } from "./numbers.js";
import { TablePage } from "./table_page.js";

export class ComparePage extends TablePage {
  get filters() {
    return pairFilters;
  }

  makeRows(overview, columns) {
    return new PairRows(overview, columns);
  }

  head(overview) {
    return pairHead(overview);
  }

  section(question) {
    return pairSection(question, this.rows, (changes) => this.find(changes));
  }

  makeGrid() {
    const { rows } = this;
    return new Grid({
      label: "Pairs of rows",
      columns: pairColumns(rows),
      // On a phone every question has a line of its own below the text.
      lines: Math.min(3, rows.questions.length),
      cell: (row, key) => pairCell(rows, row, key),
      open: (row) => this.open(row),
    });
  }

  makeBar() {
    return new PairFilterBar({ rows: this.rows, changed: (filter) => this.take(filter) });
  }

  makeDialog(given) {
    return new PairDialog(given);
  }

  shownCount() {
    const [some, all] = [this.shown.length, this.rows.length];
    return some < all ? `${count(some)} of ${counted(all, "pair")}` : counted(all, "pair");
  }
}

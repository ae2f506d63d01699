/* The page about two runs: head, questions, and the table of pairs with its filter. */

import { pairCell, pairColumns } from "./compare_cells.js";
import { PairDialog } from "./compare_dialog.js";
import { pairSection } from "./compare_figures.js";
import { PairFilterBar } from "./compare_filter.js";
import { pairHead } from "./compare_overview.js";
import { anyPair, PairRows, readPairFilter, writePairFilter } from "./compare_rows.js";
import { element, visible } from "./dom.js";
import { Grid } from "./grid.js";
import { count, counted } from "./numbers.js";

export class ComparePage {
  constructor(source) {
    this.source = source;
    this.main = element("main");
  }

  /** Put the page into the document; the table follows as soon as its rows are there. */
  async start() {
    document.body.append(this.main);
    const overview = await this.source.overview();
    this.main.append(pairHead(overview));
    this.rows = new PairRows(overview, await this.source.columns());
    this.build();
    this.follow(readPairFilter(location.hash));
    addEventListener("hashchange", () => this.follow(readPairFilter(location.hash)));
    this.rows.addTexts(await this.source.texts());
    // What was sought while only the beginnings of texts were there is sought again.
    if (this.filter.search) this.apply();
    document.documentElement.dataset.ready = "true";
  }

  build() {
    const { rows } = this;
    this.grid = new Grid({
      label: "Pairs of rows",
      columns: pairColumns(rows),
      cell: (row, key) => pairCell(rows, row, key),
      open: (row) => this.open(row),
    });
    // On a phone every question has a line of its own below the text.
    this.grid.element.style.setProperty("--lines", Math.min(3, rows.questions.length));
    this.bar = new PairFilterBar({ rows, changed: (filter) => this.take(filter) });
    this.dialog = new PairDialog({
      rows,
      detail: (row) => this.source.detail(row),
      step: (by) => this.step(by),
      closed: () => this.take({ ...this.filter, row: null }),
    });
    const sections = rows.questions.map((question) =>
      pairSection(question, rows, (changes) => this.find(changes)),
    );
    const title = element("h2", { tabindex: -1 }, "Rows");
    this.table = element(
      "section.rows-section",
      { "aria-label": "Rows" },
      element("div.rows-head", {}, title, this.bar.status),
      this.bar.element,
      this.grid.element,
    );
    this.main.append(this.navigation(sections), ...sections, this.table, this.dialog.element);
  }

  navigation(sections) {
    const link = (text, section) =>
      element("button.quiet", { type: "button", onclick: () => bringTo(section) }, text);
    const links = this.rows.questions.map(({ id }, index) => link(visible(id), sections[index]));
    return element(
      "nav.no-print",
      { "aria-label": "Parts of this page" },
      links,
      link("Rows", this.table),
    );
  }

  /** Take a filter from the address: it was opened with one, or the reader went back. */
  follow(filter) {
    this.filter = filter;
    this.bar.show(filter);
    this.apply();
    if (filter.row !== null && filter.row < this.rows.length) this.open(filter.row);
    else if (this.dialog.isOpen) this.dialog.element.close();
  }

  /** Take a filter from the reader, and keep it in the address. */
  take(filter) {
    const { row: before, ...old } = this.filter;
    const { row, ...changed } = filter;
    this.filter = filter;
    history.replaceState(null, "", writePairFilter(filter) || location.pathname + location.search);
    if (JSON.stringify(old) !== JSON.stringify(changed)) this.apply();
  }

  /** Show what a figure was pressed for, whatever was sought before. */
  find(changes) {
    const filter = anyPair(changes);
    this.bar.show(filter);
    this.take(filter);
    bringTo(this.table);
  }

  apply() {
    this.shown = this.rows.matching(this.filter);
    this.grid.show(this.shown);
    const [some, all] = [this.shown.length, this.rows.length];
    this.bar.tell(some < all ? `${count(some)} of ${counted(all, "pair")}` : counted(all, "pair"));
  }

  open(row) {
    const position = this.shown.indexOf(row);
    if (position >= 0) this.grid.activate(position);
    this.take({ ...this.filter, row });
    this.dialog.show(row, position, this.shown.length);
  }

  step(by) {
    const position = this.shown.indexOf(this.dialog.row) + by;
    if (position >= 0 && position < this.shown.length) this.open(this.shown[position]);
  }
}

function bringTo(section) {
  section.scrollIntoView({ block: "start" });
  section.querySelector("h2").focus({ preventScroll: true });
}

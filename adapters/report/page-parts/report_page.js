/* The page about results: head, questions, and the table of rows with its filter. */

import { element } from "./dom.js";
import { FilterBar } from "./filter_bar.js";
import { everything, narrows, readFilter, writeFilter } from "./filter.js";
import { Grid } from "./grid.js";
import { count } from "./numbers.js";
import { overviewHead } from "./overview.js";
import { questionSection } from "./question_section.js";
import { rowCell, rowColumns } from "./row_cells.js";
import { RowDialog } from "./row_dialog.js";
import { Rows } from "./rows.js";

export class ReportPage {
  constructor(source) {
    this.source = source;
    this.main = element("main");
  }

  /** Put the page into the document; the table follows as soon as its rows are there. */
  async start() {
    document.body.append(this.main);
    const overview = await this.source.overview();
    this.main.append(overviewHead(overview));
    this.rows = new Rows(overview, await this.source.columns());
    this.whole = this.source.texts().then((rests) => this.rows.addTexts(rests));
    this.build(overview);
    this.follow(readFilter(location.hash));
    performance.mark("rows");
    addEventListener("hashchange", () => this.follow(readFilter(location.hash)));
    await this.whole;
    performance.mark("texts");
    // What was sought while only the beginnings of texts were there is sought again.
    if (this.filter.search) this.apply();
    document.documentElement.dataset.ready = "true";
  }

  build(overview) {
    const { rows } = this;
    this.grid = new Grid({
      label: "Rows",
      columns: rowColumns(rows),
      cell: (row, key) => rowCell(rows, row, key),
      open: (row) => this.open(row),
      sort: (key) => this.sortBy(key),
    });
    // On a phone the answers stand below the text, three in a line.
    this.grid.element.style.setProperty(
      "--lines",
      Math.min(3, Math.ceil(rows.questions.length / 3)),
    );
    this.bar = new FilterBar({ overview, rows, changed: (filter) => this.take(filter) });
    this.dialog = new RowDialog({
      rows,
      detail: async (row) => {
        await this.whole;
        return this.source.detail(row);
      },
      step: (by) => this.step(by),
      closed: () => this.take({ ...this.filter, row: null }),
    });
    const sections = rows.questions.map((question) =>
      questionSection(question, rows, {
        find: (changes) => this.find(changes),
        open: (row) => this.open(row),
      }),
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
      element("button.quiet", { type: "button", onclick: () => goTo(section) }, text);
    const links = this.rows.questions.map(({ id }, index) => link(id, sections[index]));
    return element(
      "nav.no-print",
      { "aria-label": "Parts of this page" },
      ...links,
      link("Rows", this.table),
    );
  }

  /** Take a filter from the address: it was opened with one, or the reader went back. */
  follow(filter) {
    this.filter = filter;
    this.bar.show(filter);
    this.apply();
    if (filter.row !== null && filter.row >= 0 && filter.row < this.rows.length)
      this.open(Math.floor(filter.row));
    else if (this.dialog.isOpen) this.dialog.element.close();
  }

  /** Take a filter from the reader, and keep it in the address. */
  take(filter) {
    const { row: before, ...old } = this.filter;
    const { row, ...changed } = filter;
    this.filter = filter;
    history.replaceState(null, "", writeFilter(filter) || location.pathname + location.search);
    if (JSON.stringify(old) !== JSON.stringify(changed)) this.apply();
  }

  /** Show what a figure was pressed for, whatever was sought before. */
  find(changes) {
    const filter = everything(changes);
    this.bar.show(filter);
    this.take(filter);
    goTo(this.table);
  }

  apply() {
    const { filter } = this;
    this.shown = this.rows.matching(filter);
    this.grid.markSorted(filter.sort, !filter.descending);
    this.grid.show(this.shown);
    const all = count(this.rows.length);
    this.bar.tell(narrows(filter) ? `${count(this.shown.length)} of ${all} rows` : `${all} rows`);
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

function goTo(section) {
  section.scrollIntoView({ block: "start" });
  section.querySelector("h2").focus({ preventScroll: true });
}

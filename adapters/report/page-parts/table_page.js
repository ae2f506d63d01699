/*
 * A page with a table: a head, a section for each question, and the rows that a filter keeps, of
 * which each can be opened. The filter is in the address.
 */

import { element, visible } from "./dom.js";

/**
 * What extends it says what the rows are: `filters`, `makeRows()`, `head()`, `section()` of a
 * question, `makeGrid()`, `makeBar()`, `makeDialog()`, and `shownCount()`, how many rows are shown.
 */
export class TablePage {
  constructor(source) {
    this.source = source;
    this.main = element("main");
  }

  /** Put the page into the document; the table follows as soon as its rows are there. */
  async start() {
    document.body.append(this.main);
    const overview = await this.source.overview();
    this.main.append(this.head(overview));
    this.rows = this.makeRows(overview, await this.source.columns());
    this.whole = this.source.texts().then((rests) => this.rows.addTexts(rests));
    this.build();
    this.followAddress();
    performance.mark("rows");
    addEventListener("hashchange", () => this.followAddress());
    await this.whole;
    performance.mark("texts");
    // What was sought while only the beginnings of texts were there is sought again.
    if (this.filter.search) this.apply();
    document.documentElement.dataset.ready = "true";
  }

  build() {
    this.grid = this.makeGrid();
    this.bar = this.makeBar();
    this.dialog = this.makeDialog({
      rows: this.rows,
      detail: async (row) => {
        await this.whole;
        return this.source.detail(row);
      },
      step: (by) => this.step(by),
      closed: () => this.take({ ...this.filter, row: null }),
    });
    const sections = this.rows.questions.map((question) => this.section(question));
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
    const links = this.rows.questions.map(({ id }, index) => link(visible(id), sections[index]));
    return element(
      "nav.no-print",
      { "aria-label": "Parts of this page" },
      links,
      link("Rows", this.table),
    );
  }

  followAddress() {
    this.follow(this.filters.read(location.hash));
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
    const address = this.filters.write(filter) || location.pathname + location.search;
    history.replaceState(null, "", address);
    if (JSON.stringify(old) !== JSON.stringify(changed)) this.apply();
  }

  /** Show what a figure was pressed for, whatever was sought before. */
  find(changes) {
    const filter = this.filters.everything(changes);
    this.bar.show(filter);
    this.take(filter);
    goTo(this.table);
  }

  apply() {
    this.shown = this.rows.matching(this.filter);
    this.grid.show(this.shown);
    this.bar.tell(this.shownCount());
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

/*
 * The page about results that are still arriving: the report's page, brought up to date in place.
 * Nothing changes under a reader: not while a row is open, nor where the focus or a selection is.
 */

import { element, shown, visible } from "./dom.js";
import { count, counted, span } from "./numbers.js";
import { ReportPage } from "./report_page.js";

/** After how many seconds of rows the time that is left can be told. */
const SURE = 5;

/** The share of time that may go into bringing the page up to date. */
const BUSY = 0.1;

const STATES = {
  waiting: "waiting for results",
  reading: "reading",
  running: "live",
  ended: "finished",
  gone: "the server has stopped",
};

export class LivePage extends ReportPage {
  async start() {
    this.state = element("span", { role: "status" });
    this.told = element("span.number");
    this.pill = element("p.live", {}, this.state, this.told);
    this.whole = Promise.resolve();
    this.next = 0;
    document.body.append(this.main, this.pill);
    addEventListener("hashchange", () => this.rows && this.followAddress());
    this.source.onChange(() => this.changed());
    this.tell(false);
    await this.source.follow();
  }

  /** Show what the source has, as far as the reader is not in the middle of something. */
  changed() {
    const { held } = this.source;
    const reading = this.dialog?.isOpen;
    const due =
      held?.overview &&
      (held !== this.held || held.rows !== this.rows.length || held.version !== this.version);
    const early = held === this.held ? this.next - performance.now() : 0;
    if (due && !reading && early <= 0) this.bringUp();
    else if (due && !reading) this.changeLater(early);
    this.tell(reading);
  }

  changeLater(pause) {
    clearTimeout(this.later);
    this.later = setTimeout(() => this.changed(), pause);
  }

  bringUp() {
    const begun = performance.now();
    const before = this.held;
    this.held = this.source.snapshot();
    this.version = this.held.version;
    if (this.held === before) this.update();
    else this.lay(before);
    document.documentElement.dataset.ready = "true";
    const now = performance.now();
    this.next = now + (now - begun) / BUSY;
  }

  /** Put everything anew: these are other rows than before. */
  lay(before) {
    this.rows = this.heldRows();
    this.main.replaceChildren(this.head(this.held.overview));
    this.build();
    const filter = this.filters.read(location.hash);
    // Another file's row of the same number is another row.
    this.follow(before ? { ...filter, row: null } : filter);
  }

  update() {
    // The table, the form and the panel keep their rows: the same object with more in it.
    for (const name of Object.keys(this.rows)) delete this.rows[name];
    Object.assign(this.rows, this.heldRows());
    const sections = [...this.main.querySelectorAll(":scope > section.question")];
    replaceUnlessUsed(this.main.querySelector(":scope > header"), this.head(this.held.overview));
    const made = this.rows.questions.map((question, index) =>
      replaceUnlessUsed(sections[index], this.section(question)),
    );
    replaceUnlessUsed(this.main.querySelector(":scope > nav"), this.navigation(made));
    this.updateBar();
    this.keepPlace();
  }

  heldRows() {
    const { overview, columns, texts } = this.held;
    const rows = this.makeRows(overview, columns);
    rows.addTexts(texts);
    return rows;
  }

  head(overview) {
    const head = super.head(overview);
    head.append(...this.source.problems.map((problem) => shown("p.alert.bad", problem)));
    return head;
  }

  updateBar() {
    if (this.bar.element.contains(document.activeElement)) return;
    const bar = this.makeBar();
    this.bar.element.replaceWith(bar.element);
    this.bar.status.replaceWith(bar.status);
    this.bar = bar;
    this.bar.show(this.filter);
  }

  /** Seek again, and leave the reader at the same row and place of the table. */
  keepPlace() {
    const { grid } = this;
    const { scrollTop } = grid.element;
    const row = grid.rows[grid.active];
    this.apply();
    grid.active = Math.max(0, this.shown.indexOf(row));
    grid.element.scrollTop = scrollTop;
    grid.refresh();
  }

  take(filter) {
    super.take(filter);
    // A row was closed: what arrived meanwhile is shown now.
    if (filter.row !== null || this.dialog.isOpen) return;
    this.next = 0;
    this.changed();
  }

  tell(reading) {
    const { state, held, quiet } = this.source;
    const waiting = held ? held.rows - (this.rows?.length ?? 0) : 0;
    const name = reading && state !== "gone" ? "paused while a row is open" : STATES[state];
    if (this.state.textContent !== name) this.state.textContent = name;
    this.pill.className = `live ${reading ? "paused" : state}`;
    const rows = held ? ` · ${this.rowsSoFar(held.rows)}` : "";
    const more = reading && waiting > 0 ? `, ${count(waiting)} of them new` : "";
    const last =
      state === "running" && held?.rows && quiet >= 5
        ? ` · the last ${span(Math.round(quiet))} ago`
        : "";
    this.told.textContent = `${rows}${more}${last || this.timeLeft()}`;
    document.title = `${STATES[state]}: ${visible(held?.overview?.name ?? "results")}`;
  }

  /** Say how many rows there are, and of how many while that is known and they are fewer. */
  rowsSoFar(rows) {
    const { expected } = this.source;
    return rows < (expected ?? 0) ? `${count(rows)} of ${counted(expected, "row")}` : counted(rows, "row");
  }

  /** Say how long the rest of a run will take, going by the rows since this page saw it run. */
  timeLeft() {
    const { state, held, expected } = this.source;
    if (state !== "running" || !held || expected === null) {
      this.since = null;
      return "";
    }
    const now = performance.now() / 1000;
    if (this.since?.held !== held) this.since = { held, rows: held.rows, at: now };
    const [rows, seconds] = [held.rows - this.since.rows, now - this.since.at];
    if (rows <= 0 || seconds < SURE || held.rows >= expected) return "";
    return ` · about ${span(Math.ceil(((expected - held.rows) * seconds) / rows))} left`;
  }
}

/** Put an element in the place of an old one, unless the reader is in it; return what is there. */
function replaceUnlessUsed(old, made) {
  const selection = getSelection();
  const selected = !selection.isCollapsed && old.contains(selection.anchorNode);
  if (
    selected ||
    (old.contains(document.activeElement) && document.activeElement !== document.body)
  )
    return old;
  const opened = [...old.querySelectorAll("details")].map(({ open }) => open);
  [...made.querySelectorAll("details")].forEach((details, index) => {
    details.open = opened[index] ?? false;
  });
  old.replaceWith(made);
  return made;
}

/*
 * A table of any length, of which only the rows in sight are in the document.
 *
 * It takes the focus as a whole and names its active row to assistive technology, so that rows
 * may come and go under it. It knows rows by number only: what they hold, how they are ordered
 * and what opening one means is the caller's.
 */

import { element } from "./dom.js";

const SPARE_ROWS = 6;

export class Grid {
  /**
   * @param label    what the table is, for those who do not see it
   * @param columns  [{ key, title, width, grow, className, sortable, hint }]: width is the least,
   *                 in pixels, and grow the share of what room is left
   * @param lines    how many lines a row has below its text on a phone
   * @param cell     (row, key) -> the content of a cell: a node, text, or an array of them
   * @param open     called with the row that was clicked, or on which Enter was pressed
   * @param sort     called with the key of the header that was pressed
   */
  constructor({ label, columns, lines, cell, open, sort }) {
    Object.assign(this, { columns, cell, open, sort });
    this.rows = new Uint32Array(0);
    this.active = 0;
    /** Position -> the line of each row that is in the document. */
    this.lines = new Map();
    this.body = element("div.grid-body", { role: "rowgroup" });
    this.head = element("div.grid-row.grid-head", { role: "row", "aria-rowindex": 1 });
    this.element = element(
      "div.grid",
      {
        role: "grid",
        tabindex: 0,
        "aria-label": label,
        "aria-colcount": columns.length,
        "aria-readonly": "true",
        "--lines": lines,
        "--columns": columns.map(({ width, grow }) => `minmax(${width}px, ${grow}fr)`).join(" "),
        "--least": `${columns.reduce((sum, { width }) => sum + width, 0)}px`,
        onkeydown: (event) => this.onKey(event),
        onscroll: () => this.soon(),
        onclick: (event) => this.onClick(event),
      },
      element("div", { role: "rowgroup" }, this.head),
      this.body,
    );
    this.head.append(...columns.map((column, index) => this.header(column, index)));
    new ResizeObserver(() => this.measure()).observe(this.element);
  }

  /** Show these rows, in this order, from the top. */
  show(rows) {
    this.rows = rows;
    this.active = 0;
    this.element.scrollTop = 0;
    this.element.setAttribute("aria-rowcount", rows.length + 1);
    this.measure();
  }

  /** Draw the rows in sight anew: what they hold has changed. */
  refresh() {
    this.lines.clear();
    this.body.replaceChildren(...(this.rows.length ? [] : [this.nothing()]));
    this.draw();
  }

  /** Mark the column that the rows are sorted by; key null for their own order. */
  markSorted(key, ascending) {
    for (const [index, header] of [...this.head.children].entries()) {
      if (!this.columns[index].sortable) continue;
      const mine = this.columns[index].key === key;
      header.setAttribute("aria-sort", mine ? (ascending ? "ascending" : "descending") : "none");
    }
  }

  /** Make the row at a position (not a row number) the active one, and bring it into sight. */
  activate(position) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, position));
    const top = this.active * this.height;
    const room = this.element.clientHeight - this.head.offsetHeight;
    const { scrollTop } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.height > scrollTop + room) {
      this.element.scrollTop = top + this.height - room;
    }
    this.draw();
  }

  header(column, index) {
    const { key, title, className, sortable, hint } = column;
    const press = () => this.sort(key);
    const content = sortable ? element("button", { type: "button", onclick: press }, title) : title;
    return element(
      `div.grid-cell${className ? `.${className}` : ""}`,
      {
        role: "columnheader",
        "aria-colindex": index + 1,
        "aria-sort": sortable && "none",
        title: hint,
      },
      content,
    );
  }

  measure() {
    const probe = element("div.grid-row.grid-probe");
    this.body.append(probe);
    this.height = probe.offsetHeight || 36;
    probe.remove();
    this.body.style.height = this.rows.length ? `${this.rows.length * this.height}px` : "auto";
    this.refresh();
  }

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  /** Put the rows into the document that are in sight now, and keep those that still are. */
  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.height) - SPARE_ROWS);
    const count = Math.ceil(this.element.clientHeight / this.height) + 2 * SPARE_ROWS;
    const last = Math.min(this.rows.length, first + count);
    for (const [position, line] of this.lines) {
      if (position >= first && position < last) continue;
      line.remove();
      this.lines.delete(position);
    }
    let after = null;
    for (let position = last - 1; position >= first; position -= 1) {
      if (!this.lines.has(position)) {
        this.lines.set(position, this.line(position));
        this.body.insertBefore(this.lines.get(position), after);
      }
      after = this.lines.get(position);
    }
    this.markActive();
  }

  markActive() {
    for (const [position, line] of this.lines) {
      line.classList.toggle("active", position === this.active);
      line.setAttribute("aria-selected", String(position === this.active));
    }
    const active = this.lines.has(this.active) ? `grid-row-${this.active}` : "";
    this.element.setAttribute("aria-activedescendant", active);
  }

  nothing() {
    const cell = element("div.grid-empty", { role: "gridcell" }, "No rows.");
    return element("div", { role: "row", "aria-rowindex": 2 }, cell);
  }

  line(position) {
    const row = this.rows[position];
    const cells = this.columns.map(({ key, className }, index) =>
      element(
        `div.grid-cell${className ? `.${className}` : ""}`,
        { role: "gridcell", "aria-colindex": index + 1 },
        [this.cell(row, key)].flat(),
      ),
    );
    return element(
      "div.grid-row",
      {
        role: "row",
        id: `grid-row-${position}`,
        "aria-rowindex": position + 2,
        "data-position": position,
        "--top": `${position * this.height}px`,
      },
      cells,
    );
  }

  onClick(event) {
    const line = event.target.closest("[data-position]");
    if (!line) return;
    this.activate(Number(line.dataset.position));
    this.open(this.rows[this.active]);
  }

  onKey(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 2);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const ends = { Home: 0, End: this.rows.length - 1 };
    if (event.key in moves) this.activate(this.active + moves[event.key]);
    else if (event.key in ends) this.activate(ends[event.key]);
    else if ((event.key === "Enter" || event.key === " ") && this.rows.length) {
      this.open(this.rows[this.active]);
    } else return;
    event.preventDefault();
  }
}

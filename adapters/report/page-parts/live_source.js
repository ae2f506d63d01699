/*
 * Where the rows of a live page come from: the server is asked again and again for what is new.
 * Rows of a file that was begun anew replace those of before once they are all there.
 */

const SOON = 1000;
const LATER = 5000;
const BEGUN_ANEW = "The results were written anew since this row was opened: close it to see them.";
const GONE = "The server has stopped, and with it what is kept of this row.";

export class LiveSource {
  constructor() {
    this.listeners = [];
    this.held = null;
    this.coming = null;
    this.state = "waiting";
    this.problems = [];
    this.quiet = null;
    this.expected = null;
  }

  /** Call the listener whenever the server has answered, or has not. */
  onChange(listener) {
    this.listeners.push(listener);
  }

  /** Ask for news for as long as the page is open. */
  async follow() {
    for (;;) {
      const pause = await this.poll();
      for (const listener of this.listeners) listener();
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  /** Return what there is to show now; details are asked for as of this. */
  snapshot() {
    this.shown = this.held;
    return this.held;
  }

  /** Everything kept of one row of the last snapshot: the object that details.py makes. */
  async detail(row) {
    try {
      const found = await ask("row", { generation: this.shown.generation, row });
      return found ?? { answers: {}, warnings: [BEGUN_ANEW] };
    } catch {
      return { answers: {}, warnings: [GONE] };
    }
  }

  /** Ask once; return how long to wait until the next time. */
  async poll() {
    const known = this.coming ?? this.held;
    let news;
    try {
      const { generation = "", rows = 0, version = "" } = known ?? {};
      news = await ask("news", { generation, have: rows, version });
    } catch {
      this.state = "gone";
      return LATER;
    }
    const taken = known?.generation === news.generation ? known : this.begin(news);
    append(taken, news);
    const whole = taken.rows >= news.total;
    if (taken === this.coming && whole && news.caught_up)
      [this.held, this.coming] = [this.coming, null];
    this.state = news.caught_up && whole ? news.state : "reading";
    this.problems = [...news.problems, ...(news.stopped ? [news.stopped] : [])];
    this.quiet = news.quiet_seconds;
    this.expected = news.expected;
    if (!whole) return 0;
    return news.state === "ended" && news.caught_up ? LATER : SOON;
  }

  begin({ generation }) {
    const begun = { generation, rows: 0, version: "", overview: null, columns: null, texts: [] };
    if (this.held?.rows) this.coming = begun;
    else [this.held, this.coming] = [begun, null];
    return begun;
  }
}

async function ask(name, query) {
  const response = await fetch(`${location.pathname}${name}?${new URLSearchParams(query)}`, {
    cache: "no-store",
  });
  if (!response.ok) throw new Error(`no ${name}`);
  return response.json();
}

function append(held, news) {
  if (held.columns === null) held.columns = news.columns;
  else if (news.start === held.rows) extend(held.columns, news.columns);
  else return;
  for (const text of news.texts) held.texts.push(text);
  held.rows = held.columns.ids.length;
  if (news.overview) [held.overview, held.version] = [news.overview, news.version];
}

/** Add rows to columns, an array each, or an object of them. */
function extend(columns, more) {
  for (const [name, values] of Object.entries(more)) {
    if (!Array.isArray(values) || (values.length && typeof values[0] === "object"))
      extend(columns[name], values);
    else for (const value of values) columns[name].push(value);
  }
}

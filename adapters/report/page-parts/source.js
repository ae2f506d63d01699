/*
 * Where a page's rows come from. This one reads the file that it is in; a page that is served
 * while a run goes on has another with the same methods, and calls its listeners as rows arrive.
 */

import { packedPayload, plainPayload } from "./payloads.js";

export class EmbeddedSource {
  /** What the whole results come to: the object that overview.py makes. */
  async overview() {
    return plainPayload("overview");
  }

  /** The table's columns, an array each: the object that columns.py makes. */
  async columns() {
    return packedPayload("columns");
  }

  /** Of every row the rest of its text, where the columns hold only its beginning. */
  async texts() {
    return packedPayload("texts");
  }

  /** Everything kept of one row: the object that details.py makes. */
  async detail(row) {
    const { chunk } = plainPayload("overview");
    const number = Math.floor(row / chunk);
    if (this.held?.number !== number) {
      this.held = { number, rows: packedPayload(`rows-${number}`) };
    }
    return (await this.held.rows)[row - number * chunk];
  }

  /** Call the listener when there is more to see; a file never changes. */
  onChange(listener) {}
}

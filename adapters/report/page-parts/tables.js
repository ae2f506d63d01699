/* Plain tables of text. */

import { element, shown } from "./dom.js";

/** Return a table: what it is, the names of its columns (none for an empty head), and its rows. */
export function plainTable(caption, head, rows) {
  const names = head.map((name) => element("th", { scope: "col" }, name));
  return element(
    "div.scroll",
    {},
    element(
      "table.plain",
      {},
      element("caption", {}, caption),
      names.length > 0 && element("thead", {}, element("tr", {}, names)),
      element("tbody", {}, rows.map(line)),
    ),
  );
}

function line(cells) {
  return element(
    "tr",
    {},
    cells.map((cell) => shown("td.number", cell)),
  );
}

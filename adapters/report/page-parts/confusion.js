/* How often each of one side's answers met each of the other's, as a table or as a list. */

import { element, shown, visible } from "./dom.js";
import { count, counted } from "./numbers.js";

/** The most options that a table shows: one of more is read by nobody. */
export const WIDEST = 16;

const MOST_LISTED = 14;

/**
 * Return how often each option of one side (rows) met each of the other (columns): labels and
 * answers, or two runs. Of many options only the commonest pairs of different ones are listed.
 *
 * `texts` are the table's `caption`, its `corner`, `both` (the names of two options that met, told
 * as one text), and `none` where nothing is to be listed; `choose` is called with two options.
 */
export function confusion(options, counts, texts, choose) {
  return options.length > WIDEST
    ? differences(options, counts, texts, choose)
    : matrix(options, counts, texts, choose);
}

function matrix(options, counts, { caption, corner, both }, choose) {
  const names = options.map(({ name }) => shown("th", name, { scope: "col" }));
  const line = (first, row) => {
    const sum = counts[row].reduce((total, each) => total + each, 0);
    const cells = options.map((second, column) => {
      const rows = counts[row][column];
      const told = `${both(first.name, second.name)}: ${counted(rows, "row")}. Show them`;
      const press = () => choose(first.option, second.option);
      return cell({ right: row === column, rows, sum, told: visible(told), press });
    });
    return element("tr", {}, shown("th", first.name, { scope: "row" }), cells);
  };
  return element(
    "div.scroll",
    {},
    element(
      "table.matrix",
      {},
      element("caption.hidden", {}, caption),
      element("thead", {}, element("tr", {}, element("th.soft", { scope: "col" }, corner), names)),
      element("tbody", {}, options.map(line)),
    ),
  );
}

function cell({ right, rows, sum, told, press }) {
  return element(
    `td${right ? ".right" : ""}`,
    { "--share": sum ? rows / sum : 0 },
    rows > 0
      ? element(
          "button.number",
          { type: "button", title: told, "aria-label": told, onclick: press },
          count(rows),
        )
      : "0",
  );
}

function differences(options, counts, { none }, choose) {
  const pairs = counts.flatMap((cells, row) =>
    cells.map((rows, column) => ({ rows, first: options[row], second: options[column] })),
  );
  const different = pairs
    .filter(({ rows, first, second }) => rows && first !== second)
    .sort((a, b) => b.rows - a.rows);
  if (!different.length) return element("p.soft", {}, none);
  const item = ({ rows, first, second }) =>
    element(
      "li",
      {},
      shown("button.option", `${first.name} → ${second.name}`, {
        type: "button",
        title: "Show these rows",
        onclick: () => choose(first.option, second.option),
      }),
      element("span.number", {}, count(rows)),
    );
  return element("ul.options.pairs", {}, different.slice(0, MOST_LISTED).map(item));
}

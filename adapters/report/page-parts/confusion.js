/* How often each label met each answer: a table of counts, or the commonest mistakes. */

import { element, shown, visible } from "./dom.js";
import { count, counted } from "./numbers.js";

const WIDEST = 16;
const MOST_MISTAKES = 14;

/**
 * Return how often each label (rows) met each answer (columns); `choose` is called with both.
 * Of many options only the commonest mistakes are listed.
 */
export function confusion(options, counts, choose) {
  return options.length > WIDEST
    ? mistakes(options, counts, choose)
    : matrix(options, counts, choose);
}

function matrix(options, counts, choose) {
  const names = options.map(({ name }) => shown("th", name, { scope: "col" }));
  const line = (label, row) => {
    const sum = counts[row].reduce((total, each) => total + each, 0);
    const cells = options.map((answer, column) =>
      cell({ label, answer, rows: counts[row][column], sum, choose }),
    );
    return element("tr", {}, shown("th", label.name, { scope: "row" }), cells);
  };
  const corner = element("th.soft", { scope: "col" }, "people ↓ answer →");
  return element(
    "div.scroll",
    {},
    element(
      "table.matrix",
      {},
      element("caption.hidden", {}, "People's labels in rows, answers in columns"),
      element("thead", {}, element("tr", {}, corner, names)),
      element("tbody", {}, options.map(line)),
    ),
  );
}

function cell({ label, answer, rows, sum, choose }) {
  const told = visible(
    `People ${label.name}, answered ${answer.name}: ${counted(rows, "row")}. Show them`,
  );
  const press = () => choose(label.option, answer.option);
  return element(
    `td${label === answer ? ".right" : ""}`,
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

function mistakes(options, counts, choose) {
  const pairs = counts.flatMap((cells, row) =>
    cells.map((rows, column) => ({ rows, label: options[row], answer: options[column] })),
  );
  const wrong = pairs
    .filter(({ rows, label, answer }) => rows && label !== answer)
    .sort((a, b) => b.rows - a.rows);
  const item = ({ rows, label, answer }) =>
    element(
      "li",
      {},
      shown("button.option", `${label.name} → ${answer.name}`, {
        type: "button",
        title: "Show these rows",
        onclick: () => choose(label.option, answer.option),
      }),
      element("span.number", {}, count(rows)),
    );
  return element("ul.options.pairs", {}, wrong.slice(0, MOST_MISTAKES).map(item));
}

/* The cells of the table of pairs. */

import { rightMark } from "./answer_parts.js";
import { element, shown, visible } from "./dom.js";
import { probability, words } from "./numbers.js";

/** Return the columns of the table: one for each question, with both answers. */
export function pairColumns(rows) {
  return [
    { key: "id", title: "Row", width: 90, grow: 0.4, className: "id-cell" },
    { key: "text", title: "Text", width: 200, grow: 1, className: "text-cell" },
    ...rows.questions.map(({ id }, index) => ({
      key: `answer:${index}`,
      title: `${visible(id)}: A → B`,
      width: 290,
      grow: 1.2,
      className: "answer-cell.pair-cell",
    })),
  ];
}

/** Return the content of a cell. */
export function pairCell(rows, row, key) {
  if (key === "id") return shown("span.mono", rows.columns.ids[row]);
  if (key === "text") return shown("span", rows.columns.texts[row].replace(/\s+/g, " ").trim());
  return pairAnswers(rows, rows.questions[Number(key.slice(7))], row);
}

function pairAnswers(rows, question, row) {
  const distance = rows.distance(question, row);
  const after = sideAnswer(rows, question, "b", row);
  const both =
    rows.changed(question, row) === false
      ? [after]
      : [sideAnswer(rows, question, "a", row), element("span.soft", {}, " → "), after];
  return [
    element("span", {}, both),
    element(
      "span.number.soft",
      { title: "total variation" },
      distance === null ? "–" : probability(distance),
    ),
    element("span.sure", { "--share": `${100 * (distance ?? 0)}%`, "aria-hidden": "true" }),
  ];
}

function sideAnswer(rows, question, side, row) {
  const { name, cause } = rows.answer(question, side, row);
  if (cause !== null) return shown("span.warn", words(cause));
  const right = rows.right(question, side, row);
  const changed = rows.changed(question, row) ? ".changed" : "";
  return element(`span${changed}`, {}, shown("span", name), rightMark(right));
}

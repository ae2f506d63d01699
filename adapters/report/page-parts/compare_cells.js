/* The cells of the table of pairs. */

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
      width: 290, grow: 1.2,
      className: "pair-cell",
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
  const moved = [
    element("span.moved", { "--share": `${100 * (distance ?? 0)}%`, "aria-hidden": "true" }),
    element("span.number.soft", { title: "total variation" }, distance === null ? "–" : probability(distance)),
    " ",
  ];
  if (rows.changed(question, row) === false) {
    return [...moved, sideAnswer(rows, question, "b", row)];
  }
  return [...moved, sideAnswer(rows, question, "a", row), element("span.arrow", {}, " → "), sideAnswer(rows, question, "b", row)];
}

function sideAnswer(rows, question, side, row) {
  const { name, cause } = rows.answer(question, side, row);
  if (cause !== null) return shown("span.warn", words(cause));
  const right = rows.right(question, side, row);
  const changed = rows.changed(question, row) ? ".changed" : "";
  return element(`span${changed}`, {}, shown("span", name), right === null ? "" : rightMark(right));
}

function rightMark(right) {
  return element(`span${right ? ".good" : ".bad"}`, { title: right ? "as people said" : "not as people said" }, right ? " ✓" : " ✗");
}

/* The cells of the table of rows. */

import { element, shown, visible } from "./dom.js";
import { probability, words } from "./numbers.js";

/** Return the columns of the table, with a header that sorts each. */
export function rowColumns(rows) {
  const questions = rows.questions.map(({ id }, index) => ({
    key: `answer:${index}`,
    title: visible(id),
    width: 200,
    grow: 1,
    className: "answer-cell",
    sortable: true,
    hint: `Sort by the answer to ${visible(id)}`,
  }));
  return [
    { key: "id", title: "Row", width: 90, grow: 0.4, className: "id-cell", sortable: true },
    { key: "text", title: "Text", width: 240, grow: 2.2, className: "text-cell", sortable: true },
    ...questions,
    { key: "flags", title: "Flags", width: 100, grow: 0.4, className: "flag-cell", sortable: true },
  ];
}

/** Return the content of a cell. */
export function rowCell(rows, row, key) {
  if (key === "id") return shown("span.mono", rows.columns.ids[row]);
  if (key === "text") return shown("span", rows.columns.texts[row].replace(/\s+/g, " ").trim());
  if (key === "flags") return rows.flags(row).map((flag) => element("span.flag", {}, flag));
  const question = rows.questions[Number(key.slice(7))];
  return answerCell(rows, question, row);
}

function answerCell(rows, question, row) {
  const { option, cause } = rows.answer(question, row);
  if (cause !== null) return element("span.warn", {}, `no verdict: ${words(cause)}`);
  if (option === null) {
    const error = rows.error(row);
    return error === null
      ? element("span.soft", {}, "not asked")
      : shown("span.bad", `failed: ${error}`);
  }
  const confidence = rows.confidence(question, row);
  return [
    element(
      "span",
      {},
      shown("bdi", optionText(rows, question, row, option)),
      mark(rows, question, row),
    ),
    element("span.number.soft", {}, confidence === null ? "–" : probability(confidence)),
    element("span.sure", { "--share": `${100 * (confidence ?? 0)}%`, "aria-hidden": "true" }),
  ];
}

function optionText(rows, question, row, option) {
  if (question.type !== "score") return option.name;
  return `${rows.value(question, row).toFixed(2)} ${option.name.replace(/^\d+ /, "")}`;
}

function mark(rows, question, row) {
  const label = rows.label(question, row);
  if (label === null) return null;
  const agrees = rows.agrees(question, row);
  // Levels are long to read: here their numbers do.
  const said = question.type === "score" ? label.replace(/ .*/s, "") : label;
  if (agrees === true) return element("span.good", { title: "as people said" }, " ✓");
  return shown(
    `span${agrees === false ? ".bad" : ".soft"}`,
    ` ${agrees === false ? "✗" : "≈"} ${said}`,
    { title: `people: ${visible(label)}` },
  );
}

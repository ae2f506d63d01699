/* One question of two runs: what changed, in numbers and pictures. */

import { element, shown, visible } from "./dom.js";
import { figure, histogram, key, optionList, questionHead } from "./figures.js";
import { count, counted } from "./numbers.js";

const WIDEST_TABLE = 16;
const MOST_CHANGES = 14;

/** Return the section of a question; `find` is called with a filter that a figure stands for. */
export function pairSection(question, rows, find) {
  const table = rows.table(question);
  const look = (changes) => find({ question: question.id, ...changes });
  return element(
    "section.question",
    { "aria-label": visible(question.id) },
    questionHead(question, shown("p", question.headline)),
    element(
      "div.figures",
      {},
      factsCard("What changed", question.facts),
      question.labelled.length ? factsCard("Against labels", question.labelled) : null,
      figure(
        "Answers",
        "rows in which an option is the answer, of those with a verdict in both",
        sideBars(question.options, table, look),
        key([
          ["bar", "A"],
          ["people", "B"],
        ]),
      ),
      movesCard(question.options, table, look),
      figure(
        "How far answers moved",
        "total variation: 0 where nothing moved, 1 where all probability went elsewhere",
        distances(question, rows),
        key([
          ["class-0", "same answer"],
          ["class-1", "another answer"],
        ]),
      ),
    ),
  );
}

/** Return a card of labels and values; a value without a label belongs to the one before. */
export function factsCard(heading, facts) {
  const groups = [];
  for (const [label, value] of facts) {
    if (label) groups.push([label, [value]]);
    else groups.at(-1)[1].push(value);
  }
  return figure(
    heading,
    null,
    element(
      "dl.pair-facts",
      {},
      groups.map(([label, values]) =>
        element(
          "div",
          {},
          shown("dt", label),
          values.map((value) => shown("dd", value)),
        ),
      ),
    ),
  );
}

function movesCard(options, table, look) {
  const card = figure(
    "From A to B",
    "press a number to see the rows",
    movesTable(options, table, look),
  );
  if (options.length > 2 && options.length <= WIDEST_TABLE) card.classList.add("wide");
  return card;
}

function sideBars(options, table, look) {
  const a = table.map((cells) => cells.reduce((sum, rows) => sum + rows, 0));
  const b = options.map((_, column) => table.reduce((sum, cells) => sum + cells[column], 0));
  const most = Math.max(1, ...a, ...b);
  const bars = options.map(({ option, name }, place) =>
    element(
      "li",
      {},
      shown("button.option", name, {
        type: "button",
        title: "Show the rows that A answers so",
        onclick: () => look({ from: option }),
      }),
      element(
        "span.option-bars.even",
        { "aria-hidden": "true" },
        element("span.bar", { "--share": `${(100 * a[place]) / most}%` }),
        element("span.bar.people", { "--share": `${(100 * b[place]) / most}%` }),
      ),
      element(
        "span.number",
        {},
        element("span.hidden", {}, "A "),
        count(a[place]),
        " → ",
        element("span.hidden", {}, "B "),
        count(b[place]),
      ),
    ),
  );
  return optionList(bars);
}

function movesTable(options, table, look) {
  const cell = (row, column) => {
    const rows = table[row][column];
    const sum = table[row].reduce((total, each) => total + each, 0);
    const told = `A ${visible(options[row].name)}, B ${visible(options[column].name)}: ${counted(rows, "row")}. Show them`;
    const press = () => look({ from: options[row].option, to: options[column].option });
    return element(
      `td${row === column ? ".right" : ""}`,
      { "--share": sum ? rows / sum : 0 },
      rows
        ? element(
            "button.number",
            { type: "button", title: told, "aria-label": told, onclick: press },
            count(rows),
          )
        : "0",
    );
  };
  if (options.length > WIDEST_TABLE) return movesList(options, table, look);
  return element(
    "div.scroll",
    {},
    element(
      "table.matrix",
      {},
      element("caption.hidden", {}, "Answers of A in rows, of B in columns"),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th.soft", { scope: "col" }, "A ↓ B →"),
          options.map(({ name }) => shown("th", name, { scope: "col" })),
        ),
      ),
      element(
        "tbody",
        {},
        options.map(({ name }, row) =>
          element(
            "tr",
            {},
            shown("th", name, { scope: "row" }),
            options.map((_, column) => cell(row, column)),
          ),
        ),
      ),
    ),
  );
}

/** Return the commonest changes: a table of so many options is read by nobody. */
function movesList(options, table, look) {
  const moves = table.flatMap((cells, row) => cells.map((rows, column) => ({ rows, row, column })));
  const changed = moves
    .filter(({ rows, row, column }) => rows && row !== column)
    .sort((a, b) => b.rows - a.rows);
  if (!changed.length) return element("p.soft", {}, "No answer changed.");
  return element(
    "ul.options",
    {},
    changed.slice(0, MOST_CHANGES).map(({ rows, row, column }) =>
      element(
        "li",
        {},
        shown("button.option", `${options[row].name} → ${options[column].name}`, {
          type: "button",
          title: "Show these rows",
          onclick: () => look({ from: options[row].option, to: options[column].option }),
        }),
        element("span"),
        element("span.number", {}, count(rows)),
      ),
    ),
  );
}

function distances(question, rows) {
  const values = Array.from({ length: rows.length }, (_, row) => rows.distance(question, row));
  const split = (row) => (rows.changed(question, row) ? 1 : 0);
  return histogram({
    values,
    split,
    classes: ["same answer", "another answer"],
    low: 0,
    high: 1,
    unit: "total variation",
  });
}

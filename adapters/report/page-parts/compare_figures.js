/* One question of two runs: what changed, in numbers and pictures. */

import { confusion, WIDEST } from "./confusion.js";
import { element, shown, visible } from "./dom.js";
import { figure, histogram, key, optionList, questionHead } from "./figures.js";
import { count } from "./numbers.js";

const MOVES = {
  caption: "Answers of A in rows, of B in columns",
  corner: "A ↓ B →",
  both: (a, b) => `A ${a}, B ${b}`,
  none: "No answer changed.",
};

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
    confusion(options, table, MOVES, (from, to) => look({ from, to })),
  );
  if (options.length > 2 && options.length <= WIDEST) card.classList.add("wide");
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

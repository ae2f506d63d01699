/* Small pictures made of boxes: bars by option, histograms, a confusion matrix. */

import { element, shown, visible } from "./dom.js";
import { count, counted, percent } from "./numbers.js";

const BINS = 20;
const MOST_BARS = 14;
const WIDEST_MATRIX = 16;

/** Return a figure with a heading that says what it shows. */
export function figure(heading, note, ...content) {
  return element(
    "figure.card",
    {},
    element("figcaption", {}, element("h3", {}, heading), note && element("span.soft", {}, note)),
    ...content,
  );
}

/**
 * Return bars of counts, by option: of the answers, and where there are any of people's labels.
 * `choose` is called with the option that was pressed.
 */
export function optionBars(options, answers, people, choose) {
  const most = Math.max(1, ...answers, ...(people ?? []));
  const total = answers.reduce((sum, rows) => sum + rows, 0);
  const bars = options.map(({ option, name }, place) =>
    element(
      "li",
      {},
      shown("button.option", name, {
        type: "button",
        title: "Show these rows",
        onclick: () => choose(option),
      }),
      element(
        "span.option-bars",
        { "aria-hidden": "true" },
        answers[place] > 0 &&
          element("span.bar", { "--share": `${(100 * answers[place]) / most}%` }),
        people?.[place] > 0 &&
          element("span.bar.people", { "--share": `${(100 * people[place]) / most}%` }),
      ),
      element(
        "span.number",
        {},
        count(answers[place]),
        element("span.soft", {}, total ? ` · ${percent(answers[place] / total)}` : ""),
        people &&
          element(
            "span.people-count",
            {},
            element("span.hidden", {}, ", people: "),
            count(people[place]),
          ),
      ),
    ),
  );
  const list = (items) => element("ul.options", {}, items);
  if (bars.length <= MOST_BARS) return list(bars);
  const rest = bars.slice(MOST_BARS);
  return element(
    "div",
    {},
    list(bars.slice(0, MOST_BARS)),
    element("details", {}, element("summary", {}, `${rest.length} more options`), list(rest)),
  );
}

/**
 * Return a histogram of values within [low, high]; `split` names a class of each value, in the
 * order of `classes`, and bars are stacked in it.
 */
export function histogram({ values, split, classes, low, high, unit }) {
  const bins = Array.from({ length: BINS }, () => classes.map(() => 0));
  let n = 0;
  values.forEach((value, index) => {
    if (value === null) return;
    const place = Math.floor(((value - low) / (high - low)) * BINS + 1e-9);
    bins[Math.max(0, Math.min(BINS - 1, place))][split(index)] += 1;
    n += 1;
  });
  const sums = bins.map((parts) => parts.reduce((sum, rows) => sum + rows, 0));
  const most = Math.max(1, ...sums);
  const edge = (place) => Number((low + (place / BINS) * (high - low)).toPrecision(3));
  const told = (place) => {
    const parts =
      classes.length > 1
        ? ` (${classes.map((name, part) => `${name} ${count(bins[place][part])}`).join(", ")})`
        : "";
    return `${edge(place)} to ${edge(place + 1)}: ${counted(sums[place], "row")}${parts}`;
  };
  const columns = bins.map((parts, place) =>
    element(
      "span.column",
      { title: told(place) },
      parts.map(
        (rows, part) =>
          rows > 0 && element(`span.stack.class-${part}`, { "--share": `${(100 * rows) / most}%` }),
      ),
    ),
  );
  return element(
    "div.histogram",
    {
      role: "img",
      "aria-label": `Histogram of ${unit}, ${counted(n, "row")}. ${sums
        .map((rows, place) => (rows ? told(place) : ""))
        .filter(Boolean)
        .join("; ")}`,
    },
    element("span.most.soft.number", {}, count(most)),
    element("div.columns", {}, columns),
    element(
      "div.scale.soft.number",
      {},
      element("span", {}, edge(0)),
      element("span", {}, edge(BINS / 2)),
      element("span", {}, edge(BINS)),
    ),
  );
}

/** Return a key to the colours of a stacked histogram or of two kinds of bars. */
export function key(entries) {
  return element(
    "p.key.soft",
    {},
    entries.map(([name, text]) => element("span", {}, element(`span.swatch.${name}`), ` ${text}`)),
  );
}

/**
 * Return how often each label (rows) met each answer (columns); `choose` is called with both.
 * Of many options only the commonest mistakes are listed.
 */
export function confusion(options, counts, choose) {
  return options.length > WIDEST_MATRIX
    ? mistakes(options, counts, choose)
    : matrix(options, counts, choose);
}

function matrix(options, counts, choose) {
  const cell = (row, column) => {
    const rows = counts[row][column];
    const sum = counts[row].reduce((total, each) => total + each, 0);
    const told = visible(
      `People ${options[row].name}, answered ${options[column].name}: ${counted(rows, "row")}`,
    );
    return element(
      `td${row === column ? ".right" : ""}`,
      { "--share": sum ? rows / sum : 0 },
      rows
        ? element(
            "button.number",
            {
              type: "button",
              title: `${told}. Show them`,
              "aria-label": `${told}. Show them`,
              onclick: () => choose(options[row].option, options[column].option),
            },
            count(rows),
          )
        : "0",
    );
  };
  return element(
    "div.scroll",
    {},
    element(
      "table.matrix",
      {},
      element("caption.hidden", {}, "People's labels in rows, answers in columns"),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("th.soft", { scope: "col" }, "people ↓ answer →"),
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
  return element("ul.options.pairs", {}, wrong.slice(0, MOST_BARS).map(item));
}

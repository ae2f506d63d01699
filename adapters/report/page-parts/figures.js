/* Small pictures made of boxes: bars by option, and histograms. */

import { element, shown } from "./dom.js";
import { count, counted, percent } from "./numbers.js";

const BINS = 20;
const MOST_LISTED = 14;

/** Return a figure with a heading that says what it shows. */
export function figure(heading, note, ...content) {
  return element(
    "figure.card",
    {},
    element("figcaption", {}, element("h3", {}, heading), note && element("span.soft", {}, note)),
    ...content,
  );
}

/** Return the head of a question's section: its name and type, and what is said of it. */
export function questionHead({ id, type }, ...said) {
  const name = element(
    "h2",
    { tabindex: -1 },
    shown("span", id),
    " ",
    element("span.kind", {}, type),
  );
  return element("div.question-head", {}, name, ...said);
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
      twoBars(answers[place] / most, (people?.[place] ?? 0) / most),
      twoCounts(answers[place], total, people?.[place]),
    ),
  );
  return optionList(bars);
}

/** Return a list of options' items, folded where they are many. */
export function optionList(items) {
  const list = (some) => element("ul.options", {}, some);
  if (items.length <= MOST_LISTED) return list(items);
  const rest = items.slice(MOST_LISTED);
  return element(
    "div",
    {},
    list(items.slice(0, MOST_LISTED)),
    element("details", {}, element("summary", {}, `${rest.length} more options`), list(rest)),
  );
}

function twoBars(answers, people) {
  return element(
    "span.option-bars",
    { "aria-hidden": "true" },
    answers > 0 && element("span.bar", { "--share": `${100 * answers}%` }),
    people > 0 && element("span.bar.people", { "--share": `${100 * people}%` }),
  );
}

function twoCounts(answers, total, people) {
  return element(
    "span.number",
    {},
    count(answers),
    element("span.soft", {}, total ? ` · ${percent(answers / total)}` : ""),
    people !== undefined &&
      element("span.people-count", {}, element("span.hidden", {}, ", people: "), count(people)),
  );
}

/**
 * Return a histogram of values within [low, high], those that are null left out; `split` gives the
 * index of each value's class among `classes`, and bars are stacked in that order.
 */
export function histogram({ values, split, classes, low, high, unit }) {
  const bins = Array.from({ length: BINS }, () => classes.map(() => 0));
  values.forEach((value, index) => {
    if (value === null) return;
    // A value on an edge belongs above it, whatever rounding made of it.
    const place = Math.floor(((value - low) / (high - low)) * BINS + 1e-9);
    bins[Math.max(0, Math.min(BINS - 1, place))][split(index)] += 1;
  });
  const edges = Array.from({ length: BINS + 1 }, (_, place) =>
    Number((low + (place / BINS) * (high - low)).toPrecision(3)),
  );
  const sums = bins.map((parts) => parts.reduce((sum, rows) => sum + rows, 0));
  const told = bins.map(
    (parts, place) =>
      `${edges[place]} to ${edges[place + 1]}: ${counted(sums[place], "row")}${inParts(parts, classes)}`,
  );
  const n = sums.reduce((sum, rows) => sum + rows, 0);
  const filled = told.filter((_, place) => sums[place] > 0);
  return element(
    "div.histogram",
    {
      role: "img",
      "aria-label": `Histogram of ${unit}, ${counted(n, "row")}. ${filled.join("; ")}`,
    },
    element("span.most.soft.number", {}, count(Math.max(1, ...sums))),
    element("div.columns", {}, columns(bins, Math.max(1, ...sums), told)),
    element(
      "div.scale.soft.number",
      {},
      [0, BINS / 2, BINS].map((place) => element("span", {}, edges[place])),
    ),
  );
}

function columns(bins, most, told) {
  return bins.map((parts, place) =>
    element(
      "span.column",
      { title: told[place] },
      parts.map(
        (rows, part) =>
          rows > 0 && element(`span.stack.class-${part}`, { "--share": `${(100 * rows) / most}%` }),
      ),
    ),
  );
}

function inParts(parts, classes) {
  if (classes.length < 2) return "";
  return ` (${classes.map((name, part) => `${name} ${count(parts[part])}`).join(", ")})`;
}

/* What people's labels say of the answers to one question. */

import { confusion } from "./confusion.js";
import { element, shown } from "./dom.js";
import { figure } from "./figures.js";
import { count, probability } from "./numbers.js";
import { plainTable } from "./tables.js";

const WORST = 6;
const LABELS = {
  caption: "People's labels in rows, answers in columns",
  corner: "people ↓ answer →",
  both: (label, answer) => `People ${label}, answered ${answer}`,
  none: "No answer differs from its label.",
};

/** Return the table of labels and answers; `mine` is called with a filter of this question. */
export function confusionOf(question, rows, mine) {
  const size = question.options.length;
  const counts = Array.from({ length: size }, () => new Array(size).fill(0));
  const labels = labelCodes(question);
  labels.forEach((label, row) => {
    if (label >= 0 && question.codes[row] >= 0) counts[label][question.codes[row]] += 1;
  });
  const choose = (label, option) => mine({ label, answer: `option:${option}` });
  return figure(
    "Labels and answers",
    "press a number to see its rows",
    confusion(question.options, counts, LABELS, choose),
  );
}

/** Return the reliability diagram with its bins in numbers, null where nothing was measured. */
export function reliability({ measured }) {
  return (
    measured && figure("Reliability", measured.used, picture(measured.reliability), bins(measured))
  );
}

/** Return the curve of risk and coverage, null where nothing was measured. */
export function risk({ measured }) {
  return measured && figure("Risk and coverage", "", picture(measured.risk));
}

/** Return the rows furthest from their labels; `open` is called with the one pressed. */
export function worst(question, rows, { mine, open }) {
  const found = [...rows.worst(question, WORST)];
  const all = () =>
    mine({
      agreement: "disagrees",
      sort: `disagreement:${rows.questions.indexOf(question)}`,
      descending: true,
    });
  return figure(
    "Worst disagreements",
    "furthest from the label first",
    found.length > 0
      ? element(
          "ol.rows",
          {},
          found.map((row) => disagreement(question, rows, { row, open })),
        )
      : element("p.soft", {}, "none: no answer differs from its label"),
    found.length > 0 &&
      element("button.quiet", { type: "button", onclick: all }, "Show all of them"),
  );
}

function disagreement(question, rows, { row, open }) {
  const confidence = rows.confidence(question, row);
  const text = rows.text(row).replace(/\s+/g, " ").trim();
  return element(
    "li",
    {},
    element(
      "button.row-link",
      { type: "button", onclick: () => open(row) },
      shown("span.text-line", text || rows.columns.ids[row]),
      element(
        "span.soft",
        {},
        shown("b.bad", rows.answer(question, row).option.name),
        confidence === null ? "" : ` ${probability(confidence)}`,
        ", people: ",
        shown("b", rows.label(question, row)),
      ),
    ),
  );
}

/** Return every measured number with the rule that made it. */
export function allNumbers({ metrics, used }) {
  return element(
    "details",
    {},
    element("summary", {}, "All numbers, each with its rule"),
    plainTable(used, [], metrics),
  );
}

/** Return the index of the option that people named in each row, below 0 where they named none. */
export function labelCodes({ labels, type }) {
  if (type !== "score") return labels;
  return labels.map((label) => (label >= 0 && label % 100 === 0 ? label / 100 : -1));
}

/** The pictures are ours, with their texts escaped; their colours come from the page. */
function picture(svg) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  drawn.removeAttribute("width");
  drawn.removeAttribute("height");
  return document.importNode(drawn, true);
}

function bins({ bins: found, rule }) {
  const cells = ({ probability: p, rate, interval, band, rows }) => [
    probability(p),
    `${probability(rate)} (${interval.map(probability).join(" to ")})`,
    band.map(probability).join(" to "),
    count(rows),
  ];
  return element(
    "details",
    {},
    element("summary", {}, "The same in numbers"),
    plainTable(
      `${rule}. Intervals of what happened are Wilson's, 95 %.`,
      ["Promised", "Happened", "Band if calibrated", "Rows"],
      found.map(cells),
    ),
  );
}

/* One question: how it was answered, how sure, and what people's labels say of that. */

import { element, shown } from "./dom.js";
import { confusion, figure, histogram, key, optionBars } from "./figures.js";
import { count, counted, percent, probability, short, words } from "./numbers.js";

const WORST = 6;
const FEW = 5;

/** Return the section of a question; `find` is called with a filter, `open` with a row. */
export function questionSection(question, rows, { find, open }) {
  const labelled = question.labelled > 0;
  const mine = (changes) => find({ question: question.id, ...changes });
  return element(
    "section.question",
    { "aria-label": question.id },
    element("div.question-head", {},
      element("h2", { tabindex: -1 }, shown("span", question.id), " ", element("span.kind", {}, question.type)),
      question.instructions && shown("p", question.instructions),
      element("p.soft", {}, totals(question))),
    alertOf(question),
    element("div.figures", {}, ...figures(question, rows, { labelled, mine, open })),
    question.measured && numbers(question.measured),
  );
}

function figures(question, rows, { labelled, mine, open }) {
  const first = [distribution(question, rows, labelled, mine), confidences(question, rows, labelled)];
  if (question.type !== "choice") first.push(values(question, rows));
  if (!labelled) return first;
  const drawn = [reliability(question), risk(question)];
  const table = confusionOf(question, rows, mine);
  const last = worst(question, rows, { mine, open });
  // Few options leave room beside the table of them; else the wide parts take a line of their own.
  if (question.type !== "choice") return [...first, table, ...drawn, wide(last, "whole")];
  if (question.options.length <= FEW) return [...first, table, ...drawn, last];
  return [...first, drawn[0], wide(table, "wide"), drawn[1], wide(last, "whole")];
}

function wide(part, how) {
  part.classList.add(how);
  return part;
}

function totals({ rows, answered, no_verdicts, mean_value, mean_confidence, mean_label_mass, flipped, accuracy, type, labelled }) {
  const causes = Object.entries(no_verdicts).map(([cause, n]) => `no verdict, ${words(cause)}: ${count(n)}`);
  const mean = (name, figure) => figure && `${name} ${short(figure.value)} (n=${count(figure.n)})`;
  return [
    `answered ${count(answered)} of ${count(rows)}`,
    ...causes,
    mean(type === "score" ? "mean score" : "mean P(true)", mean_value),
    mean("mean confidence", mean_confidence),
    mean("mean label mass", mean_label_mass),
    flipped && `${percent(flipped.value)} change with the order of options (n=${count(flipped.n)})`,
    accuracy && `accuracy ${percent(accuracy.value)} (95 %: ${percent(accuracy.low)} to ${percent(accuracy.high)}), ${count(accuracy.count)} of ${count(accuracy.n)}`,
    labelled > 0 && `${count(labelled)} labelled`,
  ].filter(Boolean).join(" · ");
}

function alertOf({ methods }) {
  const names = Object.entries(methods);
  if (names.length < 2) return null;
  return shown("p.alert", `Methods differ (${names.map(([name, n]) => `${name} ${count(n)}`).join(", ")}): these answers are not comparable.`);
}

function distribution(question, rows, labelled, mine) {
  const answers = tally(question.codes, question.options.length);
  const people = labelled ? tally(labelCodes(question), question.options.length) : null;
  return figure(
    "Answers",
    "the most probable option of each row",
    optionBars(question.options, answers, people, (option) => mine({ answer: `option:${option}` })),
    people && key([["class-0", "answers"], ["people", "people's labels"]]),
  );
}

function confidences(question, rows, labelled) {
  const shown = Array.from({ length: rows.length }, (_, row) => rows.confidence(question, row));
  const classes = labelled ? ["right", "wrong", "without a label"] : ["rows"];
  const place = new Map([[true, 0], [false, 1], [null, 2]]);
  return figure(
    "Confidence",
    "the probability of that option",
    histogram({ values: shown, classes, split: (row) => (labelled ? place.get(rows.agrees(question, row)) : 0), low: 0, high: 1, unit: "confidence" }),
    labelled && key([["class-0", "right"], ["class-1", "wrong"], ["class-2", "without a label"]]),
  );
}

function values(question, rows) {
  const high = question.type === "score" ? Math.max(1, question.options.length - 1) : 1;
  return figure(
    question.type === "score" ? "Score" : "P(true)",
    question.type === "score" ? "the expected level" : "the probability of yes",
    histogram({ values: Array.from({ length: rows.length }, (_, row) => rows.value(question, row)), classes: ["rows"], split: () => 0, low: 0, high, unit: question.type === "score" ? "the score" : "P(true)" }),
  );
}

function confusionOf(question, rows, mine) {
  const size = question.options.length;
  const counts = Array.from({ length: size }, () => new Array(size).fill(0));
  const labels = labelCodes(question);
  labels.forEach((label, row) => {
    if (label >= 0 && question.codes[row] >= 0) counts[label][question.codes[row]] += 1;
  });
  const choose = (label, option) => mine({ label, answer: `option:${option}` });
  return figure("Labels and answers", "press a number to see its rows", confusion(question.options, counts, choose));
}

function reliability({ measured }) {
  return measured && figure("Reliability", measured.used, picture(measured.reliability), bins(measured));
}

function risk({ measured }) {
  return measured && figure("Risk and coverage", "", picture(measured.risk));
}

/** The pictures are ours, with their texts escaped; their colours come from the page. */
function picture(svg) {
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  drawn.removeAttribute("width");
  drawn.removeAttribute("height");
  return document.importNode(drawn, true);
}

function bins({ bins, rule }) {
  const cells = ({ probability: p, rate, interval, band, rows }) => [
    probability(p), `${probability(rate)} (${interval.map(probability).join(" to ")})`, band.map(probability).join(" to "), count(rows),
  ];
  return element("details", {},
    element("summary", {}, "The same in numbers"),
    element("div.scroll", {}, element("table.plain", {},
      element("caption", {}, `${rule}. Intervals of what happened are Wilson's, 95 %.`),
      element("thead", {}, element("tr", {}, ["Promised", "Happened", "Band if calibrated", "Rows"].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, bins.map((bin) => element("tr", {}, cells(bin).map((cell) => element("td.number", {}, cell)))))),
    ));
}

function worst(question, rows, { mine, open }) {
  const found = rows.worst(question, WORST);
  const item = (row) => {
    const confidence = rows.confidence(question, row);
    return element("li", {},
      element("button.row-link", { type: "button", onclick: () => open(row) },
        shown("span.text-line", rows.text(row).replace(/\s+/g, " ").trim() || rows.columns.ids[row]),
        element("span.soft", {},
          shown("b.bad", rows.answer(question, row).option.name), confidence === null ? "" : ` ${probability(confidence)}`,
          ", people: ", shown("b", rows.label(question, row)))));
  };
  const all = () => mine({ agreement: "disagrees", sort: `disagreement:${rows.questions.indexOf(question)}`, descending: true });
  return figure(
    "Worst disagreements",
    "furthest from the label first",
    found.length ? element("ol.rows", {}, [...found].map(item)) : element("p.soft", {}, "none: every answer agrees with its label"),
    found.length && element("button.quiet", { type: "button", onclick: all }, "Show all of them"),
  );
}

function numbers({ metrics, used }) {
  return element("details", {},
    element("summary", {}, "All numbers, each with its rule"),
    element("div.scroll", {}, element("table.plain", {},
      element("caption", {}, used),
      element("tbody", {}, metrics.map(([name, value, rule]) => element("tr", {}, element("th", { scope: "row" }, name), element("td.number", {}, value), element("td.soft", {}, rule)))))));
}

function labelCodes({ labels, type }) {
  if (type !== "score") return labels;
  return labels.map((label) => (label >= 0 && label % 100 === 0 ? label / 100 : -1));
}

function tally(codes, size) {
  const counts = new Array(size).fill(0);
  for (const code of codes) if (code >= 0) counts[code] += 1;
  return counts;
}

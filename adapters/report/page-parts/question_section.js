/* One question: how it was answered, how sure, and what people's labels say of that. */

import { element, shown, visible } from "./dom.js";
import { figure, histogram, key, optionBars, questionHead } from "./figures.js";
import { allNumbers, confusionOf, labelCodes, reliability, risk, worst } from "./label_figures.js";
import { count, percent, short, words } from "./numbers.js";

const FEW = 5;

/** Return the section of a question; `find` is called with a filter, `open` with a row. */
export function questionSection(question, rows, { find, open }) {
  const labelled = question.labelled > 0;
  const mine = (changes) => find({ question: question.id, ...changes });
  return element(
    "section.question",
    { "aria-label": visible(question.id) },
    questionHead(
      question,
      question.instructions &&
        element("p.text", { dir: "auto" }, visible(question.instructions, "\n\t")),
      element("p.soft", {}, totals(question)),
    ),
    alertOf(question),
    element("div.figures", {}, ...figures(question, rows, { labelled, mine, open })),
    question.measured && allNumbers(question.measured),
  );
}

function figures(question, rows, { labelled, mine, open }) {
  if (!question.answered) return [element("p.soft", {}, "There is no answer to show.")];
  const first = [
    distribution(question, rows, labelled, mine),
    confidences(question, rows, labelled),
  ];
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

function totals(question) {
  const { flipped, accuracy, no_verdicts: causes, labelled, repeats } = question;
  const mean = (name, found) => found && `${name} ${short(found.value)} (n=${count(found.n)})`;
  return [
    `answered ${count(question.answered)} of ${count(question.rows)}`,
    ...Object.entries(causes).map(([cause, n]) => `no verdict, ${words(cause)}: ${count(n)}`),
    mean(question.type === "score" ? "mean score" : "mean P(true)", question.mean_value),
    mean("mean confidence", question.mean_confidence),
    mean("mean label mass", question.mean_label_mass),
    flipped && `${percent(flipped.value)} change with the order of options (n=${count(flipped.n)})`,
    repeats && again(repeats),
    accuracy && right(accuracy),
    labelled > 0 && `${count(labelled)} labelled`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function again({ flips, distance }) {
  const read = `${count(flips.n)} of ${count(flips.total)} items`;
  const moved = `probabilities by ${short(distance.value)}`;
  return `${percent(flips.value)} change when asked again, ${moved} (${read})`;
}

function right({ value, low, high, count: rows, n }) {
  const interval = `95 %: ${percent(low)} to ${percent(high)}`;
  return `accuracy ${percent(value)} (${interval}), ${count(rows)} of ${count(n)}`;
}

function alertOf({ methods }) {
  const names = Object.entries(methods);
  if (names.length < 2) return null;
  const listed = names.map(([name, n]) => `${name} ${count(n)}`).join(", ");
  return shown("p.alert", `Methods differ (${listed}): these answers are not comparable.`);
}

function distribution(question, rows, labelled, mine) {
  const answers = tally(question.codes, question.options.length);
  const people = labelled ? tally(labelCodes(question), question.options.length) : null;
  return figure(
    "Answers",
    "the most probable option of each row",
    optionBars(question.options, answers, people, (option) => mine({ answer: `option:${option}` })),
    people &&
      key([
        ["class-0", "answers"],
        ["people", "people's labels"],
      ]),
  );
}

function confidences(question, rows, labelled) {
  // An answer that was handed over to a person has a confidence, and is none of the answers.
  const values = question.codes.map((code, row) =>
    code < 0 ? null : rows.confidence(question, row),
  );
  const classes = labelled ? ["right", "wrong", "without a label"] : ["rows"];
  const place = new Map([
    [true, 0],
    [false, 1],
    [null, 2],
  ]);
  return figure(
    "Confidence",
    "the probability of that option",
    histogram({
      values,
      classes,
      split: (row) => (labelled ? place.get(rows.agrees(question, row)) : 0),
      low: 0,
      high: 1,
      unit: "confidence",
    }),
    labelled &&
      key([
        ["class-0", "right"],
        ["class-1", "wrong"],
        ["class-2", "without a label"],
      ]),
  );
}

function values(question, rows) {
  const high = question.type === "score" ? Math.max(1, question.options.length - 1) : 1;
  return figure(
    question.type === "score" ? "Score" : "P(true)",
    question.type === "score" ? "the expected level" : "the probability of yes",
    histogram({
      values: Array.from({ length: rows.length }, (_, row) => rows.value(question, row)),
      classes: ["rows"],
      split: () => 0,
      low: 0,
      high,
      unit: question.type === "score" ? "the score" : "P(true)",
    }),
  );
}

function tally(codes, size) {
  const counts = new Array(size).fill(0);
  for (const code of codes) if (code >= 0) counts[code] += 1;
  return counts;
}

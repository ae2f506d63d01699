/* The head of the page: what the results are, what must be known of them, and their totals. */

import { element, shown } from "./dom.js";
import { count, counted, short, span, words } from "./numbers.js";

/** Return the head of a page about these results. */
export function overviewHead(overview) {
  return element(
    "header.head",
    {},
    shown("h1", overview.name),
    element("p.soft", {}, subtitle(overview)),
    tiles(overview),
    ...alerts(overview),
    settings(overview),
  );
}

function subtitle({ run, models }) {
  const answered = Object.keys(models);
  const model = answered.length ? answered.join(", ") : run ? `${run.provider}/${run.model}` : null;
  const parts = [run && `classifier ${run.classifier}`, model && `model ${model}`].filter(Boolean);
  return shown("span", parts.join(" · "));
}

function tiles(overview) {
  const verdicts = overview.questions.flatMap(({ no_verdicts }) => Object.entries(no_verdicts));
  const unanswered = verdicts.reduce((sum, [, rows]) => sum + rows, 0);
  const causes = new Map();
  for (const [cause, rows] of verdicts) causes.set(cause, (causes.get(cause) ?? 0) + rows);
  return element(
    "dl.tiles",
    {},
    tile(
      "Rows answered",
      `${count(overview.answered)} of ${count(overview.rows)}`,
      failed(overview),
    ),
    tile(
      "No verdict",
      count(unanswered),
      [...causes].map(([cause, rows]) => `${words(cause)} ${count(rows)}`).join(", "),
    ),
    ...methods(overview),
    tile("Tokens", ...tokens(overview.usage)),
    overview.cost && tile("Cost", cost(overview.cost), price(overview.cost)),
    overview.times && tile("Time", span(overview.times.seconds), pace(overview.times)),
  );
}

function tile(name, value, note) {
  return element(
    "div",
    {},
    element("dt", {}, name),
    element("dd.value", {}, value),
    note && shown("dd.soft", note),
  );
}

function failed({ rows, answered, attempts }) {
  const failures = rows - answered;
  return [failures && `${count(failures)} failed`, counted(attempts, "request")]
    .filter(Boolean)
    .join(", ");
}

function methods({ questions }) {
  const found = new Set(questions.flatMap((question) => Object.keys(question.methods)));
  if (!found.size) return [];
  return [
    tile(
      "Method",
      found.size > 1 ? "mixed" : [...found][0],
      found.size > 1 ? [...found].join(", ") : null,
    ),
  ];
}

function tokens({
  input_tokens: input,
  output_tokens: output,
  cached_tokens: cached,
  rows_unknown: unknown,
}) {
  if (input === null && output === null) return ["unknown", "no provider said"];
  const known = (tokens, which) =>
    tokens === null ? `${which} unknown` : `${count(tokens)} ${which}`;
  const notes = [
    known(input, "in"),
    cached && `${count(cached)} of them cached`,
    known(output, "out"),
    unknown && `${counted(unknown, "row")} did not tell both`,
  ];
  const sum = count((input ?? 0) + (output ?? 0));
  return [atLeast(sum, unknown), notes.filter(Boolean).join(", ")];
}

const atLeast = (text, partial) => (partial ? `at least ${text}` : text);

const cost = ({ amount, at_least: partial }) => atLeast(short(amount), partial);

const price = ({ input, output }) =>
  `at ${input} in and ${output} out per million; cached tokens at full price`;

function pace({ first, last, median_seconds: median, n }) {
  const [[day, from], [lastDay, to]] = [first, last].map((at) =>
    at.replace("+00:00", "").split("T"),
  );
  const until = day === lastDay ? to : `${lastDay} ${to}`;
  return `${day} ${from} to ${until} UTC; a row took ${short(median)} s (median of ${count(n)})`;
}

function alerts(overview) {
  const told = overview.notes.map((note) => shown("p.alert", note));
  for (const { type, rows, first } of overview.errors) {
    told.push(
      shown("p.alert.bad", `${counted(rows, "row")} failed with ${type}. The first: ${first}`),
    );
  }
  for (const [warning, rows] of Object.entries(overview.warnings)) {
    told.push(shown("p.alert", `${counted(rows, "row")}: ${warning}`));
  }
  return told;
}

function settings({ run }) {
  if (!run) return null;
  const options = Object.entries(run.options).map(([name, value]) => `${words(name)} ${value}`);
  return element(
    "details",
    {},
    element("summary", {}, "How it was asked"),
    shown(
      "p.text.soft",
      `${options.join(", ")}. Fingerprint of the classifier: ${run.fingerprint}`,
    ),
  );
}

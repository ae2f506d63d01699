/* One pair of rows, opened: its text, and both runs' bars next to each other. */

import { flagLines, judged, labelNames, reasonOf, rightMark } from "./answer_parts.js";
import { element, shown, visible } from "./dom.js";
import { probability, short } from "./numbers.js";
import { RowDialog } from "./row_dialog.js";

export class PairDialog extends RowDialog {
  parts(row, detail) {
    return [
      ...["a", "b"].flatMap((side) => sideAlerts(side, detail[side])),
      this.state(row, detail),
      "other_state" in detail && otherState(detail.other_state),
      ...this.rows.questions.map((question) => pairAnswer(question, detail, this.rows, row)),
      shown(
        "p.soft",
        ["a", "b"]
          .map((side) => sideCost(side, detail[side]))
          .filter(Boolean)
          .join(" · "),
      ),
    ].filter(Boolean);
  }
}

function sideAlerts(side, { error, warnings }) {
  const name = side.toUpperCase();
  return [
    error && shown("p.alert.bad", `${name} failed: ${error}`),
    ...(warnings ?? []).map((warning) => shown("p.alert", `${name}: ${warning}`)),
  ];
}

function otherState(state) {
  return element(
    "div",
    {},
    element("p.warn", {}, "B judged something else:"),
    judged(state, "What B judged"),
  );
}

function pairAnswer(question, detail, rows, row) {
  const answers = ["a", "b"].map((side) => detail[side].answers[question.id]);
  const distance = rows.distance(question, row);
  const said = detail.labels[question.id];
  return element(
    "section.answer",
    {},
    element(
      "div.answer-head",
      {},
      shown("h3", question.id),
      distance !== null && element("p.soft.number", {}, `total variation ${probability(distance)}`),
      said && shown("p.label", `people: ${labelNames(question, said)}`),
    ),
    element(
      "div.sides",
      {},
      answers.map((answer, index) => sideHead(question, "ab"[index], answer, rows, row)),
    ),
    answers.some((answer) => answer?.bars) && pairBars(question, answers),
    ...answers.flatMap((answer, index) => sideNotes("AB"[index], answer)),
  );
}

function sideHead(question, side, answer, rows, row) {
  return element(
    "p.side",
    {},
    element(`span.side-name.side-${side}`, {}, side.toUpperCase()),
    " ",
    answer
      ? shown(`span.${answer.message ? "warn" : "verdict"}`, answer.verdict)
      : element("span.bad", {}, "no answer"),
    rightMark(rows.right(question, side, row)),
  );
}

/** Return a table with a line for each option: both probabilities, and both bars. */
function pairBars(question, answers) {
  const most = answers.map((answer) =>
    Math.max(...Object.values(answer?.bars ?? {}).map(([p]) => p)),
  );
  const line = ({ option, name }) => {
    const bars = answers.map((answer) => answer?.bars?.[option]);
    return element(
      "tr",
      {},
      shown("th", name, { scope: "row" }),
      bars.map((bar, index) =>
        element(
          `td.number${bar && bar[0] === most[index] ? ".best" : ""}`,
          {},
          bar ? pairNumber(bar) : "–",
        ),
      ),
      element(
        "td.tracks",
        { "aria-hidden": "true" },
        bars.map((bar, index) => pairTrack(bar, "ab"[index])),
      ),
    );
  };
  return element(
    "table.pair-bars",
    {},
    element("caption.hidden", {}, `Probabilities of ${visible(question.id)}`),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ["Option", "A", "B", ""].map((name) => element("th", { scope: "col" }, name)),
      ),
    ),
    element("tbody", {}, question.options.map(line)),
  );
}

function pairNumber([p, low, high]) {
  return high - low < 5e-4
    ? probability(p)
    : `${probability(p)} (${probability(low)} to ${probability(high)})`;
}

function pairTrack(bar, side) {
  if (!bar) return element("span.track");
  const [p, low, high] = bar;
  const share = (value) => `${100 * value}%`;
  return element(
    "span.track",
    {},
    element(`span.track-known.side-${side}`, { "--to": share(Math.min(p, low)) }),
    high > low &&
      element(`span.track-tail.side-${side}`, { "--from": share(low), "--to": share(high - low) }),
  );
}

function sideNotes(side, answer) {
  if (!answer) return [];
  return [
    answer.message && shown("p", `${side}: ${answer.message}`),
    ...flagLines(answer, `${side} `),
    answer.facts && shown("p.soft", `${side}: ${answer.facts.join(" · ")}`),
    reasonOf(answer, `Reason of ${side}`),
  ].filter(Boolean);
}

function sideCost(side, { seconds, tokens }) {
  const parts = [
    seconds !== null && `${short(seconds)} s`,
    tokens !== null && `${tokens} tokens in`,
  ].filter(Boolean);
  return parts.length ? `${side.toUpperCase()}: ${parts.join(", ")}` : null;
}

/* What was sent and seen for one answer, as tables that are opened when they are wanted. */

import { element, shown } from "./dom.js";
import { probability, short } from "./numbers.js";
import { plainTable } from "./tables.js";

/** Return the evidence of an answer, as details.py gives it. */
export function evidenceOf(evidence) {
  const orders = evidence.orders ?? [];
  return element(
    "details.evidence",
    {},
    element("summary", {}, "Evidence"),
    facts(evidence),
    ...orders.map((order, index) =>
      orderSeen(order, orders.length > 1 ? `Listing ${index + 1}` : null),
    ),
  );
}

/** Return names and values, those without a value left out. */
export function definitions(pairs) {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return element(
    "dl.facts",
    {},
    known.map(([name, value]) => element("div", {}, element("dt", {}, name), shown("dd", value))),
  );
}

/** Return tokens used in words. */
export function tokensUsed(usage) {
  const { input_tokens: input, output_tokens: output } = usage ?? {};
  if (input === undefined && output === undefined) return null;
  const known = (tokens, which) =>
    tokens === undefined ? `${which} unknown` : `${tokens} ${which}`;
  const more = [
    usage.cached_tokens ? `${usage.cached_tokens} cached` : null,
    known(output, "out"),
    usage.reasoning_tokens ? `${usage.reasoning_tokens} of them reasoning` : null,
  ].filter(Boolean);
  return [known(input, "in"), ...more].join(", ");
}

function facts(evidence) {
  const listed = (values) =>
    values &&
    Object.entries(values)
      .map(([name, value]) => `${name} ${short(value)}`)
      .join(", ");
  return definitions([
    ["Model asked", evidence.requested],
    ["Model that answered", evidence.reported],
    ["System", evidence.system],
    ["Tokens", tokensUsed(evidence.usage)],
    ["Requests", evidence.attempts],
    ["Seconds", evidence.seconds],
    ["Asked at", evidence.at],
    ["Not seen, only bounded", evidence.unseen?.join(", ")],
    ["Draws", listed(evidence.draws)],
    ["Written instead of an answer", evidence.written?.join(" · ")],
    ["Words at the ends", listed(evidence.anchors)],
    ["Prior divided out", listed(evidence.prior)],
    ["Calibrator", evidence.calibrator && `${evidence.calibrator}…`],
  ]);
}

function orderSeen(order, heading) {
  return element(
    "section.order",
    {},
    heading && element("h4", {}, heading),
    definitions([
      ["Prompt hash", `${order.prompt}…`],
      ["Label mass", short(order.mass)],
      ["Token position", order.position],
      ["Groups above", order.path?.join(" › ")],
      ["Response", order.response],
    ]),
    order.tokens
      ? plainTable(
          "Words and the logprobs of their tokens",
          ["Word", "Counts for", "Logprobs"],
          wordRows(order),
        )
      : plainTable("Labels as listed", ["Label", "Option", "Probability"], labelRows(order)),
    order.alternatives &&
      plainTable(
        "Alternatives at the slot",
        ["Token", "Probability", "Logprob", "Counts for"],
        alternativeRows(order),
      ),
  );
}

const wordRows = ({ tokens, labels }) =>
  Object.entries(tokens).map(([word, logs]) => [
    word,
    labels[word] ?? "",
    logs.map((log) => log?.toFixed(3) ?? "−∞").join(" "),
  ]);

const labelRows = ({ labels, probabilities }) =>
  Object.entries(labels).map(([label, option]) => [
    label,
    option,
    option in probabilities ? probability(probabilities[option]) : "",
  ]);

const alternativeRows = ({ alternatives }) =>
  alternatives.map(([token, log, label]) => [
    JSON.stringify(token),
    log === null ? "0" : probability(Math.exp(log)),
    log === null ? "−∞" : log.toFixed(3),
    label ?? "",
  ]);

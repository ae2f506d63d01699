/* The bars of one answer: probabilities, what is known of them, and what they were before. */

import { element, shown } from "./dom.js";
import { probability } from "./numbers.js";

/** Return a table of bars, one per option, as details.py gives them. */
export function answerBars(bars, { label }) {
  const calibrated = bars.some(({ raw }) => raw !== undefined);
  const head = ["Option", "Probability", "", calibrated ? "Before calibration" : null];
  const names = head.filter((name) => name !== null);
  return element(
    "table.answer-bars",
    {},
    element("caption.hidden", {}, `Probabilities of ${label}`),
    element(
      "colgroup",
      {},
      names.map((_, place) => element(`col.bars-${place}`)),
    ),
    element(
      "thead.hidden",
      {},
      element(
        "tr",
        {},
        names.map((name) => element("th", { scope: "col" }, name || "Bar")),
      ),
    ),
    element(
      "tbody",
      {},
      bars.map((bar) => line(bar, calibrated)),
    ),
  );
}

function line(bar, calibrated) {
  const { p, low = p, high = p, raw, best } = bar;
  const interval = low === high ? "" : ` (${probability(low)} to ${probability(high)})`;
  return element(
    `tr${best ? ".best" : ""}`,
    {},
    shown("th", bar.name, { scope: "row" }),
    element("td.number", {}, `${probability(p)}${interval}`),
    element("td.track-cell", {}, track({ p, low, high, raw })),
    calibrated && element("td.number.soft", {}, raw === undefined ? "" : probability(raw)),
  );
}

function track({ p, low, high, raw }) {
  const share = (value) => `${100 * value}%`;
  const parts = [element("span.track-known", { "--to": share(Math.min(p, low)) })];
  if (high > low)
    parts.push(element("span.track-tail", { "--from": share(low), "--to": share(high - low) }));
  if (high > low) parts.push(element("span.track-mark", { "--from": share(p) }));
  if (raw !== undefined) parts.push(element("span.track-raw", { "--from": share(raw) }));
  return element("span.track", { "aria-hidden": "true" }, parts);
}

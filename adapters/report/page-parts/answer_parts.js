/* What is said of an answer in the panel of a row, and of a row in both runs. */

import { element, shown, visible } from "./dom.js";

/** Return what was judged, in a box of its own; `label` says whose. */
export function judged(state, label) {
  const text = typeof state === "string" ? state : JSON.stringify(state, null, 2);
  return element(
    "div.state",
    { tabindex: 0, role: "region", "aria-label": label, dir: "auto" },
    visible(text, "\n\t"),
  );
}

/** Return a line for each flag of an answer, after a side's name if there are two. */
export function flagLines({ flags = [] }, side = "") {
  return flags.map(([name, told]) =>
    element("p.flagged", {}, side, element("span.flag", {}, name), " ", shown("span", told)),
  );
}

/** Return the reason that a model gave, to be folded; null where there is none. */
export function reasonOf({ reason }, heading) {
  if (!reason) return null;
  return element(
    "details",
    { open: true },
    element("summary", {}, heading),
    element("p.text", { dir: "auto" }, visible(reason, "\n\t")),
  );
}

/** Return what people said, by the names of options. */
export function labelNames({ options, type }, labels) {
  const name = (label) => {
    const option = type === "score" ? String(Number(label)) : String(label);
    return options.find((each) => each.option === option)?.name ?? String(label);
  };
  return labels.map(name).join(", ");
}

/** Return a sign of whether an answer is what people said; null where that is not known. */
export function rightMark(right) {
  if (right === null) return null;
  return element(
    `span${right ? ".good" : ".bad"}`,
    { title: right ? "as people said" : "not as people said" },
    right ? " ✓" : " ✗",
  );
}

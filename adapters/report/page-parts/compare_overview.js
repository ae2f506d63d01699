/* The head of the page: which runs, what differs between them, what each took. */

import { factsCard } from "./compare_figures.js";
import { element, shown } from "./dom.js";
import { counted } from "./numbers.js";

/** Return the head of a page about two runs. */
export function pairHead(overview) {
  const { a, b, differences, notes, pairs, closing } = overview;
  return element(
    "header.head",
    {},
    element(
      "h1",
      {},
      shown("span", a.name),
      element("span.soft", {}, " → "),
      shown("span", b.name),
    ),
    element(
      "div.figures",
      {},
      sideCard("A", a),
      sideCard("B", b),
      factsCard("What differs", differences),
    ),
    element("p", {}, `${counted(pairs, "pair")} of rows, by id.`),
    ...notes.map((note) => shown("p.alert", note)),
    shown("p.soft", closing),
  );
}

function sideCard(side, { name, model, fingerprint, cost }) {
  const facts = [["results", name], ["model", model], ...cost];
  if (fingerprint) facts.push(["fingerprint", `${fingerprint.slice(0, 16)}…`]);
  return factsCard(`Run ${side}`, facts);
}

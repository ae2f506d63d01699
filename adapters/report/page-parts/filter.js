/* What a reader looks for, as it is kept in the address after "#". It knows no document. */

const DEFAULTS = {
  search: "",
  outcome: "",
  question: "",
  answer: "",
  label: "",
  agreement: "",
  flag: "",
  from: null,
  to: null,
  sort: "",
  descending: false,
  row: null,
};
const NUMBERS = ["from", "to", "row"];

/** Return a filter that keeps everything, changed by `changes`. */
export function everything(changes = {}) {
  return { ...DEFAULTS, ...changes };
}

/** Read the part of an address after "#"; what cannot be read there is left at its default. */
export function readFilter(hash) {
  const found = everything();
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (!Object.hasOwn(DEFAULTS, key)) continue;
    if (NUMBERS.includes(key))
      found[key] = value !== "" && Number.isFinite(Number(value)) ? Number(value) : null;
    else found[key] = key === "descending" ? value === "true" : value;
  }
  return found;
}

/** Return the part of an address after "#", with only what differs from the default. */
export function writeFilter(filter) {
  const changed = Object.entries(filter).filter(([key, value]) => value !== DEFAULTS[key]);
  return changed.length ? `#${new URLSearchParams(changed)}` : "";
}

/** Whether a filter leaves rows out. */
export function narrows(filter) {
  const { sort, descending, row, question, ...rest } = filter;
  return Object.entries(rest).some(([key, value]) => value !== DEFAULTS[key]);
}

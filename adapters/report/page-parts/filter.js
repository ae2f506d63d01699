/* What a reader looks for, as it is kept in the address after "#". It knows no document. */

/** Filters of one kind: `defaults` keep everything; null there is a number, false a yes or no. */
export class Filters {
  constructor(defaults) {
    this.defaults = defaults;
  }

  /** Return a filter that keeps everything, changed by `changes`. */
  everything(changes = {}) {
    return { ...this.defaults, ...changes };
  }

  /** Return the value that a text stands for, the default where it stands for none. */
  value(name, text) {
    if (this.defaults[name] === null)
      return text !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
    return this.defaults[name] === false ? text === "true" : text;
  }

  /** Read the part of an address after "#"; what cannot be read there is left at its default. */
  read(hash) {
    const found = this.everything();
    for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
      if (Object.hasOwn(this.defaults, name)) found[name] = this.value(name, text);
    }
    return found;
  }

  /** Return the part of an address after "#", with only what differs from the default. */
  write(filter) {
    const changed = Object.entries(filter).filter(([name, value]) => !this.isDefault(name, value));
    return changed.length ? `#${new URLSearchParams(changed)}` : "";
  }

  isDefault(name, value) {
    return value === this.defaults[name];
  }
}

export const rowFilters = new Filters({
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
});

export const pairFilters = new Filters({
  search: "",
  question: "",
  change: "",
  from: "",
  to: "",
  right: "",
  sort: "",
  row: null,
});

/** Whether a filter of rows leaves some out. */
export function narrows(filter) {
  const { sort, descending, row, question, ...rest } = filter;
  return Object.entries(rest).some(([name, value]) => !rowFilters.isDefault(name, value));
}

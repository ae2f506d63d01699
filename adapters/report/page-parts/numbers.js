/* Numbers as people read them: the same everywhere on a page. */

const WHOLE = new Intl.NumberFormat("en-GB");

/** Return a count with separators. */
export function count(value) {
  return WHOLE.format(value);
}

/** Return "1 row", "2 rows". */
export function counted(value, one, several = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/** Return a probability with three decimals, small ones with two significant digits. */
export function probability(value) {
  return value !== 0 && value < 0.0005 ? value.toExponential(1) : value.toFixed(3);
}

/** Return a share as a percentage. */
export function percent(value) {
  return `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)} %`;
}

/** Return a number with three significant digits. */
export function short(value) {
  const size = Math.abs(value);
  if (value !== 0 && (size < 0.001 || size >= 1e6)) return value.toExponential(2);
  return String(Number(value.toPrecision(3)));
}

/** Return a time span in words. */
export function span(seconds) {
  if (seconds < 60) return `${short(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Return the words of a machine's name: "low_label_mass" is "low label mass". */
export function words(name) {
  return name.replaceAll("_", " ");
}

/* Making elements. Text is always put in as text, never as markup. */

const PLAIN = /^[\x20-\x7e]*$/;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const BLANK = /[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u{e0100}-\u{e01ef}]/gu;
const IDLE_JOINER = /(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])/gu;
const JOINERS = "\u200c\u200d";
const SHORT_ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/**
 * Return text with what is not seen, or moves what is, as escapes, except those in `keep`: the
 * same, character for character, as classify/display/safe_text.py.
 */
export function visible(text, keep = "") {
  const given = String(text);
  if (PLAIN.test(given)) return given;
  return given
    .replace(BLANK, escaped)
    .replace(IDLE_JOINER, escaped)
    .replace(INVISIBLE, (character) =>
      JOINERS.includes(character) || keep.includes(character) ? character : escaped(character),
    );
}

function escaped(character) {
  const code = character.codePointAt(0);
  const digits = code.toString(16);
  if (SHORT_ESCAPES[character]) return SHORT_ESCAPES[character];
  if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${digits.padStart(4, "0")}`;
  return `\\U${digits.padStart(8, "0")}`;
}

/**
 * Return a new element: `tag` may carry classes ("button.quiet"), `on…` properties are listeners,
 * `--…` properties are set as CSS variables; children are nodes or text, or nothing.
 */
export function element(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("--")) made.style.setProperty(key, value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  const nothing = [undefined, null, false];
  made.append(...children.flat().filter((child) => !nothing.includes(child)));
  return made;
}

/** Return an element that shows text from data: invisible characters seen, its own direction. */
export function shown(tag, text, properties = {}) {
  return element(tag, { dir: "auto", ...properties }, visible(text));
}

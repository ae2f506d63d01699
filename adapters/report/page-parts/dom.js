/* Making elements. Text is always put in as text, never as markup. */

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const SHORT_ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/**
 * Return text with control, format and bidi characters as escapes, except those in `keep`.
 * Joiners stay: scripts and emoji need them. The same as classify/display/safe_text.py.
 */
export function visible(text, keep = "") {
  return String(text).replace(INVISIBLE, (character) => {
    if (character === "\u200c" || character === "\u200d" || keep.includes(character)) {
      return character;
    }
    const code = character.codePointAt(0);
    const digits = code.toString(16);
    if (SHORT_ESCAPES[character]) return SHORT_ESCAPES[character];
    if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
    if (code < 0x10000) return `\\u${digits.padStart(4, "0")}`;
    return `\\U${digits.padStart(8, "0")}`;
  });
}

/**
 * Return a new element: `tag` may carry classes ("button.quiet"), `on…` properties are listeners,
 * `--…` properties are set as CSS variables, children are nodes or text.
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
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return an element that shows text from data: invisible characters seen, its own direction. */
export function shown(tag, text, properties = {}) {
  return element(tag, { dir: "auto", ...properties }, visible(text));
}

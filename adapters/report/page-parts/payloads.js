/* Reading what shell.py put into the page. */

/** Return the value of a plain payload. */
export function plainPayload(name) {
  return JSON.parse(document.getElementById(`payload-${name}`).textContent);
}

/** Return (a promise of) the value of a packed payload, which may still be on its way. */
export async function packedPayload(name) {
  const packed = atob((await payloadElement(name)).textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

async function payloadElement(name) {
  const find = () => document.getElementById(`payload-${name}`);
  // What follows an element tells that all of its text has been read.
  if (!find()?.nextSibling && document.readyState === "loading") {
    await new Promise((done) =>
      document.addEventListener("DOMContentLoaded", done, { once: true }),
    );
  }
  return find();
}

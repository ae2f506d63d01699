/* Reading what shell.py put into the page. */

/** Return the value of a plain payload. */
export function plainPayload(name) {
  return JSON.parse(document.getElementById(`payload-${name}`).textContent);
}

/** Return (a promise of) the value of a packed payload, which may still be on its way. */
export async function packedPayload(name) {
  const bytes = decoded((await payloadElement(name)).textContent);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place += 1) bytes[place] = characters.charCodeAt(place);
  return bytes;
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

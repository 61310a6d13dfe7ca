/**
 * The URL that a text spells, or `undefined`.
 *
 * Not `URL.canParse`: on Node 20 and 22, once V8 has made it fast, that takes the Latin-1 bytes of a text for UTF-8 and
 * refuses `https://exämple.com/`, which it took until then (nodejs/node 48816 is of its kind).
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

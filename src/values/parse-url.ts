/**
 * Parses a URL; `undefined` when it is invalid.
 *
 * Does not use `URL.canParse`: on Node 20 and 22, once V8 has optimised the call, it reads the Latin-1 bytes of a string
 * as UTF-8 and rejects `https://exämple.com/`, which it accepted before (nodejs/node 48816 is related).
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/**
 * Parses a URL, relative to `base` where there is one; `undefined` when it is invalid.
 *
 * Does not use `URL.canParse`: on Node 20 and 22, once V8 has optimised the call, it reads the Latin-1 bytes of a string
 * as UTF-8 and rejects `https://exämple.com/`, which it accepted before (nodejs/node 48816 is related).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

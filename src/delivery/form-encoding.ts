/**
 * Form encoding as in KAZOO (`kz_http_util:props_to_querystring`): a space is `+`, the unreserved characters
 * of RFC 3986 stay, everything else is `%XX`. Arrays are `k[]=a&k[]=b`, objects `k[sub]=v`; empty arrays and
 * objects are left out.
 */

const UNRESERVED = /^[\w.~-]*$/
const NOT_UNRESERVED = /[!'()*]/g

/** Encodes one key part or value: `+` for a space, `%XX` for everything except `A-Za-z0-9.-_~`. @internal */
export function formEscape(text: string): string {
  // Nearly every key and most values need no escaping.
  if (UNRESERVED.test(text)) return text
  return encodeURIComponent(text)
    .replace(NOT_UNRESERVED, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}

function append(pairs: string[], key: string, value: unknown): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) {
    for (const item of value) append(pairs, `${key}[]`, item)
  } else if (typeof value === 'object') {
    for (const [part, member] of Object.entries(value)) append(pairs, `${key}[${formEscape(part)}]`, member)
  } else {
    pairs.push(`${key}=${formEscape(String(value))}`)
  }
}

/** Encodes an object as pairs in the order of its keys, joined by `&`. */
export function formEncode(object: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = []
  for (const [key, value] of Object.entries(object)) append(pairs, formEscape(key), value)
  return pairs.join('&')
}

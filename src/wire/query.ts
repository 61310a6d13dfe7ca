/** A parsed query string: name-value pairs in order, decoded once. */
export type Query = readonly (readonly [name: string, value: string])[]

const NONE: Query = []

/** Decodes a name or value. Malformed percent-encoding stays as it is, so that the field's own validation reports it. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

/**
 * Parses the query of a request target. `+` is a space (`application/x-www-form-urlencoded`); a name without `=` has
 * an empty value.
 */
export function parseQuery(url: string): Query {
  const start = url.indexOf('?')
  if (start < 0 || start === url.length - 1) return NONE
  const pairs: [string, string][] = []
  for (const part of url.slice(start + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    pairs.push(
      equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))],
    )
  }
  return pairs
}

/** Returns the first value of a name. */
export function getQueryValue(query: Query, name: string): string | undefined {
  for (const [key, value] of query) if (key === name) return value
  return undefined
}

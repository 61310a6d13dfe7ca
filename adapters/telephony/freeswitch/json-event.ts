/**
 * Parses events in the `json` format: one flat object of strings and arrays of strings.
 *
 * In such an object the characters `,"Name":` can only be a key: within a string a quotation mark is escaped by a
 * backslash, and a string or array element is followed by a comma or a bracket, never by a colon. So a substring search
 * is exact, and 8 KiB need not be parsed for five values.
 */
import { detachSubstring } from '../source/sanitize.js'
import { cacheSearchKeys, decodeUtf8, type EslEvent, type EventValue, joinArray } from './event.js'

const FIRST_KEY = '{"Event-Name":"'
const searchKeyOf = cacheSearchKeys((name) => `,"${name}":`)
const QUOTE = 34
const BRACKET = 91
const CLOSING_BRACKET = 93
const BACKSLASH = 92
const COMMA = 44
const COLON = 58

/** The event's name from the first bytes of a body; `undefined`: `Event-Name` is not the first key. */
export function peekJsonEventName(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, 80)
  if (!start.startsWith(FIRST_KEY)) return undefined
  const end = start.indexOf('"', FIRST_KEY.length)
  return end < 0 ? undefined : start.slice(FIRST_KEY.length, end)
}

/** Parses a body; `undefined`: it is not an event. */
export function parseJsonEvent(body: Buffer): EslEvent | undefined {
  const whole = body.toString('latin1')
  if (!whole.startsWith('{"') || !whole.endsWith('}')) return undefined

  // The channel variables come last and are the largest part of an event: a search reads only one of the two parts.
  const variablesAt = findKey(whole, 'variable_')
  const head = variablesAt < 0 ? whole : whole.slice(0, variablesAt)
  const tail = variablesAt < 0 ? '' : whole.slice(variablesAt)

  const find = (name: string): EventValue | undefined => {
    if (name.startsWith('variable_')) return parseValue(tail, findValue(tail, name))
    const at = findValue(head, name)
    return at < 0 ? parseValue(tail, findValue(tail, name)) : parseValue(head, at)
  }
  const header = (name: string): string | undefined => {
    const value = find(name)
    return typeof value === 'string' || value === undefined ? value : joinArray(value)
  }
  const name = header('Event-Name')
  if (name === undefined) return undefined
  return {
    name,
    header,
    value: find,
    forEach(prefix, visit: (name: string, value: EventValue) => void) {
      const text = prefix.startsWith('variable_') ? tail : whole
      for (let at = findKey(text, prefix); at >= 0; at = findKey(text, prefix, at + 1)) {
        const from = at + 2 + prefix.length
        const end = findClosingQuote(text, from)
        const value = parseValue(text, end + 2)
        const shortName = unescapeString(text.slice(from, end))
        if (value !== undefined && shortName !== undefined) visit(shortName, value)
      }
    },
  }
}

/** Index of the comma before the next key with this prefix, or -1. Array elements are skipped. */
function findKey(text: string, prefix: string, from = 0): number {
  const start = `,"${prefix}`
  for (let at = text.indexOf(start, from); at >= 0; at = text.indexOf(start, at + 1)) {
    const end = findClosingQuote(text, at + start.length)
    if (end >= 0 && text.charCodeAt(end + 1) === COLON) return at
  }
  return -1
}

/** Index of the value of a key, or -1. */
function findValue(text: string, name: string): number {
  const key = searchKeyOf(name)
  const at = text.indexOf(key)
  if (at >= 0) return at + key.length
  return text.startsWith(key.slice(1), 1) && text.startsWith('{') ? key.length : -1
}

function parseValue(text: string, at: number): EventValue | undefined {
  const first = at < 0 ? 0 : text.charCodeAt(at)
  if (first === QUOTE) {
    const end = findClosingQuote(text, at + 1)
    return end < 0 ? undefined : unescapeString(text.slice(at + 1, end))
  }
  return first === BRACKET ? parseArray(text, at) : undefined
}

/** Index of the quotation mark that ends the string, or -1. */
function findClosingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (end - backslashes > from && text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return -1
}

function parseArray(text: string, at: number): readonly string[] | undefined {
  const values: string[] = []
  let from = at + 1
  while (text.charCodeAt(from) === QUOTE) {
    const end = findClosingQuote(text, from + 1)
    const value = end < 0 ? undefined : unescapeString(text.slice(from + 1, end))
    if (value === undefined) return undefined
    values.push(value)
    from = text.charCodeAt(end + 1) === COMMA ? end + 2 : end + 1
  }
  return text.charCodeAt(from) === CLOSING_BRACKET ? values : undefined
}

/** The string between two quotation marks; `undefined`: it has an invalid escape. */
function unescapeString(raw: string): string | undefined {
  const text = decodeUtf8(raw)
  if (!text.includes('\\')) return detachSubstring(text)
  try {
    // An escape may be a lone surrogate, which an event must not contain.
    return (JSON.parse(`"${text}"`) as string).toWellFormed()
  } catch {
    return undefined
  }
}

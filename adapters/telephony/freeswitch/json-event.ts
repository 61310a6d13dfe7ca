/**
 * Parses events in the `json` format: one flat object of strings and arrays of strings.
 *
 * In such an object the characters `,"Name":` can only be a key: within a string a quotation mark is escaped by a
 * backslash, and a string or array element is followed by a comma or a bracket, never by a colon. So a substring search
 * is exact, and 8 KiB need not be parsed for five values.
 */
import { detachSubstring } from '../source/sanitize.js'
import {
  decodeUtf8,
  digitsAt,
  type EslEvent,
  type EventValue,
  internName,
  isUnescaped,
  joinArray,
} from './event.js'
import { createHeaderFinder, type FoundHeaders } from './header-finder.js'

const FIRST_KEY = '{"Event-Name":"'
/** In a string, a comma cannot precede a quotation mark without a backslash. */
const finder = createHeaderFinder({ before: ',"', after: '":' })
const QUOTE = 34
const BRACKET = 91
const CLOSING_BRACKET = 93
const BACKSLASH = 92
const COMMA = 44
const COLON = 58
const NOT_PLAIN = /[\\\x80-\xff]/

/** The event's name from the first bytes of a body; `undefined`: `Event-Name` is not the first key. */
export function peekJsonEventName(body: Buffer): string | undefined {
  return firstName(body.toString('latin1', 0, 80))
}

function firstName(start: string): string | undefined {
  if (!start.startsWith(FIRST_KEY)) return undefined
  const end = start.indexOf('"', FIRST_KEY.length)
  const name = end < 0 ? '\\' : start.slice(FIRST_KEY.length, end)
  return NOT_PLAIN.test(name) ? undefined : internName(name)
}

/**
 * Parses a body; `undefined`: it is not an event.
 *
 * @param peekedName what `peekJsonEventName` returned for it
 */
export function parseJsonEvent(body: Buffer, peekedName = peekJsonEventName(body)): EslEvent | undefined {
  const text = body.toString('latin1')
  if (!text.startsWith('{"') || !text.endsWith('}')) return undefined
  if (peekedName !== undefined) return new JsonEvent(peekedName, text)
  // The first key must follow a comma to be found.
  const found = `,${text.slice(1)}`
  const name = new JsonEvent('', found).header('Event-Name')
  return name === undefined ? undefined : new JsonEvent(name, found)
}

class JsonEvent implements EslEvent {
  private readonly found: FoundHeaders

  constructor(
    readonly name: string,
    private readonly text: string,
  ) {
    this.found = finder.find(name, text)
  }

  header(name: string): string | undefined {
    const value = this.value(name)
    return typeof value === 'string' || value === undefined ? value : joinArray(value)
  }

  value(name: string): EventValue | undefined {
    return parseValue(this.text, this.offsetOf(name))
  }

  microseconds(name: string): number {
    const at = this.offsetOf(name)
    return at < 0 ? 0 : digitsAt(this.text, at + 1, QUOTE)
  }

  hasValue(name: string, value: string): boolean {
    const at = this.offsetOf(name)
    if (at < 0) return false
    if (!isUnescaped(value)) return this.header(name) === value
    if (this.text.charCodeAt(at) !== QUOTE) return false
    return this.text.startsWith(value, at + 1) && this.text.charCodeAt(at + 1 + value.length) === QUOTE
  }

  private offsetOf(name: string): number {
    if (name === 'Event-Name' && this.text.startsWith(FIRST_KEY)) return FIRST_KEY.length - 1
    return this.found.valueOf(name)
  }

  forEach(prefix: string, visit: (name: string, value: EventValue) => void): void {
    const { text } = this
    for (const from of this.found.behindPrefix(prefix)) {
      const end = findClosingQuote(text, from)
      // An element of an array is followed by a comma or a bracket.
      if (end < 0 || text.charCodeAt(end + 1) !== COLON) continue
      const value = parseValue(text, end + 2)
      const shortName = unescapeString(text.slice(from, end))
      if (value !== undefined && shortName !== undefined) visit(shortName, value)
    }
  }
}

function parseValue(text: string, at: number): EventValue | undefined {
  const first = at < 0 ? 0 : text.charCodeAt(at)
  if (first === QUOTE) {
    const end = text.indexOf('"', at + 1)
    const raw = text.slice(at + 1, end < 0 ? at + 1 : end)
    if (end >= 0 && !NOT_PLAIN.test(raw)) return detachSubstring(raw)
    const escapedEnd = findClosingQuote(text, at + 1)
    return escapedEnd < 0 ? undefined : unescapeString(text.slice(at + 1, escapedEnd))
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
  if (!NOT_PLAIN.test(raw)) return detachSubstring(raw)
  const text = decodeUtf8(raw)
  if (!text.includes('\\')) return text
  try {
    // An escape may be a lone surrogate, which an event must not contain.
    return (JSON.parse(`"${text}"`) as string).toWellFormed()
  } catch {
    return undefined
  }
}

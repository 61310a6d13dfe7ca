/** Parses events of the event socket in either format, and reads their headers. */
import { detachSubstring } from '../source/sanitize.js'

/** How the switch writes events: `event plain` or `event json`. */
export type EventFormat = 'plain' | 'json'

/** A value; several for an array of the switch. */
export type EventValue = string | readonly string[]

/** One event. Of several headers with the same name the last counts. */
export interface EslEvent {
  /** `CHANNEL_CREATE`, … */
  readonly name: string
  /** A header by its exact name; an array in the switch's single-string form (`ARRAY::a|:b`). */
  header(name: string): string | undefined
  /** A header by its exact name; an array as an array. */
  value(name: string): EventValue | undefined
  /** A time in microseconds since the Unix epoch, or a number of them; 0: none. */
  microseconds(name: string): number
  /** The text behind the headers: that of a message. */
  body(): string | undefined
  /** Calls `visit` for every header with this prefix, with the name after the prefix. */
  forEach(prefix: string, visit: (name: string, value: EventValue) => void): void
}

const PEEKED_BYTES = 80
const FIRST_HEADER = /^(?:\{"Event-Name":"|Event-Name: )(\w+)["\n]/

/** The event's name from the first bytes of a body; `undefined`: `Event-Name` is not the first header. */
export function peekEventName(body: Buffer): string | undefined {
  return FIRST_HEADER.exec(body.toString('latin1', 0, PEEKED_BYTES))?.[1]
}

/** Parses a body; `undefined`: it is not an event. */
export function parseEvent(format: EventFormat, body: Buffer): EslEvent | undefined {
  return format === 'json' ? parseJsonEvent(body.toString('utf8')) : parsePlainEvent(body.toString('utf8'))
}

/** Parses a JSON object of strings and arrays of strings. */
function parseJsonEvent(text: string): EslEvent | undefined {
  try {
    return eventFromJson(JSON.parse(text), (prefix) => findJsonNames(text, prefix))
  } catch {
    return undefined
  }
}

/**
 * Reads an event from the value of its JSON text; `undefined`: it is not an event.
 *
 * @param findNames finds the names with a prefix in the text. Default: the names of `value` are read
 */
export function eventFromJson(value: unknown, findNames?: FindNames): EslEvent | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return createEvent(value, { read: readJsonValue, readBody: (read) => read('_body'), findNames })
}

/** Parses lines with URL-encoded values. Text after an empty line is the event's body. */
function parsePlainEvent(text: string): EslEvent | undefined {
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const headers: Record<string, string> = Object.create(null)
  for (const line of head.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon >= 0) headers[line.slice(0, colon)] = line.slice(colon + 2)
  }
  return createEvent(headers, {
    read: (value) => splitArray(decodeUrlValue(value as string)),
    readBody: () => (text.length === end + 2 ? undefined : detachSubstring(text.slice(end + 2))),
    findNames: (prefix) => findPlainNames(head, prefix),
  })
}

/** Finds names with a prefix in the text of an event, perhaps more than once, or others too; `undefined`: it cannot. */
type FindNames = (prefix: string) => readonly string[] | undefined

/** How the headers of a format are read. */
interface HeaderReader {
  /** Decodes a value; only those that somebody reads are decoded. */
  readonly read: (value: unknown) => EventValue | undefined
  /** Returns the body; its argument reads a header. */
  readonly readBody: (header: (name: string) => string | undefined) => string | undefined
  readonly findNames: FindNames | undefined
}

function createEvent(headers: object, { read, readBody, findNames }: HeaderReader): EslEvent | undefined {
  const values = headers as Readonly<Record<string, unknown>>
  const value = (name: string) => (Object.hasOwn(values, name) ? read(values[name]) : undefined)
  const header = (name: string) => {
    const found = value(name)
    return typeof found === 'object' ? ARRAY + found.join(ARRAY_SEPARATOR) : found
  }
  const eventName = header('Event-Name')
  if (eventName === undefined) return undefined
  return {
    name: eventName,
    header,
    value,
    microseconds(name) {
      const text = header(name) ?? ''
      const number = /^\d+$/.test(text) ? Number(text) : 0
      return Number.isSafeInteger(number) ? number : 0
    },
    body: () => readBody(header),
    forEach(prefix, visit) {
      // To read all names of an event takes half as long as to parse it.
      for (const name of findNames?.(prefix) ?? Object.keys(values)) {
        const found = name.startsWith(prefix) ? value(name) : undefined
        if (found !== undefined) visit(detachSubstring(name.slice(prefix.length).toWellFormed()), found)
      }
    },
  }
}

/** Finds names in JSON; `undefined` where one, or a value with such a text, has an escape. */
function findJsonNames(text: string, prefix: string): readonly string[] | undefined {
  const names: string[] = []
  const start = `"${prefix}`
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + start.length)) {
    const name = text.slice(at + 1, text.indexOf('"', at + start.length))
    if (name.includes('\\')) return undefined
    names.push(name)
  }
  return names
}

function findPlainNames(head: string, prefix: string): readonly string[] {
  const names: string[] = []
  const start = `\n${prefix}`
  if (head.startsWith(prefix)) names.push(head.slice(0, head.indexOf(': ')))
  for (let at = head.indexOf(start); at >= 0; at = head.indexOf(start, at + start.length))
    names.push(head.slice(at + 1, head.indexOf(': ', at)))
  return names
}

function readJsonValue(value: unknown): EventValue | undefined {
  // An escape may be a lone surrogate, which an event must not contain.
  if (typeof value === 'string') return value.toWellFormed()
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? value.map((item) => item.toWellFormed()) : undefined
}

/** FreeSWITCH's single-string form of an array (`switch_event.c`). */
const ARRAY = 'ARRAY::'
const ARRAY_SEPARATOR = '|:'

/** The array that a string holds in single-string form; any other string unchanged. */
function splitArray(text: string): EventValue {
  return text.startsWith(ARRAY) ? text.slice(ARRAY.length).split(ARRAY_SEPARATOR) : text
}

/**
 * Decodes a URL-encoded value. Invalid UTF-8 becomes U+FFFD and a `%` without two hex digits stays: a name that a phone
 * sent in Latin-1 must not end the connection.
 */
function decodeUrlValue(value: string): string {
  if (!value.includes('%')) return detachSubstring(value)
  try {
    return decodeURIComponent(value)
  } catch {
    const bytes = Buffer.from(value)
      .toString('latin1')
      .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    return Buffer.from(bytes, 'latin1').toString('utf8')
  }
}

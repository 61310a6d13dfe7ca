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
    return eventFromJson(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Reads an event from the value of its JSON text; `undefined`: it is not an event. */
export function eventFromJson(value: unknown): EslEvent | undefined {
  return typeof value === 'object' && value !== null ? createEvent(value, readJsonValue) : undefined
}

/** Parses lines with URL-encoded values. Text after an empty line is the event's body. */
function parsePlainEvent(text: string): EslEvent | undefined {
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const headers: Record<string, string> = Object.create(null)
  for (const line of text.slice(0, end).split('\n')) {
    const colon = line.indexOf(': ')
    if (colon >= 0) headers[line.slice(0, colon)] = line.slice(colon + 2)
  }
  return createEvent(headers, (value) => splitArray(decodeUrlValue(value as string)))
}

/** @param read decodes a value of `headers`; only those that somebody reads are decoded */
function createEvent(
  headers: object,
  read: (value: unknown) => EventValue | undefined,
): EslEvent | undefined {
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
    forEach(prefix, visit) {
      for (const name of Object.keys(values)) {
        const found = name.startsWith(prefix) ? value(name) : undefined
        if (found !== undefined) visit(detachSubstring(name.slice(prefix.length).toWellFormed()), found)
      }
    },
  }
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

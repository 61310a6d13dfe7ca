/** Parses events in the `plain` format: header lines with URL-encoded values. */
import { detachSubstring } from '../source/sanitize.js'
import {
  decodeUtf8,
  digitsAt,
  type EslEvent,
  type EventValue,
  internName,
  isUnescaped,
  splitArray,
} from './event.js'
import { createHeaderFinder, type FoundHeaders } from './header-finder.js'

const FIRST_HEADER = 'Event-Name: '
const NEWLINE = 10
const finder = createHeaderFinder({ before: '\n', after: ': ' })

/** The event's name from the first bytes of a body; `undefined`: `Event-Name` is not the first header. */
export function peekPlainEventName(body: Buffer): string | undefined {
  return firstName(body.toString('latin1', 0, 80))
}

function firstName(start: string): string | undefined {
  if (!start.startsWith(FIRST_HEADER)) return undefined
  const end = start.indexOf('\n')
  return end < 0 ? undefined : internName(start.slice(FIRST_HEADER.length, end))
}

/**
 * Parses a body; `undefined`: it is not an event.
 *
 * @param peekedName what `peekPlainEventName` returned for it
 */
export function parsePlainEvent(body: Buffer, peekedName = peekPlainEventName(body)): EslEvent | undefined {
  const text = headersOf(body)
  if (text === undefined) return undefined
  if (peekedName !== undefined) return new PlainEvent(peekedName, text)
  // The first header must follow a newline to be found.
  const unnamed = new PlainEvent('', `\n${text}`)
  const found = unnamed.header('Event-Name')
  return found === undefined ? undefined : new PlainEvent(found, `\n${text}`)
}

/** The header lines with their newlines. Text after an empty line is the event's body; `undefined`: there is no such line. */
function headersOf(body: Buffer): string | undefined {
  const { length } = body
  // Not a slice of a string: every access to one takes longer.
  if (body[length - 1] === NEWLINE && body[length - 2] === NEWLINE)
    return body.toString('latin1', 0, length - 1)
  const end = body.indexOf('\n\n')
  return end < 0 ? undefined : body.toString('latin1', 0, end + 1)
}

class PlainEvent implements EslEvent {
  private readonly found: FoundHeaders

  constructor(
    readonly name: string,
    private readonly text: string,
  ) {
    this.found = finder.find(name, text)
  }

  header(name: string): string | undefined {
    return valueAt(this.text, this.offsetOf(name))
  }

  microseconds(name: string): number {
    const at = this.offsetOf(name)
    return at < 0 ? 0 : digitsAt(this.text, at, NEWLINE)
  }

  hasValue(name: string, value: string): boolean {
    const at = this.offsetOf(name)
    if (at < 0) return false
    if (!isUnescaped(value)) return this.header(name) === value
    return this.text.startsWith(value, at) && this.text.charCodeAt(at + value.length) === NEWLINE
  }

  private offsetOf(name: string): number {
    if (name === 'Event-Name' && this.text.startsWith(FIRST_HEADER)) return FIRST_HEADER.length
    return this.found.valueOf(name)
  }

  value(name: string): EventValue | undefined {
    const value = this.header(name)
    return value === undefined ? undefined : splitArray(value)
  }

  forEach(prefix: string, visit: (name: string, value: EventValue) => void): void {
    const { text } = this
    for (const from of this.found.behindPrefix(prefix)) {
      const line = text.slice(from, text.indexOf('\n', from))
      const colon = line.indexOf(': ')
      if (colon < 0) continue
      visit(
        detachSubstring(decodeUtf8(line.slice(0, colon))),
        splitArray(decodeUrlValue(line.slice(colon + 2))),
      )
    }
  }
}

function valueAt(text: string, at: number): string | undefined {
  return at < 0 ? undefined : decodeUrlValue(text.slice(at, text.indexOf('\n', at)))
}

/**
 * Decodes a URL-encoded value. Invalid UTF-8 becomes U+FFFD and a `%` without two hex digits stays: a name that a phone
 * sent in Latin-1 must not end the connection.
 */
function decodeUrlValue(value: string): string {
  if (!value.includes('%')) return detachSubstring(decodeUtf8(value))
  try {
    return decodeURIComponent(value)
  } catch {
    const bytes = value.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    return Buffer.from(bytes, 'latin1').toString('utf8')
  }
}

/** Parses events in the `plain` format: header lines with URL-encoded values. */
import { detachSubstring } from '../source/sanitize.js'
import { cacheSearchKeys, decodeUtf8, type EslEvent, type EventValue, splitArray } from './event.js'

const FIRST_HEADER = 'Event-Name: '
const searchKeyOf = cacheSearchKeys((name) => `\n${name}: `)

/** The event's name from the first bytes of a body; `undefined`: `Event-Name` is not the first header. */
export function peekPlainEventName(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, 80)
  if (!start.startsWith(FIRST_HEADER)) return undefined
  const end = start.indexOf('\n')
  return end < 0 ? undefined : start.slice(FIRST_HEADER.length, end)
}

/** Parses a body; `undefined`: it is not an event. */
export function parsePlainEvent(body: Buffer): EslEvent | undefined {
  const whole = body.toString('latin1')
  // Text after an empty line is the event's body, not a header.
  const end = whole.endsWith('\n\n') ? whole.length - 1 : whole.indexOf('\n\n') + 1
  if (end === 0) return undefined
  // The channel variables come last and are the largest part of an event: a search reads only one of the two parts.
  const variablesAt = whole.indexOf('\nvariable_')
  const head = variablesAt < 0 ? whole.slice(0, end) : whole.slice(0, variablesAt + 1)
  const tail = variablesAt < 0 ? '' : whole.slice(variablesAt, end)

  const header = (name: string): string | undefined => {
    if (name.startsWith('variable_')) return findValue(tail, name)
    return findValue(head, name) ?? findValue(tail, name)
  }
  const name = header('Event-Name')
  if (name === undefined) return undefined
  return {
    name,
    header,
    value(key) {
      const text = header(key)
      return text === undefined ? undefined : splitArray(text)
    },
    forEach(prefix, visit: (name: string, value: EventValue) => void) {
      const key = `\n${prefix}`
      const text = prefix.startsWith('variable_') ? tail : whole.slice(0, end)
      for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
        const from = at + key.length
        const colon = text.indexOf(': ', from)
        const lineEnd = text.indexOf('\n', from)
        if (colon < 0) break
        if (colon > lineEnd) continue
        visit(decodeUtf8(text.slice(from, colon)), splitArray(decodeUrlValue(text.slice(colon + 2, lineEnd))))
      }
    },
  }
}

/** The decoded value of a header line; `undefined`: there is no such line. */
function findValue(text: string, name: string): string | undefined {
  const key = searchKeyOf(name)
  let at = text.indexOf(key) + 1
  if (at === 0 && !text.startsWith(key.slice(1))) return undefined
  at += key.length - 1
  return decodeUrlValue(text.slice(at, text.indexOf('\n', at)))
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

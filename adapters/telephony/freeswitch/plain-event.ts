/** Events in the `plain` format: header lines with URL-encoded values. */
import { detached } from '../source/said.js'
import { type EventValue, fromBytes, type SwitchEvent, searchKeys, textAsValue } from './event.js'

const FIRST = 'Event-Name: '
const keyOf = searchKeys((name) => `\n${name}: `)

/** The event's name, of the first bytes of a body; `undefined`: it does not stand first. */
export function plainName(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, 80)
  if (!start.startsWith(FIRST)) return undefined
  const end = start.indexOf('\n')
  return end < 0 ? undefined : start.slice(FIRST.length, end)
}

/** Reads a body; `undefined`: it is none. */
export function plainEvent(body: Buffer): SwitchEvent | undefined {
  const whole = body.toString('latin1')
  // A body of its own, behind an empty line, is no header.
  const end = whole.endsWith('\n\n') ? whole.length - 1 : whole.indexOf('\n\n') + 1
  if (end === 0) return undefined
  // Most of an event are the leg's variables, which come last: so is it known where to look.
  const variablesAt = whole.indexOf('\nvariable_')
  const head = variablesAt < 0 ? whole.slice(0, end) : whole.slice(0, variablesAt + 1)
  const tail = variablesAt < 0 ? '' : whole.slice(variablesAt, end)

  const header = (name: string): string | undefined => {
    if (name.startsWith('variable_')) return valueIn(tail, name)
    return valueIn(head, name) ?? valueIn(tail, name)
  }
  const name = header('Event-Name')
  if (name === undefined) return undefined
  return {
    name,
    header,
    value(one) {
      const text = header(one)
      return text === undefined ? undefined : textAsValue(text)
    },
    each(prefix, take: (name: string, value: EventValue) => void) {
      const key = `\n${prefix}`
      const text = prefix.startsWith('variable_') ? tail : whole.slice(0, end)
      for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
        const from = at + key.length
        const colon = text.indexOf(': ', from)
        const lineEnd = text.indexOf('\n', from)
        if (colon < 0) break
        if (colon > lineEnd) continue
        take(fromBytes(text.slice(from, colon)), textAsValue(decoded(text.slice(colon + 2, lineEnd))))
      }
    },
  }
}

/** The value of the line of this name; `undefined`: there is none. */
function valueIn(text: string, name: string): string | undefined {
  const key = keyOf(name)
  let at = text.indexOf(key) + 1
  if (at === 0 && !text.startsWith(key.slice(1))) return undefined
  at += key.length - 1
  return decoded(text.slice(at, text.indexOf('\n', at)))
}

/**
 * A URL-encoded value. What is not UTF-8 becomes U+FFFD, a `%` without two hex digits stays: a name that some phone
 * sent in Latin-1 must not end the connection.
 */
export function decoded(value: string): string {
  if (!value.includes('%')) return detached(fromBytes(value))
  try {
    return decodeURIComponent(value)
  } catch {
    const bytes = value.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    return Buffer.from(bytes, 'latin1').toString('utf8')
  }
}

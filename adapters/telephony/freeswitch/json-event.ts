/**
 * Events in the `json` format: one flat object of texts and arrays of texts.
 *
 * In such an object the characters `,"Name":` can only be a key: within a text a quotation mark has a backslash, and
 * behind the end of a text or of an array's element comes a comma or a bracket, never a colon. So a search is exact,
 * and 8 KiB need not be parsed for five values.
 */
import { detached } from '../source/said.js'
import { arrayAsText, type EventValue, fromBytes, type SwitchEvent, searchKeys } from './event.js'

const FIRST = '{"Event-Name":"'
const keyOf = searchKeys((name) => `,"${name}":`)
const QUOTE = 34
const BRACKET = 91
const CLOSING = 93
const BACKSLASH = 92
const COMMA = 44
const COLON = 58

/** The event's name, of the first bytes of a body; `undefined`: it does not stand first. */
export function jsonName(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, 80)
  if (!start.startsWith(FIRST)) return undefined
  const end = start.indexOf('"', FIRST.length)
  return end < 0 ? undefined : start.slice(FIRST.length, end)
}

/** Reads a body; `undefined`: it is none. */
export function jsonEvent(body: Buffer): SwitchEvent | undefined {
  const whole = body.toString('latin1')
  if (!whole.startsWith('{"') || !whole.endsWith('}')) return undefined

  // Most of an event are the leg's variables, which come last: so is it known where to look.
  const variablesAt = keyAt(whole, 'variable_')
  const head = variablesAt < 0 ? whole : whole.slice(0, variablesAt)
  const tail = variablesAt < 0 ? '' : whole.slice(variablesAt)

  const find = (name: string): EventValue | undefined => {
    if (name.startsWith('variable_')) return valueAt(tail, afterKey(tail, name))
    const at = afterKey(head, name)
    return at < 0 ? valueAt(tail, afterKey(tail, name)) : valueAt(head, at)
  }
  const header = (name: string): string | undefined => {
    const value = find(name)
    return typeof value === 'string' || value === undefined ? value : arrayAsText(value)
  }
  const name = header('Event-Name')
  if (name === undefined) return undefined
  return {
    name,
    header,
    value: find,
    each(prefix, take: (name: string, value: EventValue) => void) {
      const text = prefix.startsWith('variable_') ? tail : whole
      for (let at = keyAt(text, prefix); at >= 0; at = keyAt(text, prefix, at + 1)) {
        const from = at + 2 + prefix.length
        const end = endOfText(text, from)
        const value = valueAt(text, end + 2)
        const short = unescaped(text.slice(from, end))
        if (value !== undefined && short !== undefined) take(short, value)
      }
    },
  }
}

/** Where the comma is before the next key that begins so; -1: nowhere. An element of an array is no key. */
function keyAt(text: string, prefix: string, from = 0): number {
  const start = `,"${prefix}`
  for (let at = text.indexOf(start, from); at >= 0; at = text.indexOf(start, at + 1)) {
    const end = endOfText(text, at + start.length)
    if (end >= 0 && text.charCodeAt(end + 1) === COLON) return at
  }
  return -1
}

/** Where the value of a key begins; -1: there is no such key. */
function afterKey(text: string, name: string): number {
  const key = keyOf(name)
  const at = text.indexOf(key)
  if (at >= 0) return at + key.length
  return text.startsWith(key.slice(1), 1) && text.startsWith('{') ? key.length : -1
}

function valueAt(text: string, at: number): EventValue | undefined {
  const first = at < 0 ? 0 : text.charCodeAt(at)
  if (first === QUOTE) {
    const end = endOfText(text, at + 1)
    return end < 0 ? undefined : unescaped(text.slice(at + 1, end))
  }
  return first === BRACKET ? arrayAt(text, at) : undefined
}

/** Where the quotation mark is that ends a text; -1: nowhere. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (end - backslashes > from && text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return -1
}

function arrayAt(text: string, at: number): readonly string[] | undefined {
  const values: string[] = []
  let from = at + 1
  while (text.charCodeAt(from) === QUOTE) {
    const end = endOfText(text, from + 1)
    const value = end < 0 ? undefined : unescaped(text.slice(from + 1, end))
    if (value === undefined) return undefined
    values.push(value)
    from = text.charCodeAt(end + 1) === COMMA ? end + 2 : end + 1
  }
  return text.charCodeAt(from) === CLOSING ? values : undefined
}

/** What stands between quotation marks; `undefined`: an escape that is none. */
function unescaped(raw: string): string | undefined {
  const text = fromBytes(raw)
  if (!text.includes('\\')) return detached(text)
  try {
    // An escape may be half a character; an event must be whole ones.
    return (JSON.parse(`"${text}"`) as string).toWellFormed()
  } catch {
    return undefined
  }
}

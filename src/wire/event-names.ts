import { eventSchema } from '../delivery/event-schema.js'
import type { Failure } from '../errors.js'
import { fromGregorian, toGregorian } from '../values/greg-time.js'
import { coerce, integerOf } from './coerce.js'
import { nameIn, renameFirst } from './names.js'

/** What an event is called on the wire where it is more than another spelling: the names of the payload. */
const SPECIAL: Readonly<Record<string, string>> = Object.freeze({
  call_direction: 'direction',
  hook_event: 'hook',
  timestamp: 'timestampMs',
})
const SPECIAL_BACK: Readonly<Record<string, string>> = Object.freeze({
  direction: 'call_direction',
  timestampMs: 'timestamp',
})

/** Names of the payload are words in lower case joined by `_`: these can be spelled both ways and back. */
const SNAKE = /^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$/

const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const insideName = (name: string) => nameIn(SPECIAL, name) ?? toCamel(name)

/** The wire's name of a field of an event. */
export const eventWireName = (name: string): string => nameIn(SPECIAL_BACK, name) ?? toSnake(name)

/** Keys of the payload that only we write, and what user interfaces add to every call. */
const IGNORED: ReadonlySet<string> = new Set(['event_id', 'sequence', 'ui_metadata'])

type Fields = Readonly<Record<string, unknown>>

/**
 * The events of a request, one or a list of them, in this package's spelling; the account is the path's.
 *
 * An unknown key is an error of the event's own rules, which name it; one that no payload could have is refused
 * here, so that `callId` is not taken for `call_id`.
 */
export function readEvents(
  data: unknown,
  accountId: string,
): { readonly events: readonly Fields[] } | { readonly failures: readonly Failure[] } {
  const list: readonly unknown[] = Array.isArray(data) ? data : [data]
  const prefix = (index: number) => (Array.isArray(data) ? `${index}.` : '')
  const read = list.map((one, index) => readEvent(one, accountId, prefix(index)))
  const failures = read.flatMap((one) => ('failures' in one ? one.failures : []))
  return failures.length > 0
    ? { failures }
    : { events: read.flatMap((one) => ('event' in one ? [one.event] : [])) }
}

function readEvent(
  data: unknown,
  accountId: string,
  prefix: string,
): { readonly event: Fields } | { readonly failures: readonly Failure[] } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    const path = prefix.slice(0, -1)
    const message = 'Value did not match type(s): object'
    return { failures: [{ path, rule: 'type', message, target: 'object' }] }
  }
  const failures: Failure[] = []
  const refuse = (name: string, message: string) =>
    failures.push({ path: prefix + name, rule: 'error', message })
  const event: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(data)) {
    if (IGNORED.has(name) || name.startsWith('_') || name.startsWith('pvt_')) continue
    const key = insideName(name)
    if (!SNAKE.test(name) || Object.hasOwn(SPECIAL_BACK, name)) refuse(name, 'This field is unknown')
    else if (Object.hasOwn(event, key)) refuse(name, 'This field is given twice')
    else event[key] = key === 'timestampMs' ? momentOf(value) : value
  }
  if (event.accountId !== undefined && event.accountId !== accountId) {
    refuse('account_id', 'The event belongs to another account than the path')
  }
  if (failures.length > 0) return { failures }
  return { event: coerce(eventSchema, { ...event, accountId }) as Fields }
}

/** Gregorian seconds to Unix milliseconds; anything but an integer stays, for the event's rules to judge. */
function momentOf(value: unknown): unknown {
  const seconds = typeof value === 'string' ? integerOf(value) : value
  return Number.isSafeInteger(seconds) ? fromGregorian(seconds as number) : value
}

/** The place of an event in a list, where a failure names one. */
const INDEX = /^(0|[1-9][0-9]*)\./

/**
 * A failure of an event as the client of the wire knows it: its own field name, limits of time in its own unit.
 *
 * @param inList false: the client sent one event, its place in a list of one means nothing
 */
export function wireEventFailure(failure: Failure, inList: boolean): Failure {
  const place = INDEX.exec(failure.path)?.[0] ?? ''
  const name = renameFirst(failure.path.slice(place.length), eventWireName)
  const path = inList ? place + name : name
  if (name !== 'timestamp' || typeof failure.target !== 'number') return { ...failure, path }
  const target = toGregorian(failure.target)
  const { value: _, ...rest } = failure
  return { ...rest, path, target, message: failure.message.replace(String(failure.target), String(target)) }
}

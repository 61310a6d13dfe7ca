/** Translates events between the names of the wire (KAZOO) and this package's. */
import { eventSchema } from '../delivery/event-schema.js'
import type { Failure } from '../errors.js'
import { fromGregorian, toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import { OBJECT_HOOK, SMS_HOOK } from '../webhooks/catalogue.js'
import { coerce, parseInteger } from './coerce.js'
import { lookUpName, renameFirstSegment } from './field-names.js'
import { parseIsoTime } from './time.js'

/** Wire names that differ from the field names by more than snake_case: those of the payload. */
const EVENT_FIELD_NAMES: Readonly<Record<string, string>> = Object.freeze({
  call_direction: 'direction',
  hook_event: 'hook',
  timestamp: 'timestampMs',
  voicemail_length: 'voicemailLengthMs',
  id: 'documentId',
  type: 'documentType',
  action: 'documentAction',
})
const WIRE_FIELD_NAMES: Readonly<Record<string, string>> = Object.freeze({
  direction: 'call_direction',
  timestampMs: 'timestamp',
  voicemailLengthMs: 'voicemail_length',
  documentId: 'id',
  documentType: 'type',
  documentAction: 'action',
})

/** Snake_case names, which convert to camelCase and back without loss. */
const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z][a-z0-9]*)*$/

const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const toInternalName = (name: string) => lookUpName(EVENT_FIELD_NAMES, name) ?? toCamel(name)

/** Returns the wire name of an event field. */
export const toWireEventName = (name: string): string => lookUpName(WIRE_FIELD_NAMES, name) ?? toSnake(name)

/** Keys that only the service writes, and the key that user interfaces add to every request. */
const IGNORED_KEYS: ReadonlySet<string> = new Set(['event_id', 'sequence', 'ui_metadata'])

type Fields = Readonly<Record<string, unknown>>

/**
 * Parses the events of a request, one or a list. The account is that of the path.
 *
 * The event schema reports unknown keys later. A key that is not snake_case is an error here, so that `callId` does not
 * count as `call_id`.
 */
export function parseEvents(
  data: unknown,
  accountId: string,
): { readonly events: readonly Fields[] } | { readonly failures: readonly Failure[] } {
  const list: readonly unknown[] = Array.isArray(data) ? data : [data]
  const prefix = (index: number) => (Array.isArray(data) ? `${index}.` : '')
  const read = list.map((item, index) => parseEvent(item, accountId, prefix(index)))
  const failures = read.flatMap((result) => ('failures' in result ? result.failures : []))
  return failures.length > 0
    ? { failures }
    : { events: read.flatMap((result) => ('event' in result ? [result.event] : [])) }
}

/** As `parseEvents`, for one event, which may belong to an account below that of the path. */
export function parsePartialEvent(data: Fields, accountId: string): ReturnType<typeof parseEvents> {
  const { account_id: eventAccountId = accountId } = data
  if (typeof eventAccountId === 'string') return parseEvents(data, eventAccountId)
  const message = 'Value did not match type(s): string'
  return { failures: [{ path: 'account_id', rule: 'type', message, target: 'string' }] }
}

function parseEvent(
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
  const addFailure = (name: string, message: string) =>
    failures.push({ path: prefix + name, rule: 'error', message })
  const fields = data as Fields
  const isMessage = (fields.hook_event ?? fields.hook) === SMS_HOOK
  const event: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (IGNORED_KEYS.has(name) || name.startsWith('_') || name.startsWith('pvt_')) continue
    if (name === 'happened_at') continue
    // KAZOO's name of the direction of a message.
    if (name === 'direction' && isMessage) {
      if (fields.call_direction === undefined) event.direction = value
      continue
    }
    const key = toInternalName(name)
    if (!SNAKE_CASE.test(name) || Object.hasOwn(WIRE_FIELD_NAMES, name))
      addFailure(name, 'This field is unknown')
    else if (Object.hasOwn(event, key)) addFailure(name, 'This field is given twice')
    else if (key === 'timestampMs') event[key] = toUnixMs(value)
    else event[key] = key === 'answeredBy' ? toAnswerer(value) : value
  }
  if (event.accountId !== undefined && event.accountId !== accountId) {
    addFailure('account_id', 'The event belongs to another account than the path')
  }
  const { happened_at: happenedAt } = fields
  if (happenedAt !== undefined) {
    const time = timeOf(happenedAt, event.timestampMs)
    if (typeof time === 'number') event.timestampMs = time
    else failures.push({ path: `${prefix}happened_at`, value: happenedAt, ...time })
  }
  if (failures.length > 0) return { failures }
  // The payload of a document has no call id: the events of a document are ordered by its id.
  if (event.hook === OBJECT_HOOK || isMessage) event.callId ??= event.documentId
  if (isMessage) delete event.documentId
  return { event: coerce(eventSchema, { ...event, accountId }) as Fields }
}

/** Renames the one field of `answered_by` that is more than a word. */
function toAnswerer(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('call_id' in value) || 'callId' in value) return value
  const { call_id: callId, ...party } = value
  return { ...party, callId }
}

/** Converts Gregorian seconds or ISO 8601 to Unix milliseconds. Leaves anything else for the event schema to report. */
function toUnixMs(value: unknown): unknown {
  const iso = typeof value === 'string' ? parseIsoTime(value) : undefined
  if (iso) return iso.firstMs
  const seconds = typeof value === 'string' ? parseInteger(value) : value
  return Number.isSafeInteger(seconds) ? fromGregorian(seconds as number) : value
}

/**
 * Unix milliseconds of `happened_at`, or what is wrong with it.
 *
 * @param timestampMs of `timestamp`, which has whole seconds; both name one moment where both are given
 */
function timeOf(happenedAt: unknown, timestampMs: unknown): number | Omit<Failure, 'path'> {
  const ms = typeof happenedAt === 'string' ? parseIsoTime(happenedAt)?.firstMs : undefined
  if (ms === undefined) {
    const message = 'Value must be a time in ISO 8601 such as 2026-01-31T12:00:00.000Z'
    return { rule: 'wrong_format', message, target: 'ISO 8601' }
  }
  if (ms < 0) {
    const target = toIsoTime(0)
    return { rule: 'minimum', message: `Value must be at least ${target}`, target }
  }
  if (typeof timestampMs !== 'number' || toGregorian(timestampMs) === toGregorian(ms)) return ms
  return { rule: 'error', message: 'Value must be in the second of timestamp' }
}

/** Place of an event in a list, at the start of a failure's path. */
const PLACE = /^events\[(\d+)\]\.?/

/**
 * Translates a failure of an event to the wire's field names, and the limits of `timestamp` to Gregorian seconds.
 */
export function toWireFailure(failure: Failure): Failure {
  const [place = '', index] = PLACE.exec(failure.path) ?? []
  const field = renameFirstSegment(failure.path.slice(place.length), toWireEventName)
  const name = field === 'answered_by.callId' ? 'answered_by.call_id' : field
  const path = index !== undefined ? [index, name].filter(Boolean).join('.') : name
  if (name !== 'timestamp' || typeof failure.target !== 'number') return { ...failure, path }
  const target = toGregorian(failure.target)
  const { value: _, ...rest } = failure
  return { ...rest, path, target, message: failure.message.replace(String(failure.target), String(target)) }
}

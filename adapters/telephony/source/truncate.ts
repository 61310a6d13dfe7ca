/**
 * Truncates values of a switch that do not fit into an event, so that a name of ten thousand characters, or a duration
 * after a clock change, does not cost the event. Pure.
 */
import type { ChannelEvent } from 'hookswitch'
import { MAX_SECONDS } from './seconds.js'

/** Longest string, characters: no name, number or address is longer, and one value may occur in several fields. */
const MAX_TEXT_LENGTH = 1_024
/** Longest text of a message, characters: a SIP MESSAGE has up to 1,300 bytes (RFC 3428), several joined ones have more. */
const MAX_BODY_LENGTH = 8_192
/** Maximum number of characters of all channel variables of a field. */
const MAX_VARIABLES_LENGTH = 32_768
/** Largest event as JSON, bytes: `publish` accepts 64 KiB with what it adds. */
const MAX_EVENT_BYTES = 61_440
/** Bytes of the longest character in JSON: a control character is `\u0001`. */
const MAX_CHARACTER_BYTES = 6
/** Longest string of an event that is too large, characters: all strings of such an event fit. */
const MAX_SHORT_TEXT_LENGTH = 256

/** Ids are never truncated: another id would be another leg. */
const IDS: ReadonlySet<string> = new Set(['hook', 'accountId', 'callId', 'idempotencyKey'])
/** Ids of other legs and calls: an invalid one is left out. */
const OTHER_IDS: ReadonlySet<string> = new Set([
  'otherLegCallId',
  'callGroupId',
  'targetCallId',
  'agentCallId',
])
const SECONDS: ReadonlySet<string> = new Set(['durationSeconds', 'ringingSeconds', 'billingSeconds'])
/** Fields with texts of their own. */
const OBJECTS: ReadonlySet<string> = new Set(['answeredBy', 'endpoint'])
const VARIABLES: ReadonlySet<string> = new Set(['customChannelVars', 'customApplicationVars'])
/** A call id that `publish` accepts. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

/**
 * Returns the event itself if it fits, else a truncated copy.
 *
 * @param onTruncated called with the name of each field that loses characters or variables. Default: not reported
 */
export function truncateEvent(
  event: ChannelEvent,
  onTruncated: (field: string, event: ChannelEvent) => void = () => {},
): ChannelEvent {
  let copy: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(event)) {
    const truncated = truncateField(key, value)
    if (truncated === value) continue
    if (isLoss(value, truncated)) onTruncated(key, event)
    copy ??= { ...event }
    if (truncated === undefined) delete copy[key]
    else copy[key] = truncated
  }
  return fitEvent((copy as ChannelEvent | undefined) ?? event, onTruncated)
}

/** Shortens the variables, and then the strings, of an event whose characters need too many bytes. */
function fitEvent(
  event: ChannelEvent,
  onTruncated: (field: string, event: ChannelEvent) => void,
): ChannelEvent {
  const length = Object.values(event).reduce<number>((sum, value) => sum + lengthOf(value), 0)
  if (length * MAX_CHARACTER_BYTES <= MAX_EVENT_BYTES || isFitting(event)) return event
  const copy: Record<string, unknown> = { ...event }
  const shorten = (fields: readonly string[], change: (value: unknown) => unknown) => {
    for (const field of fields) {
      const shortened = change(copy[field])
      if (isLoss(copy[field], shortened)) onTruncated(field, event)
      copy[field] = shortened
    }
  }
  const variables = Object.keys(copy).filter((key) => VARIABLES.has(key))
  for (let limit = MAX_VARIABLES_LENGTH / 4; limit >= 512 && !isFitting(copy); limit /= 4)
    shorten(variables, (all) => truncateVariables(all as Readonly<Record<string, unknown>>, limit))
  const texts = Object.keys(copy).filter((key) => typeof copy[key] === 'string' && !IDS.has(key))
  if (!isFitting(copy)) shorten(texts, (text) => truncateText(text as string, MAX_SHORT_TEXT_LENGTH))
  return copy as unknown as ChannelEvent
}

const isFitting = (event: object) => Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES

/** Replaced lone surrogates and capped durations are no loss of length, nor is an absent id. */
function isLoss(value: unknown, truncated: unknown): boolean {
  return typeof value !== 'number' && lengthOf(truncated) < lengthOf(value)
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null
    ? Object.entries(value).reduce((sum, [name, candidate]) => sum + variableLength(name, candidate), 0)
    : 0
}

const variableLength = (name: string, value: unknown) =>
  name.length + (typeof value === 'string' ? value.length : JSON.stringify(value).length)

function truncateField(key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (IDS.has(key)) return value
    if (OTHER_IDS.has(key)) return CALL_ID.test(value) ? value : undefined
    return truncateText(value, key === 'body' ? MAX_BODY_LENGTH : MAX_TEXT_LENGTH)
  }
  if (SECONDS.has(key)) return Math.min(MAX_SECONDS, Math.max(0, value as number))
  if (VARIABLES.has(key)) return truncateVariables(value as Readonly<Record<string, unknown>>)
  return OBJECTS.has(key) ? truncateTexts(value as Readonly<Record<string, string>>) : value
}

/** Shortens each text, and leaves out the id of a leg that is not valid. */
function truncateTexts(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let copy: Record<string, string> | undefined
  for (const [name, text] of Object.entries(texts)) {
    const truncated =
      name === 'callId' ? (CALL_ID.test(text) ? text : undefined) : truncateText(text, MAX_SHORT_TEXT_LENGTH)
    if (truncated === text) continue
    copy ??= { ...texts }
    if (truncated === undefined) delete copy[name]
    else copy[name] = truncated
  }
  return copy ?? texts
}

function truncateText(text: string, maxLength: number = MAX_TEXT_LENGTH): string {
  if (text.length > maxLength) return text.slice(0, maxLength).toWellFormed()
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** Truncates each variable and drops those that exceed the limit in total. */
function truncateVariables(
  all: Readonly<Record<string, unknown>>,
  maxLength = MAX_VARIABLES_LENGTH,
): Readonly<Record<string, unknown>> {
  let isSame = true
  let size = 0
  const fitting: [string, unknown][] = []
  for (const [name, value] of Object.entries(all)) {
    const text = typeof value === 'string' ? truncateText(value, MAX_TEXT_LENGTH) : value
    const length = variableLength(name, text)
    if (text !== value) isSame = false
    // No event may have this name: many readers of JSON lose it.
    if (size + length > maxLength || name === '__proto__') {
      isSame = false
      continue
    }
    size += length
    fitting.push([name, text])
  }
  return isSame ? all : Object.fromEntries(fitting)
}

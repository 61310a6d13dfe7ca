/**
 * Truncates values of a switch that do not fit into an event, so that a name of ten thousand characters, or a duration
 * after a clock change, does not cost the event. Pure.
 */
import type { ChannelEvent } from 'hookswitch'
import { MAX_SECONDS } from './seconds.js'

/** Longest string, characters: no name, number or address is longer, and one value may occur in several fields. */
const MAX_TEXT_LENGTH = 1_024
/** Maximum number of characters of all channel variables of a field: an event has at most 64 KiB. */
const MAX_VARIABLES_LENGTH = 32_768

/** Ids are never truncated: another id would be another leg. */
const IDS: ReadonlySet<string> = new Set(['hook', 'accountId', 'callId', 'idempotencyKey'])
const SECONDS: ReadonlySet<string> = new Set(['durationSeconds', 'ringingSeconds', 'billingSeconds'])
/** Fields with texts of their own. */
const OBJECTS: ReadonlySet<string> = new Set(['answeredBy', 'endpoint'])
/** Ids of other legs: one that is not valid is left out. */
const OTHER_IDS: ReadonlySet<string> = new Set(['otherLegCallId', 'callGroupId'])
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
  return (copy as ChannelEvent | undefined) ?? event
}

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
    return truncateText(value)
  }
  if (SECONDS.has(key)) return Math.min(MAX_SECONDS, Math.max(0, value as number))
  if (VARIABLES.has(key)) return truncateVariables(value as Readonly<Record<string, unknown>>)
  return OBJECTS.has(key) ? truncateTexts(value as Readonly<Record<string, string>>) : value
}

/** Truncates each text, and leaves out the id of a leg that is not valid. */
function truncateTexts(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let copy: Record<string, string> | undefined
  for (const [name, text] of Object.entries(texts)) {
    const truncated = name === 'callId' ? (CALL_ID.test(text) ? text : undefined) : truncateText(text)
    if (truncated === text) continue
    copy ??= { ...texts }
    if (truncated === undefined) delete copy[name]
    else copy[name] = truncated
  }
  return copy ?? texts
}

function truncateText(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) return text.slice(0, MAX_TEXT_LENGTH).toWellFormed()
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** Truncates each variable and drops those that exceed the limit in total. */
function truncateVariables(all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let isSame = true
  let size = 0
  const fitting: [string, unknown][] = []
  for (const [name, value] of Object.entries(all)) {
    const text = typeof value === 'string' ? truncateText(value) : value
    const length = variableLength(name, text)
    if (text !== value) isSame = false
    if (size + length > MAX_VARIABLES_LENGTH) {
      isSame = false
      continue
    }
    size += length
    fitting.push([name, text])
  }
  return isSame ? all : Object.fromEntries(fitting)
}

/**
 * What a switch says, so that it fits into an event: a name of ten thousand characters, or a clock that was set, must
 * not cost the event. Pure.
 */
import type { ChannelEvent } from 'hookswitch'
import { MOST_SECONDS } from './seconds.js'

/** Longer texts are cut: no name, number or address is. The same one may stand in an event several times. */
const LONGEST_TEXT = 1_024
/** Characters of all channel variables: an event has at most 64 KiB. */
const MOST_OF_VARIABLES = 32_768

/** Ids are never cut: another one would be another leg. */
const IDS: ReadonlySet<string> = new Set(['hook', 'accountId', 'callId', 'idempotencyKey'])
const SECONDS: ReadonlySet<string> = new Set(['durationSeconds', 'ringingSeconds', 'billingSeconds'])
const VARIABLES: ReadonlySet<string> = new Set(['customChannelVars', 'customApplicationVars'])
/** An id of a leg, as events have it. */
const LEG_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

/** The event itself, where it fits; else a copy that does. */
export function fitted(event: ChannelEvent): ChannelEvent {
  let copy: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(event)) {
    const now = fitting(key, value)
    if (now === value) continue
    copy ??= { ...event }
    if (now === undefined) delete copy[key]
    else copy[key] = now
  }
  return (copy as ChannelEvent | undefined) ?? event
}

function fitting(key: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (IDS.has(key)) return value
    if (key === 'otherLegCallId') return LEG_ID.test(value) ? value : undefined
    return cut(value)
  }
  if (SECONDS.has(key)) return Math.min(MOST_SECONDS, Math.max(0, value as number))
  return VARIABLES.has(key) ? variables(value as Readonly<Record<string, unknown>>) : value
}

function cut(text: string): string {
  if (text.length > LONGEST_TEXT) return text.slice(0, LONGEST_TEXT).toWellFormed()
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** The first that fit, each of them cut. */
function variables(all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let isSame = true
  let size = 0
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(all)) {
    const text = typeof value === 'string' ? cut(value) : value
    const length = name.length + (typeof text === 'string' ? text.length : JSON.stringify(text).length)
    if (text !== value) isSame = false
    if (size + length > MOST_OF_VARIABLES) {
      isSame = false
      continue
    }
    size += length
    kept.push([name, text])
  }
  return isSame ? all : Object.fromEntries(kept)
}

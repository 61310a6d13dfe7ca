/**
 * What the list of open channels lacks and functions of Asterisk know: when a channel began and was answered (its CDR),
 * and whether it is held. Decides what to query; the queries are left to the sessions. Pure.
 */
import type { Mapping } from './mapping.js'
import type { ChannelDetails, ListedChannel } from './switch-event.js'

/** The functions, by the field that each yields. */
const FUNCTIONS = {
  cdrStartMs: 'CDR(start,u)',
  cdrAnswerMs: 'CDR(answer,u)',
  isPutOnHold: 'CHANNEL(onhold)',
} as const

/** A query of a function for a channel. */
export interface DetailQuery {
  readonly listed: ListedChannel
  readonly field: keyof ChannelDetails
  /** The name of the variable to get: `CDR(start,u)`. */
  readonly variable: string
}

/** Channels of a list that are queried; of further ones the times and holds stay unknown. */
const MAX_QUERIED = 1_000

/**
 * Returns the queries for a list: times of legs whose begin or answer was missed, holds of legs in a bridge.
 *
 * @param nowMs the time of the list, Unix milliseconds
 */
export function detailQueries(
  mapping: Mapping,
  listed: readonly ListedChannel[],
  nowMs: number,
): readonly DetailQuery[] {
  return listed.slice(0, MAX_QUERIED).flatMap((item): DetailQuery[] => {
    const times = mapping.lacksTimes(item.channel, nowMs) ? (['cdrStartMs', 'cdrAnswerMs'] as const) : []
    const holds = item.bridge ? (['isPutOnHold'] as const) : []
    return [...times, ...holds].map((field) => ({ listed: item, field, variable: FUNCTIONS[field] }))
  })
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Adds an answer to the details of its channel; one that says nothing (no CDR, an older Asterisk) is ignored. */
export function addDetail({ listed, field }: DetailQuery, value: string | undefined): void {
  const details: Mutable<ChannelDetails> = { ...listed.details }
  listed.details = details
  if (field === 'isPutOnHold') {
    if (value === '1' || value === '0') details.isPutOnHold = value === '1'
    return
  }
  const ms = Number(value) * 1000
  if (ms > 0 && ms < 1e15) details[field] = ms
}

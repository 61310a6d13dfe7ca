/**
 * Buffers the events of legs whose account is not known yet, in order and with their original times. Pure: time is an
 * argument.
 *
 * A switch often learns the account of a call some milliseconds after its first event, when the dial plan sets it. The
 * buffer is bounded in time and size. Events that exceed a bound are returned as an `UnknownAccount`, never dropped
 * silently. So are all later events of that leg, even if its account becomes known: a receiver that missed the
 * `channel_create` would see the leg begin with its answer or end.
 */
import type { ChannelEvent } from 'hookswitch'
import type { LegUpdate, PendingEvent } from './mapped-events.js'

/** Bounds of the buffer. */
export interface AccountBufferLimits {
  /** Longest wait of a leg's events, milliseconds. */
  readonly maxWaitMs: number
  /** Maximum number of buffered events of one leg. */
  readonly maxEventsPerLeg: number
  /** Maximum number of legs with buffered events. */
  readonly maxLegs: number
}

/** Events that were not published because the account of their leg did not become known. */
export interface UnknownAccount {
  /** The leg. */
  readonly callId: string
  /**
   * Why the events left the buffer. `ended`: the leg ended. `waited`: the longest wait is over. `too_many`: the leg has
   * too many events, or too many legs wait. `closed`: the source was closed.
   */
  readonly reason: 'ended' | 'waited' | 'too_many' | 'closed'
  /** The events in order. A host that knows the account can add it and publish them. */
  readonly events: readonly PendingEvent[]
}

/** Events that leave the buffer because of an update. */
interface AccountBufferResult {
  /** Events whose account is known, in order. */
  readonly ready: readonly ChannelEvent[]
  /** Events that are given up. */
  readonly unknown: readonly UnknownAccount[]
}

/** The legs whose account is not known yet, with their events. Times are milliseconds of one monotonic clock. */
interface AccountBuffer {
  /** Adds the events of an update, or releases them where the account is known. */
  add(update: LegUpdate, nowMs: number): AccountBufferResult
  /** Gives up the legs that have waited for `maxWaitMs`. */
  expire(nowMs: number): readonly UnknownAccount[]
  /** When the next leg expires; `undefined`: the buffer is empty. */
  nextExpiryMs(): number | undefined
  /** Removes all legs, with the reason `closed`. */
  flush(): readonly UnknownAccount[]
  /** Number of buffered legs. */
  size(): number
  /** Number of buffered events, and when the oldest happened at the switch, Unix milliseconds. */
  held(): { readonly events: number; readonly oldestMs: number | undefined }
}

/** Maximum number of legs whose later events are given up too; above it the oldest is forgotten. */
const MAX_GIVEN_UP = 100_000

interface BufferedLeg {
  readonly sinceMs: number
  readonly events: PendingEvent[]
}

/** Creates an empty buffer. */
export function createAccountBuffer(limits: AccountBufferLimits): AccountBuffer {
  const { maxWaitMs, maxEventsPerLeg, maxLegs } = limits
  /** By call id, oldest first. */
  const buffered = new Map<string, BufferedLeg>()
  /** Why open legs were given up, by call id, oldest first. */
  const givenUp = new Map<string, UnknownAccount['reason']>()

  const giveUp = (callId: string, reason: UnknownAccount['reason']): UnknownAccount => {
    givenUp.set(callId, reason)
    const [oldest = callId] = givenUp.keys()
    if (givenUp.size > MAX_GIVEN_UP) givenUp.delete(oldest)
    return remove(callId, reason)
  }
  const remove = (callId: string, reason: UnknownAccount['reason']): UnknownAccount => {
    const { events } = buffered.get(callId) as BufferedLeg
    buffered.delete(callId)
    return { callId, reason, events }
  }

  return {
    add({ callId, accountId, events, isEnded }, nowMs) {
      const reason = givenUp.get(callId)
      if (reason !== undefined) {
        if (isEnded) givenUp.delete(callId)
        return { ready: [], unknown: events.length > 0 ? [{ callId, reason, events }] : [] }
      }
      const leg = buffered.get(callId)
      if (accountId !== undefined) {
        buffered.delete(callId)
        const all = leg ? [...leg.events, ...events] : events
        return { ready: all.map((event) => ({ accountId, ...event })), unknown: [] }
      }
      const unknown: UnknownAccount[] = []
      if (leg) leg.events.push(...events)
      else if (events.length > 0) buffered.set(callId, { sinceMs: nowMs, events: [...events] })
      else return { ready: [], unknown }

      if (isEnded) unknown.push(remove(callId, 'ended'))
      else if ((buffered.get(callId)?.events.length ?? 0) > maxEventsPerLeg) {
        unknown.push(giveUp(callId, 'too_many'))
      } else if (buffered.size > maxLegs) {
        const [oldest = callId] = buffered.keys()
        unknown.push(giveUp(oldest, 'too_many'))
      }
      return { ready: [], unknown }
    },
    expire(nowMs) {
      const expired: UnknownAccount[] = []
      for (const [callId, { sinceMs }] of buffered) {
        if (nowMs - sinceMs < maxWaitMs) break
        expired.push(giveUp(callId, 'waited'))
      }
      return expired
    },
    nextExpiryMs() {
      const [oldest] = buffered.values()
      return oldest && oldest.sinceMs + maxWaitMs
    },
    flush: () => [...buffered.keys()].map((callId) => remove(callId, 'closed')),
    size: () => buffered.size,
    held() {
      let count = 0
      let oldestMs: number | undefined
      for (const { events } of buffered.values()) {
        count += events.length
        const firstMs = events[0]?.timestampMs
        if (firstMs !== undefined) oldestMs = Math.min(firstMs, oldestMs ?? firstMs)
      }
      return { events: count, oldestMs }
    },
  }
}

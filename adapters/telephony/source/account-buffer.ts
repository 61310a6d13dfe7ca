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
  /**
   * Whether a leg that has waited so long is reported as overdue and waits until it ends, because its last event has the
   * account at the latest. Default false: it is given up.
   */
  readonly waitsForEnd?: boolean
  /** Maximum number of buffered events of one leg. */
  readonly maxEventsPerLeg: number
  /** Maximum number of legs with buffered events. */
  readonly maxLegs: number
  /** Maximum number of buffered events. Default: no limit but those of the legs. */
  readonly maxEvents?: number
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
  /** Gives up the legs that have waited for `maxWaitMs`, or returns them as overdue. */
  expire(nowMs: number): {
    readonly unknown: readonly UnknownAccount[]
    /** Ids of legs that have waited for `maxWaitMs`, or for twice, four times … as long. */
    readonly overdue: readonly string[]
  }
  /** When the next leg expires or is overdue; `undefined`: the buffer is empty. */
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

/** Shortest time after which a leg is overdue again, milliseconds. */
const MIN_REPEAT_MS = 1_000

/** When a leg has waited too long. */
interface Deadline {
  readonly atMs: number
  /** How many deadlines it had before. */
  readonly passed: number
}

/** Creates an empty buffer. */
export function createAccountBuffer(limits: AccountBufferLimits): AccountBuffer {
  const { maxWaitMs, waitsForEnd, maxEventsPerLeg, maxLegs, maxEvents = Number.POSITIVE_INFINITY } = limits
  /** Events by call id, the leg that has waited longest first. */
  const buffered = new Map<string, PendingEvent[]>()
  /** The same legs, the next deadline first. */
  const deadlines = new Map<string, Deadline>()
  let count = 0
  /** Why open legs were given up, by call id, oldest first. */
  const givenUp = new Map<string, UnknownAccount['reason']>()

  const giveUp = (callId: string, reason: UnknownAccount['reason']): UnknownAccount => {
    givenUp.set(callId, reason)
    const [oldest = callId] = givenUp.keys()
    if (givenUp.size > MAX_GIVEN_UP) givenUp.delete(oldest)
    return remove(callId, reason)
  }
  const remove = (callId: string, reason: UnknownAccount['reason']): UnknownAccount => {
    return { callId, reason, events: take(callId) ?? [] }
  }
  const take = (callId: string): PendingEvent[] | undefined => {
    const events = buffered.get(callId)
    buffered.delete(callId)
    deadlines.delete(callId)
    count -= events?.length ?? 0
    return events
  }

  return {
    add({ callId, accountId, events, isEnded }, nowMs) {
      const reason = givenUp.get(callId)
      if (reason !== undefined) {
        if (isEnded) givenUp.delete(callId)
        return { ready: [], unknown: events.length > 0 ? [{ callId, reason, events }] : [] }
      }
      if (accountId !== undefined) {
        const before = take(callId)
        const all = before ? [...before, ...events] : events
        return { ready: all.map((event) => ({ accountId, ...event })), unknown: [] }
      }
      const unknown: UnknownAccount[] = []
      const waiting = buffered.get(callId)
      if (waiting) waiting.push(...events)
      else if (events.length > 0) {
        buffered.set(callId, [...events])
        deadlines.set(callId, { atMs: nowMs + maxWaitMs, passed: 0 })
      } else return { ready: [], unknown }
      count += events.length

      if (isEnded) unknown.push(remove(callId, 'ended'))
      else if ((buffered.get(callId)?.length ?? 0) > maxEventsPerLeg) unknown.push(giveUp(callId, 'too_many'))
      while (buffered.size > maxLegs || count > maxEvents) {
        const [oldest = callId] = buffered.keys()
        unknown.push(giveUp(oldest, 'too_many'))
      }
      return { ready: [], unknown }
    },
    expire(nowMs) {
      const unknown: UnknownAccount[] = []
      const overdue: string[] = []
      for (const [callId, { atMs, passed }] of deadlines) {
        if (nowMs < atMs) break
        if (!waitsForEnd) {
          unknown.push(giveUp(callId, 'waited'))
          continue
        }
        // At ever longer intervals: a leg may never have an account. The deadlines stay sorted.
        deadlines.delete(callId)
        deadlines.set(callId, { atMs: nowMs + Math.max(maxWaitMs, MIN_REPEAT_MS), passed: passed + 1 })
        if ((passed & (passed + 1)) === 0) overdue.push(callId)
      }
      return { unknown, overdue }
    },
    nextExpiryMs() {
      const [next] = deadlines.values()
      return next?.atMs
    },
    flush: () => [...buffered.keys()].map((callId) => remove(callId, 'closed')),
    size: () => buffered.size,
    held() {
      let oldestMs: number | undefined
      for (const events of buffered.values()) {
        const firstMs = events[0]?.timestampMs
        if (firstMs !== undefined) oldestMs = Math.min(firstMs, oldestMs ?? firstMs)
      }
      return { events: count, oldestMs }
    },
  }
}

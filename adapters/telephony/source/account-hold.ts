/**
 * Legs whose account is not known yet: their events wait, in order and with their own times. Pure: time is an argument.
 *
 * A switch often learns the account of a call only after its first event (the dial plan sets it some milliseconds
 * later), so the first event must wait. What waits is bounded in time and number; what reaches a bound is given back as
 * an `UnknownAccount`, never dropped in silence.
 */
import type { ChannelEvent } from 'hookswitch'
import type { ChannelDraft, LegNews } from './leg-news.js'

/** Bounds of what may wait. */
export interface HoldLimits {
  /** How long the events of a leg wait, milliseconds. */
  readonly holdMs: number
  /** Most events of one leg. */
  readonly maxPerLeg: number
  /** Most legs. */
  readonly maxLegs: number
}

/** Events that belong to no account: what could not be published. */
export interface UnknownAccount {
  readonly callId: string
  /** `ended`: the leg did. `waited`: `holdMs` are over. `too_many`: of this leg, or legs. `closed`: the source was. */
  readonly reason: 'ended' | 'waited' | 'too_many' | 'closed'
  /** The events, in order: a host that knows the account can publish them with it. */
  readonly drafts: readonly ChannelDraft[]
}

/** What one news lets go. */
export interface Released {
  readonly ready: readonly ChannelEvent[]
  readonly unknown: readonly UnknownAccount[]
}

/** The waiting legs. */
export interface AccountHold {
  take(news: LegNews, nowMs: number): Released
  /** Those who have waited too long. */
  expire(nowMs: number): readonly UnknownAccount[]
  /** When the next one has; `undefined`: none waits. */
  nextMs(): number | undefined
  /** All of them. */
  flush(): readonly UnknownAccount[]
  /** How many legs wait. */
  size(): number
}

interface Waiting {
  readonly sinceMs: number
  readonly drafts: ChannelDraft[]
}

/** @param nowMs of `take` and `expire` are of one monotonic clock, milliseconds */
export function accountHold({ holdMs, maxPerLeg, maxLegs }: HoldLimits): AccountHold {
  /** By leg, oldest first. */
  const waiting = new Map<string, Waiting>()

  const giveUp = (callId: string, reason: UnknownAccount['reason']): UnknownAccount => {
    const { drafts } = waiting.get(callId) as Waiting
    waiting.delete(callId)
    return { callId, reason, drafts }
  }

  return {
    take({ callId, accountId, drafts, ended }, nowMs) {
      const held = waiting.get(callId)
      if (accountId !== undefined) {
        waiting.delete(callId)
        const all = held ? [...held.drafts, ...drafts] : drafts
        return { ready: all.map((draft) => ({ accountId, ...draft })), unknown: [] }
      }
      const unknown: UnknownAccount[] = []
      if (held) held.drafts.push(...drafts)
      else if (drafts.length > 0) waiting.set(callId, { sinceMs: nowMs, drafts: [...drafts] })
      else return { ready: [], unknown }

      if (ended) unknown.push(giveUp(callId, 'ended'))
      else if ((waiting.get(callId)?.drafts.length ?? 0) > maxPerLeg) unknown.push(giveUp(callId, 'too_many'))
      else if (waiting.size > maxLegs) {
        const [oldest = callId] = waiting.keys()
        unknown.push(giveUp(oldest, 'too_many'))
      }
      return { ready: [], unknown }
    },
    expire(nowMs) {
      const over: UnknownAccount[] = []
      for (const [callId, { sinceMs }] of waiting) {
        if (nowMs - sinceMs < holdMs) break
        over.push(giveUp(callId, 'waited'))
      }
      return over
    },
    nextMs() {
      const [oldest] = waiting.values()
      return oldest && oldest.sinceMs + holdMs
    },
    flush: () => [...waiting.keys()].map((callId) => giveUp(callId, 'closed')),
    size: () => waiting.size,
  }
}

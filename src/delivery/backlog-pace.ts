/**
 * Limits the rate of backlogs after many pauses have ended within a minute: older deliveries leave this node at a limited
 * rate, so that live deliveries and other receivers are not delayed. Endpoints whose older deliveries may not leave yet wait
 * here for their turn, one delivery each, one account after the other; otherwise the scheduler would look at all of them
 * whenever one may leave. This module also knows which origins have answered lately. Times are store time, ms.
 */
import { charge, type RateLimit, refill, type TokenBucket } from '../values/token-bucket.js'
import { LIVE_MS } from './queue/heads.js'
import type { QueueEndpoint } from './queue/queue-endpoint.js'
import type { QueuedDelivery } from './queue/queued-delivery.js'

/** Older deliveries that may be sent: at most 1,000 in any second. */
const BACKLOG_RATE: RateLimit = { burst: 50, refillPerSecond: 950 }
/** So many may leave when the timer goes off: fewer, larger groups. */
const MIN_TOGETHER = 10
/** Pauses that end within `MANY_MS` and make the limit apply. */
const MANY_PAUSES = 20
const MANY_MS = 60_000
/** An origin is news once in this time, ms. */
const NEWS_MS = 5_000
const MAX_ORIGINS = 1_000

/** @internal */
export interface BacklogPace {
  /** The pause of an endpoint has ended. */
  pauseEnded(now: number): void
  /** Uses the turn of an endpoint, if it has one. Returns how many of its older deliveries may be sent now. */
  useTurn(endpoint: QueueEndpoint, now: number): number
  /** An endpoint with older deliveries of which none may be sent now waits for its turn. */
  wait(endpoint: QueueEndpoint): void
  /**
   * Gives turns to endpoints, which then wait no more. All that have their turn are at most `slots`, and as many as deliveries
   * that may be sent.
   */
  takeTurns(now: number, slots: number): readonly QueueEndpoint[]
  /** Whether an endpoint waits and a delivery may be sent. */
  hasTurns(now: number): boolean
  /** Turns that were not used are lost: what these endpoints wait for is something else. They wait here again after that. */
  endTurns(): void
  /** When `MIN_TOGETHER` deliveries may be sent; `undefined`: no endpoint waits. */
  nextTurnMs(now: number): number | undefined
  /** These are sent. */
  sent(deliveries: readonly QueuedDelivery[], now: number): void
  /** Whether the answer of an origin is the first for a while. */
  isNews(origin: string, now: number): boolean
}

export function createBacklogPace(): BacklogPace {
  /** The last `MANY_PAUSES` ends of pauses, the oldest first. */
  let ends: number[] = []
  let tokens: TokenBucket | undefined
  /** Waiting endpoints, by account. */
  const waiting = new Map<string, Set<QueueEndpoint>>()
  /** Endpoints that have their turn. */
  const turns = new Set<QueueEndpoint>()
  const news = new Map<string, number>()

  const isLimited = (now: number) => ends.length === MANY_PAUSES && now - ends[0]! < MANY_MS
  function refillTokens(now: number): TokenBucket {
    tokens = refill(tokens && tokens.atMs <= now ? tokens : undefined, now, BACKLOG_RATE)
    return tokens
  }
  const free = (now: number) =>
    isLimited(now) ? Math.max(0, Math.floor(refillTokens(now).tokens)) : Number.POSITIVE_INFINITY

  /** The endpoint that has waited longest, of the account whose turn it is. */
  function takeNext(): QueueEndpoint {
    const [accountId, endpoints] = waiting.entries().next().value!
    const endpoint = endpoints.values().next().value!
    endpoints.delete(endpoint)
    waiting.delete(accountId)
    if (endpoints.size > 0) waiting.set(accountId, endpoints)
    return endpoint
  }

  return {
    pauseEnded(now) {
      ends = [...ends, now].slice(-MANY_PAUSES)
    },
    useTurn(endpoint, now) {
      const hasTurn = turns.delete(endpoint)
      if (!isLimited(now)) return Number.POSITIVE_INFINITY
      if (hasTurn) return Math.min(1, free(now))
      return waiting.size > 0 ? 0 : Math.max(0, free(now) - turns.size)
    },
    wait(endpoint) {
      const { accountId } = endpoint.webhook
      const ofAccount = waiting.get(accountId)
      if (ofAccount) ofAccount.add(endpoint)
      else waiting.set(accountId, new Set([endpoint]))
    },
    takeTurns(now, slots) {
      const taken: QueueEndpoint[] = []
      for (let left = Math.min(free(now), slots) - turns.size; left > 0 && waiting.size > 0; left--) {
        const endpoint = takeNext()
        turns.add(endpoint)
        taken.push(endpoint)
      }
      return taken
    },
    hasTurns: (now) => waiting.size > 0 && free(now) > 0,
    endTurns: () => turns.clear(),
    nextTurnMs(now) {
      if (waiting.size === 0) return undefined
      const missing = isLimited(now) ? MIN_TOGETHER - refillTokens(now).tokens : 0
      return now + Math.max(0, Math.ceil((missing * 1_000) / BACKLOG_RATE.refillPerSecond))
    },
    sent(deliveries, now) {
      if (!isLimited(now)) return
      const isOld = ({ attempts, acceptedMs }: QueuedDelivery) => attempts > 0 || now - acceptedMs > LIVE_MS
      const old = deliveries.filter(isOld).length
      if (old > 0) tokens = charge(tokens, old, now, BACKLOG_RATE)
    },
    isNews(origin, now) {
      const lastMs = news.get(origin)
      if (lastMs !== undefined && now - lastMs < NEWS_MS) return false
      news.delete(origin)
      news.set(origin, now)
      if (news.size > MAX_ORIGINS) news.delete(news.keys().next().value!)
      return true
    },
  }
}

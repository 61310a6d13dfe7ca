/**
 * Limits the rate of backlogs after many pauses have ended within a minute: older deliveries leave this node at a limited
 * rate, so that live deliveries and other receivers are not delayed. Endpoints whose older deliveries may not leave yet wait
 * here for their turn, one delivery each: the scheduler would look at all of them whenever one may leave. It also
 * knows which origins have answered lately. Times are store time, ms.
 */
import { charge, type RateLimit, refill, type TokenBucket } from '../values/token-bucket.js'
import { LIVE_MS } from './queue/heads.js'
import type { QueueEndpoint } from './queue/queue-endpoint.js'
import type { QueuedDelivery } from './queue/queued-delivery.js'

/** Older deliveries that may be sent: at most 1,000 in any second. */
const BACKLOG_RATE: RateLimit = { burst: 50, refillPerSecond: 950 }
/** Older deliveries that leave together: fewer, larger groups. */
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
  /** Older deliveries of an endpoint that may be sent now. Uses its turn. */
  allowed(endpoint: QueueEndpoint, now: number): number
  /** An endpoint with older deliveries of which none may be sent now waits for its turn. */
  wait(endpoint: QueueEndpoint): void
  /** The waiting endpoints that have their turn now, which wait no more. */
  takeTurns(now: number): readonly QueueEndpoint[]
  /** Whether `takeTurns` has any. */
  hasTurns(now: number): boolean
  /** Turns that were not used are lost. */
  endTurns(): void
  /** When `takeTurns` will have some if it has none; `undefined`: no endpoint waits. */
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
  const waiting = new Set<QueueEndpoint>()
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

  return {
    pauseEnded(now) {
      ends = [...ends, now].slice(-MANY_PAUSES)
    },
    allowed(endpoint, now) {
      const hasTurn = turns.delete(endpoint)
      if (!isLimited(now)) return Number.POSITIVE_INFINITY
      if (hasTurn) return Math.min(1, free(now))
      return waiting.size > 0 ? 0 : Math.max(0, free(now) - turns.size)
    },
    wait(endpoint) {
      waiting.add(endpoint)
    },
    takeTurns(now) {
      const count = free(now)
      const taken: QueueEndpoint[] = []
      for (const endpoint of waiting) {
        if (taken.length >= count) break
        waiting.delete(endpoint)
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

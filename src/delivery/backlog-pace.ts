/**
 * Limits the rate of backlogs after many pauses have ended within a minute: older deliveries leave this node at a limited
 * rate, so that live deliveries and other receivers are not delayed. It also
 * knows which origins have answered lately. Times are store time, ms.
 */
import { charge, type RateLimit, refill, type TokenBucket } from '../values/token-bucket.js'
import { LIVE_MS } from './queue/heads.js'
import type { QueuedDelivery } from './queue/queued-delivery.js'

/** Older deliveries that may be sent: at most 1,000 in any second. */
const BACKLOG_RATE: RateLimit = { burst: 50, refillPerSecond: 950 }
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
  /** Older deliveries that may be sent now. */
  allowed(now: number): number
  /** When older deliveries may be sent; `undefined`: nothing limits them. */
  nextMs(now: number): number | undefined
  /** These are sent. */
  sent(deliveries: readonly QueuedDelivery[], now: number): void
  /** Whether the answer of an origin is the first for a while. */
  isNews(origin: string, now: number): boolean
}

export function createBacklogPace(): BacklogPace {
  /** The last `MANY_PAUSES` ends of pauses, the oldest first. */
  let ends: number[] = []
  let tokens: TokenBucket | undefined
  const news = new Map<string, number>()

  const isLimited = (now: number) => ends.length === MANY_PAUSES && now - ends[0]! < MANY_MS
  function tokensAt(now: number): number {
    tokens = refill(tokens && tokens.atMs <= now ? tokens : undefined, now, BACKLOG_RATE)
    return tokens.tokens
  }

  return {
    pauseEnded(now) {
      ends = [...ends, now].slice(-MANY_PAUSES)
    },
    allowed: (now) => (isLimited(now) ? Math.max(0, Math.floor(tokensAt(now))) : Number.POSITIVE_INFINITY),
    nextMs(now) {
      if (!isLimited(now) || tokensAt(now) >= 1) return undefined
      return now + Math.ceil(((1 - tokens!.tokens) * 1_000) / BACKLOG_RATE.refillPerSecond)
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

/** Receivers, traffic and measures for the checks of the delivery policy. All times are in seconds. */

import type { TransportFailure } from '../../src/ports.js'
import type { FailureCause } from '../../src/values/failure-cause.js'

/** What a receiver does with one request. */
export interface Reaction {
  /** Time until the answer or the failure; beyond the limit of the attempt it is a timeout. */
  readonly seconds: number
  /** Status of the answer; absent: there is none. */
  readonly status?: number
  /** Value of `Retry-After`. */
  readonly retryAfter?: number | string
  /** Why there is no answer. Default: none comes, until the limit of the attempt. */
  readonly failure?: {
    readonly failure: TransportFailure
    readonly cause: FailureCause
    readonly isSent: boolean
  }
}

/** A request as a receiver sees it. */
export interface ReceivedRequest {
  /** 1, 2, … per webhook, in the order of acceptance. */
  readonly id: number
  readonly call: string
  /** Number of the event within its call: 0 to 2. */
  readonly seq: number
  /** 1, 2, … as in the header `X-Hook-Attempt`. */
  readonly attempt: number
  readonly isReplay: boolean
}

/** @param now seconds since the run began */
export type Receiver = (now: number, request: ReceivedRequest) => Reaction

const LATENCY = 0.1

/** Answers with a status. */
export const answers = (status: number, retryAfter?: number | string, seconds = LATENCY): Reaction => ({
  seconds,
  status,
  ...(retryAfter !== undefined && { retryAfter }),
})
export const OK = answers(200)
export const REFUSED: Reaction = {
  seconds: 0.01,
  failure: { failure: 'connection', cause: 'refused', isSent: false },
}
/** Never answers. */
export const HUNG: Reaction = { seconds: Infinity }

export const healthy: Receiver = () => OK
/** A receiver that reacts as `how` from one time to another, and is healthy otherwise. */
export const away =
  (from: number, to: number, how: Reaction): Receiver =>
  (now) =>
    now >= from && now < to ? how : OK

/**
 * A receiver with a rate limit.
 *
 * @param perSecond requests that it takes per second on average
 * @param window 1: a bucket that fills all the time; more: fixed windows of so many seconds
 * @param retryAfter `right`: the time until it takes the next one; undefined: no header
 * @param burst size of the bucket. Default: `perSecond`, at least 1.
 * @param atFirst what is in the bucket at first. Default: `burst`.
 */
export function limited(
  perSecond: number,
  window: number,
  retryAfter: 'right' | number | undefined,
  burst = Math.max(1, perSecond),
  atFirst = burst,
): Receiver {
  const ok = answers(200, undefined, 0.05)
  const refuse = (seconds: number) =>
    answers(429, retryAfter === 'right' ? Math.ceil(seconds) : retryAfter, 0.05)
  let tokens = atFirst
  let last = 0
  let start = Number.NEGATIVE_INFINITY
  let used = 0
  if (window > 1)
    return (now) => {
      if (now - start >= window) {
        start = now - (now % window)
        used = 0
      }
      if (used < Math.round(perSecond * window)) {
        used += 1
        return ok
      }
      return refuse(start + window - now)
    }
  return (now) => {
    tokens = Math.min(burst, tokens + (now - last) * perSecond)
    last = now
    // Rounding of the clock to milliseconds must not cost a token.
    if (tokens < 1 - 1e-6) return refuse((1 - tokens) / perSecond)
    tokens -= 1
    return ok
  }
}

/** Reproducible numbers in [0, 1) (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** An event of a webhook: when it is published, its call, and its number in the call. */
export type Arrival = readonly [at: number, call: string, seq: number]

/** Calls of three events (create, answer, destroy), Poisson, `perSecond` events a second on average. */
export function calls(
  perSecond: number,
  from: number,
  to: number,
  seed = 7,
  length = 60,
): readonly Arrival[] {
  const random = randomNumbers(seed)
  const arrivals: Arrival[] = []
  let at = from
  for (let call = 1; ; call++) {
    at += (-Math.log(1 - random()) * 3) / perSecond
    if (at > to) break
    const answered = at + 3 + 9 * random()
    const ended = answered + length * (0.5 + random())
    arrivals.push([at, `c${call}`, 0], [answered, `c${call}`, 1], [ended, `c${call}`, 2])
  }
  return arrivals.filter(([time]) => time <= to).sort((left, right) => left[0] - right[0])
}

/** Events of calls of their own, one each `every` seconds. */
export function singles(count: number, every: number, from = 0): readonly Arrival[] {
  return Array.from({ length: count }, (_, index) => [from + index * every, `s${index}`, 0] as const)
}

/** The quantile of numbers; NaN of none. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted.length === 0
    ? Number.NaN
    : sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))]!
}

/** The largest of numbers; 0 of none. */
export const largest = (values: readonly number[]) => values.reduce((most, value) => Math.max(most, value), 0)
/** The sum of numbers. */
export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

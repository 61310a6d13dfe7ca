import type { Observation, TransportFailure } from '../ports.js'
import { parseHttpDate } from '../values/http-date.js'
import { MAX_DELAY_MS } from './policy.js'

/** `http`: an answer that is no success; `redirect`: a 3xx, never followed; the rest: no answer at all. */
export type FailureClass = 'http' | 'redirect' | TransportFailure

/** What an observation means for the delivery. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly status?: number
      /** The receiver said that it is gone for good: 410. */
      readonly gone: boolean
      /** The whole endpoint is asked to wait. */
      readonly throttled: boolean
      /** For how long, where it said so. */
      readonly retryAfterMs?: number
      readonly detail?: string
    }
  /** A fault of ours: charged to nobody. */
  | { readonly kind: 'own_fault'; readonly detail: string }

/** Statuses that ask for patience: 429 (RFC 6585), 503 (RFC 9110), and those of a gateway in trouble. */
const THROTTLING = new Set([429, 502, 503, 504])

function header(headers: readonly string[], name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toLowerCase() === name) return headers[index + 1]!
  }
  return undefined
}

/**
 * Milliseconds that a `Retry-After` asks for (RFC 9110 10.2.3: whole seconds or an HTTP date, nothing else), not
 * below 0, at most a week; `undefined` when it is neither.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.replace(/^[ \t]+|[ \t]+$/g, '')
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text) * 1000, MAX_DELAY_MS)
  const at = parseHttpDate(text, nowMs)
  return at === undefined ? undefined : Math.min(Math.max(0, at - nowMs), MAX_DELAY_MS)
}

/**
 * The outcome of one observation: total, every observation has exactly one.
 *
 * @param nowMs wall clock, Unix ms: dates in `Retry-After` are relative to it
 */
export function outcomeOf(seen: Observation, nowMs: number): Outcome {
  if (seen.kind === 'own_fault') return { kind: 'own_fault', detail: seen.detail }
  if (seen.kind === 'withdrawn') return { kind: 'own_fault', detail: 'withdrawn before it was sent' }
  if (seen.kind === 'no_response') {
    return { kind: 'failed', failure: seen.failure, gone: false, throttled: false, detail: seen.detail }
  }
  const { status } = seen
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  const throttled = THROTTLING.has(status)
  const asked = throttled ? retryAfterMs(header(seen.headers, 'retry-after'), nowMs) : undefined
  return {
    kind: 'failed',
    failure: status >= 300 && status < 400 ? 'redirect' : 'http',
    status,
    gone: status === 410,
    throttled,
    ...(asked === undefined ? {} : { retryAfterMs: asked }),
  }
}

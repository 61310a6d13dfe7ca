/** Classifies what was observed of an attempt. Whether the delivery is retried is decided in retry.ts. */
import type { Observation, TransportFailure } from '../ports.js'
import { type FailureCause, isFailureCause } from '../values/failure-cause.js'
import { parseHttpDate } from '../values/http-date.js'
import { MAX_DELAY_MS } from './policy.js'

/** `http`: a response other than 2xx and 3xx; `redirect`: a 3xx, never followed; all others: no response. */
export type FailureClass = 'http' | 'redirect' | TransportFailure

/** The meaning of an observation for the delivery. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly status?: number
      /** The receiver is gone for good: 410. */
      readonly gone: boolean
      /** The whole endpoint pauses: 429, 502, 503 or 504. */
      readonly throttled: boolean
      /** `Retry-After` in milliseconds, where the answer has a valid one. */
      readonly retryAfterMs?: number
      readonly detail?: string
      /** Why there was no usable answer. Absent: the class alone is known. */
      readonly cause?: FailureCause
    }
  /** An internal fault, of this service: not charged to the webhook. */
  | { readonly kind: 'own_fault'; readonly detail: string }

/**
 * Statuses that pause the endpoint: 429 (RFC 6585), 503 (RFC 9110), and 502 and 504 of an overloaded gateway.
 */
const THROTTLING = new Set([429, 502, 503, 504])

/** The value of a header in a flat list, by its name in lower case. */
export function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toLowerCase() === name) return headers[index + 1]!
  }
  return undefined
}

/**
 * Parses `Retry-After` (RFC 9110 10.2.3: whole seconds or an HTTP date, nothing else) into milliseconds from
 * now, 0 to one week; `undefined` when it is neither.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  // Without the look-behind, a run of spaces would be tried again from each of them.
  const text = value.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text) * 1000, MAX_DELAY_MS)
  const at = parseHttpDate(text, nowMs)
  return at === undefined ? undefined : Math.min(Math.max(0, at - nowMs), MAX_DELAY_MS)
}

/**
 * The outcome of an observation. The mapping is total: every observation has exactly one outcome.
 *
 * @param nowMs wall clock, Unix ms: dates in `Retry-After` are relative to it
 */
export function outcomeOf(observation: Observation, nowMs: number): Outcome {
  if (observation.kind === 'own_fault') return { kind: 'own_fault', detail: observation.detail }
  if (observation.kind === 'cancelled') return { kind: 'own_fault', detail: 'cancelled before it was sent' }
  if (observation.kind === 'no_response') {
    const { failure, detail, cause } = observation
    return {
      kind: 'failed',
      failure,
      gone: false,
      throttled: false,
      detail,
      // A sender of the host may return anything.
      ...(isFailureCause(cause) && { cause }),
    }
  }
  const { status } = observation
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  const throttled = THROTTLING.has(status)
  const pauseMs = throttled ? retryAfterMs(findHeader(observation.headers, 'retry-after'), nowMs) : undefined
  return {
    kind: 'failed',
    failure: status >= 300 && status < 400 ? 'redirect' : 'http',
    status,
    gone: status === 410,
    throttled,
    ...(pauseMs === undefined ? {} : { retryAfterMs: pauseMs }),
  }
}

/** Classifies what was observed of an attempt. Whether the delivery is retried is decided in retry.ts. */
import type { FailureCause, Observation, TransportFailure } from 'hookswitch/adapter'
import { isFailureCause } from '../values/failure-cause.js'
import { parseHttpDate } from '../values/http-date.js'

/** `http`: a response other than 2xx and 3xx; `redirect`: a 3xx, never followed; all others: no response. */
export type FailureClass = 'http' | 'redirect' | TransportFailure

/** The meaning of an observation for the delivery. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  | {
      readonly kind: 'failed'
      readonly failure: FailureClass
      readonly status?: number
      /** True: the receiver could not take it now. False: it answered, and rejected the delivery. */
      readonly isUnavailable: boolean
      /** The receiver asks for fewer requests: 429, or 503 with `Retry-After`. */
      readonly isThrottled: boolean
      /** Whether the receiver may have got the request. */
      readonly isSent: boolean
      /** The receiver is gone for good: 410. */
      readonly gone: boolean
      /** `Retry-After` of 429, 502, 503 and 504 in milliseconds, within its limits, where it is valid. */
      readonly retryAfterMs?: number
      readonly detail?: string
      /** Why there was no usable answer. Absent: the class alone is known. */
      readonly cause?: FailureCause
    }
  /** An internal fault, of this service: not charged to the webhook. */
  | { readonly kind: 'own_fault'; readonly detail: string }

/** Statuses of a receiver that cannot take requests now: 429 (RFC 6585), 503 (RFC 9110), 502 and 504 of gateways. */
const UNAVAILABLE = new Set([429, 502, 503, 504])
/** Longest wait that a `Retry-After` of a 429 can ask for, ms. */
const MAX_THROTTLED_MS = 3_600_000
/** The same of other statuses, ms: a deployment announces longer ones than it takes. */
const MAX_UNAVAILABLE_MS = 300_000

/** The value of a header in a flat list, by its name in lower case. */
export function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]!.toLowerCase() === name) return headers[index + 1]!
  }
  return undefined
}

/**
 * Parses `Retry-After` (RFC 9110 10.2.3: seconds or an HTTP date, nothing else) into milliseconds from now, at least 0;
 * `undefined` when it is neither. Fractions of a second, which some receivers send, are rounded up.
 *
 * @internal
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  // Without the look-behind, a run of spaces would be tried again from each of them.
  const text = value.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
  if (/^[0-9]+(\.[0-9]+)?$/.test(text)) return Math.ceil(Number(text)) * 1000
  const at = parseHttpDate(text, nowMs)
  return at === undefined ? undefined : Math.max(0, at - nowMs)
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
    const { isSent = failure !== 'dns' && failure !== 'tls' } = observation
    return {
      kind: 'failed',
      failure,
      isUnavailable: failure !== 'protocol' && failure !== 'blocked_address',
      isThrottled: false,
      isSent: isSent && failure !== 'blocked_address',
      gone: false,
      detail,
      // A sender of the host may return anything.
      ...(isFailureCause(cause) && { cause }),
    }
  }
  const { status } = observation
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  const isUnavailable = UNAVAILABLE.has(status)
  const header = isUnavailable ? findHeader(observation.headers, 'retry-after') : undefined
  const askedMs = retryAfterMs(header, nowMs)
  const maxMs = status === 429 ? MAX_THROTTLED_MS : MAX_UNAVAILABLE_MS
  return {
    kind: 'failed',
    failure: status >= 300 && status < 400 ? 'redirect' : 'http',
    status,
    isUnavailable,
    isThrottled: status === 429 || (status === 503 && askedMs !== undefined),
    isSent: true,
    gone: status === 410,
    ...(askedMs !== undefined && { retryAfterMs: Math.min(askedMs, maxMs) }),
  }
}

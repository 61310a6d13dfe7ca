/** Generates the arguments with which `provePolicy` calls a policy. */
import type { RetryContext } from '../../delivery/policy.js'
import { MAX_RETRIES } from '../../webhooks/webhook-schema.js'
import type { Arbitrary, PropertyChecker } from './property-checker.js'

/** A webhook has at most 30 retries, so a policy is called after at most 30 failures. */
export const MAX_TRIES = MAX_RETRIES

/** How an attempt failed. */
type Failure = Pick<RetryContext, 'failure' | 'status'>

const NO_RESPONSE = ['timeout', 'connection', 'dns', 'tls', 'protocol', 'blocked_address']
const REDIRECTS = [300, 301, 302, 303, 304, 307, 308]
/** Error statuses of receivers, and invalid ones (99, 600). Without 410, after which no policy is called. */
const ERROR_STATUSES = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 411, 412, 413, 414, 415, 418, 421, 422, 423, 425, 426, 428,
  429, 431, 451, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522, 524, 599, 600, 99,
]

/** Every failure that a policy can distinguish: few enough to try all of them in each run. */
const EVERY_FAILURE: readonly Failure[] = [
  ...NO_RESPONSE.map((failure) => ({ failure })),
  ...REDIRECTS.map((status) => ({ failure: 'redirect', status })),
  ...ERROR_STATUSES.map((status) => ({ failure: 'http', status })),
]

/** The random part of a run. */
interface Drawn {
  readonly random: number
  readonly hook: string
  readonly webhookId: string
  /** Indices into `EVERY_FAILURE`, one per attempt. */
  readonly mixed: readonly number[]
}

/** Arbitraries for the fields of a context, except the failure. */
export function contextFields(fc: PropertyChecker, hooks: readonly string[]): Record<string, Arbitrary> {
  const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  return {
    random: fc.oneof(fc.constantFrom(0, 0.5, 1 - Number.EPSILON), anyRandom),
    hook: fc.constantFrom(...hooks),
    webhookId: fc.constantFrom('webhook-1', 'webhook-2'),
  }
}

/** Arbitrary for the field `mixed`, which `mixedSequence` needs. */
export function mixedFailures(fc: PropertyChecker): Arbitrary {
  const index = fc.integer({ min: 0, max: EVERY_FAILURE.length - 1 })
  return fc.array(index, { minLength: MAX_TRIES, maxLength: MAX_TRIES })
}

/** One delivery per failure, which fails in the same way in every attempt: the contexts of its attempts in order. */
export function uniformSequences(drawn: unknown): readonly (readonly RetryContext[])[] {
  return EVERY_FAILURE.map((failed) => contextSequence(drawn, () => failed))
}

/** A delivery that fails in a random way in each attempt. */
export function mixedSequence(drawn: unknown): readonly RetryContext[] {
  return contextSequence(drawn, (attempt) => EVERY_FAILURE[(drawn as Drawn).mixed[attempt - 1]!]!)
}

/** Contexts are frozen, so that a policy that modifies its argument is found. */
function contextSequence(drawn: unknown, failureOf: (attempt: number) => Failure): readonly RetryContext[] {
  const { random, hook, webhookId } = drawn as Drawn
  return Array.from({ length: MAX_TRIES }, (_, index) => {
    const tries = index + 1
    const { failure, status } = failureOf(tries)
    // No spread: a proof makes millions of these. A failure without a status has no such field.
    return Object.freeze(
      status === undefined
        ? { tries, webhookId, hook, failure, random }
        : { tries, webhookId, hook, failure, status, random },
    )
  })
}

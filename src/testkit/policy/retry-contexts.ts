import type { RetryContext } from '../../delivery/policy.js'
import type { Arbitrary, PropertyChecker } from './property-checker.js'

/** A webhook has 10 retries at most, so a policy is asked after its first ten failures at most. */
export const MOST_ASKED = 10

/** How an attempt failed. */
type Failed = Pick<RetryContext, 'failure' | 'status'>

const NO_ANSWER = ['timeout', 'connection', 'dns', 'tls', 'protocol', 'blocked_address']
const REDIRECTS = [300, 301, 302, 303, 304, 307, 308]
/** What receivers answer in trouble, and what is no status at all. Never 410: after it no policy is asked. */
const REFUSALS = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 411, 412, 413, 414, 415, 418, 421, 422, 423, 425,
]
const MORE = [
  426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 521, 522, 524, 599, 600, 99,
]

/** Each way to fail that a policy may tell apart: too few to leave them to chance. */
const EVERY_FAILURE: readonly Failed[] = [
  ...NO_ANSWER.map((failure) => ({ failure })),
  ...REDIRECTS.map((status) => ({ failure: 'redirect', status })),
  ...[...REFUSALS, ...MORE].map((status) => ({ failure: 'http', status })),
]

/** What is left to chance. */
interface Drawn {
  readonly roll: number
  readonly hook: string
  readonly webhookId: string
  /** Places in the list of failures, one for each attempt. */
  readonly mixed: readonly number[]
}

/** What a policy is told besides the failure. */
export function surroundings(fc: PropertyChecker, hooks: readonly string[]): Record<string, Arbitrary> {
  const anyRoll = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  return {
    roll: fc.oneof(fc.constantFrom(0, 0.5, 1 - Number.EPSILON), anyRoll),
    hook: fc.constantFrom(...hooks),
    webhookId: fc.constantFrom('webhook-1', 'webhook-2'),
  }
}

/** One failure after the other, for `mixedCourse`. */
export function mixedFailures(fc: PropertyChecker): Arbitrary {
  const one = fc.integer({ min: 0, max: EVERY_FAILURE.length - 1 })
  return fc.array(one, { minLength: MOST_ASKED, maxLength: MOST_ASKED })
}

/** Deliveries that fail in the same way each time, for every way, each told attempt by attempt. */
export function steadyCourses(drawn: unknown): readonly (readonly RetryContext[])[] {
  return EVERY_FAILURE.map((failed) => courseFrom(drawn, () => failed))
}

/** A delivery that fails in another way each time. */
export function mixedCourse(drawn: unknown): readonly RetryContext[] {
  return courseFrom(drawn, (attempt) => EVERY_FAILURE[(drawn as Drawn).mixed[attempt - 1]!]!)
}

/** Frozen: a policy that writes into what it is told is found. */
function courseFrom(drawn: unknown, failedIn: (attempt: number) => Failed): readonly RetryContext[] {
  const { roll, hook, webhookId } = drawn as Drawn
  return Array.from({ length: MOST_ASKED }, (_, index) => {
    const tries = index + 1
    const { failure, status } = failedIn(tries)
    // What has no status is told none; and no spread, since a proof makes millions of these.
    return Object.freeze(
      status === undefined
        ? { tries, webhookId, hook, failure, roll }
        : { tries, webhookId, hook, failure, status, roll },
    )
  })
}

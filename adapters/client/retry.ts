/** Decides whether a failed request is sent again, and when. Pure. */
import type { CallOptions, Endpoint } from './call.js'
import type { HookswitchClientError } from './error.js'

const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 8_000

/** The service or a proxy before it is overloaded or unavailable; the request may have been executed. */
const UNAVAILABLE = [502, 503, 504]

/**
 * Whether the same request may be executed twice without harm. PUT creates in this API, other than in RFC 9110. With
 * `If-Match` the second execution would fail although the first succeeded.
 */
export function isRepeatable(
  { method }: Pick<Endpoint, 'method'>,
  parameters: { readonly ifMatch?: unknown },
  options: Pick<CallOptions, 'isRepeatable'>,
): boolean {
  return options.isRepeatable ?? (method !== 'PUT' && parameters.ifMatch === undefined)
}

/**
 * Returns the wait in milliseconds before the next try, or `undefined` for no further try.
 *
 * 429 was not executed and is always retried. 502, 503, 504 and lost connections may have been executed and are retried
 * for repeatable calls. The wait is `Retry-After`, otherwise 0.5 s, 1 s, 2 s … up to 8 s, of which a random half is
 * subtracted.
 *
 * @param retries number of retries so far
 * @param fraction random, in [0, 1)
 */
export function retryDelay(
  error: HookswitchClientError,
  isRepeatable: boolean,
  retries: number,
  fraction: number,
): number | undefined {
  const { code, status, retryAfterSeconds } = error
  const mayRetry =
    status === 429 ||
    (isRepeatable && (code === 'network' || (status !== undefined && UNAVAILABLE.includes(status))))
  if (!mayRetry) return undefined
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000
  return Math.min(FIRST_WAIT_MS * 2 ** retries, MAX_WAIT_MS) * (1 - fraction / 2)
}

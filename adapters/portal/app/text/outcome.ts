/** What came of an attempt, in a few characters. Pure. */
import type { Attempt } from 'hookswitch/client'

/** The status of the response, or the code that says why there is none. */
export function outcomeOf(
  attempt: Pick<Attempt, 'resp_status_code' | 'cause' | 'client_error' | 'reason' | 'result'>,
): string {
  const { resp_status_code: status, cause, client_error: failure, reason, result } = attempt
  return status ?? cause ?? failure ?? reason ?? result
}

/** How long a receiver asks to wait with `Retry-After`: seconds, or a date; `undefined`: it is neither. */
export function retryAfterMs(
  value: string,
): { readonly waitMs: number } | { readonly untilMs: number } | undefined {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return { waitMs: Number(value) * 1_000 }
  const untilMs = / GMT$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(untilMs) ? undefined : { untilMs }
}

/** The latest attempts in a row with the same outcome. @param attempts the oldest first */
export function sameOutcomes(attempts: readonly Parameters<typeof outcomeOf>[0][]): number {
  const last = attempts.at(-1)
  if (!last) return 0
  const different = attempts.findLastIndex((attempt) => outcomeOf(attempt) !== outcomeOf(last))
  return attempts.length - 1 - different
}

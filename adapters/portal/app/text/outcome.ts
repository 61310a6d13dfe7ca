/** What came of an attempt, in a few characters. Pure. */
import type { Attempt } from 'hookswitch/client'

/** The status of the response, or why there is none. */
export function outcomeOf(
  attempt: Pick<Attempt, 'resp_status_code' | 'client_error' | 'reason' | 'result'>,
): string {
  return attempt.resp_status_code ?? attempt.client_error ?? attempt.reason ?? attempt.result
}

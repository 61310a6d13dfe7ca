/** What came of an attempt, in a few characters. Pure. */
import type { Attempt } from 'hookswitch/client'

/** The status of the response, or the code that says why there is none. */
export function outcomeOf(
  attempt: Pick<Attempt, 'resp_status_code' | 'cause' | 'client_error' | 'reason' | 'result'>,
): string {
  const { resp_status_code: status, cause, client_error: failure, reason, result } = attempt
  return status ?? cause ?? failure ?? reason ?? result
}

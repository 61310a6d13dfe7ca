/** The filters of a webhook's activity, as the address has them. Pure. */

/** What the rows are: events, each with all of its tries, or single requests. */
type ActivityView = 'events' | 'requests'

export interface ActivityFilter {
  readonly view: ActivityView
  readonly result: string
  /** Exact status of the answer: `503`. */
  readonly status: string
  /** Code of a failure without an answer: `timeout_answer`. */
  readonly cause: string
  readonly kind: string
  readonly call: string
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

/** Results of events, with the states that each stands for. */
export const EVENT_RESULTS: Readonly<Record<string, readonly string[]>> = {
  delivered: ['delivered'],
  waiting: ['waiting', 'in_flight'],
  failure: ['exhausted', 'expired', 'quarantined'],
  cancelled: ['cancelled'],
}
/** Whether a delivery in this state is not sent any more, so that it can be replayed. */
export const isOver = (state: string): boolean => state !== 'waiting' && state !== 'in_flight'

export const REQUEST_RESULTS: readonly string[] = ['success', 'failure']

/** @param query times as ISO 8601 in UTC, so that the address means the same in every zone */
export function activityFilter(query: Readonly<Record<string, string>>): ActivityFilter {
  const { status = '', cause = '', kind = '', call = '', result = '', from = '', to = '' } = query
  // A status or a cause is that of a request.
  const preset = status === '' && cause === '' ? 'events' : 'requests'
  const view = query.view === 'events' || query.view === 'requests' ? query.view : preset
  const known = view === 'events' ? Object.keys(EVENT_RESULTS) : REQUEST_RESULTS
  return {
    view,
    result: known.includes(result) ? result : '',
    status,
    cause,
    kind,
    call,
    fromMs: msOf(from),
    toMs: msOf(to),
  }
}

function msOf(text: string): number | undefined {
  const ms = text.endsWith('Z') ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** The result of the other view that comes nearest; '' where it has none. */
export function resultIn(view: ActivityView, result: string): string {
  if (result === 'failure') return result
  if (view === 'requests') return result === 'delivered' ? 'success' : ''
  return result === 'success' ? 'delivered' : ''
}

/** The filters of the list of deliveries. */
export function deliveryFilters({ result, status, cause, kind, call }: ActivityFilter) {
  const reason = status === '' ? cause : `status ${status}`
  const states = EVENT_RESULTS[result]
  return {
    ...(states && { filter_state: states.length === 1 ? states[0]! : JSON.stringify(states) }),
    ...(reason !== '' && { filter_reason: reason }),
    ...common(kind, call),
  }
}

/** The filters of the list of attempts. */
export function attemptFilters({ result, status, cause, kind, call }: ActivityFilter) {
  return {
    ...(result !== '' && { filter_result: result }),
    ...(status !== '' && { filter_resp_status_code: status }),
    ...(cause !== '' && { filter_cause: cause }),
    ...common(kind, call),
  }
}

const common = (kind: string, call: string) => ({
  ...(kind !== '' && { filter_hook_event: kind }),
  ...(call !== '' && { filter_call_id: call }),
})

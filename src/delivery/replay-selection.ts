/** What a replay repeats: ended deliveries, selected by time, result, kind, reason, call or number. */
import { invalidInput } from '../errors.js'
import { type StoredDelivery, TEST_LANE } from './delivery-queries.js'
import type { DeliveryState } from './lifecycle.js'

/** Selects ended deliveries. All given conditions must hold; without any, all that were not delivered. */
export interface ReplayRequest {
  /** This account with all accounts below it. Absent: all accounts. */
  readonly accountId?: string | undefined
  /** Only this webhook, which belongs to `accountId` itself. */
  readonly webhookId?: string | undefined
  /** Earliest time of acceptance, Unix ms, inclusive. Default: no limit. */
  readonly createdFromMs?: number | undefined
  /** Latest time of acceptance, Unix ms, inclusive. Default: the time of the request. */
  readonly createdToMs?: number | undefined
  /**
   * `failure` (all ends but `delivered`), `success`, or a state: `delivered`, `exhausted`, `expired`, `cancelled`,
   * `quarantined`. Default `failure`.
   */
  readonly result?: string | undefined
  /** Only events of this kind, as `channel_destroy`. Default: all kinds. */
  readonly hook?: string | undefined
  /** Only deliveries that ended for this reason, as `status 500`, `refused` or `queue_full`. Default: any. */
  readonly reason?: string | undefined
  /** Only events of this call leg. Default: all. */
  readonly callId?: string | undefined
  /** Only events with a field that contains exactly this number or name, as `+493012345`. Default: all. */
  readonly number?: string | undefined
  /** Only webhooks whose URL has this host: `crm.example.com` on any port, `127.0.0.1:8080`. Not with `webhookId`. Default: all. */
  readonly host?: string | undefined
  /** True: also deliveries that a replay has delivered or is about to deliver. Default false. */
  readonly includeRecovered?: boolean | undefined
}

/** Whose deliveries. */
export type ReplayScope = Pick<ReplayRequest, 'accountId' | 'webhookId'>
/** Which of them. */
export type ReplaySelection = Omit<ReplayRequest, keyof ReplayScope>

const TERMINAL: readonly DeliveryState[] = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']
const RESULTS: ReadonlyMap<string, readonly DeliveryState[]> = new Map<string, readonly DeliveryState[]>([
  ['failure', TERMINAL.filter((state) => state !== 'delivered')],
  ['success', ['delivered']],
  ...TERMINAL.map((state) => [state, [state]] as const),
])

/** What `ReplaySelection.result` may be: a result, or a state in which a delivery ends. */
export const REPLAY_RESULTS: readonly string[] = [...RESULTS.keys()]

/** The states that are selected. @throws `InvalidInput` for an unknown result */
export function statesOf({ result = 'failure' }: Pick<ReplaySelection, 'result'>): readonly DeliveryState[] {
  const states = RESULTS.get(result)
  if (states) return states
  const message = 'Value not found in enumerated list of values'
  throw invalidInput([{ path: 'result', rule: 'enum', message, target: REPLAY_RESULTS, value: result }])
}

/**
 * Whether a replay repeats a delivery that is in its range, has one of its states and is no replay itself. Tests are not
 * repeated.
 *
 * @param sinceMs when the replay was requested, store time: what was replayed since is not repeated again
 */
export function isReplayable(delivery: StoredDelivery, selection: ReplaySelection, sinceMs: number): boolean {
  const { hook, reason, callId, includeRecovered = false } = selection
  const { replays } = delivery
  if (delivery.lane.startsWith(TEST_LANE)) return false
  if (replays && (replays.lastAcceptedMs >= sinceMs || (replays.hasRecovered && !includeRecovered)))
    return false
  if (hook !== undefined && delivery.hook !== hook) return false
  if (reason !== undefined && delivery.reason !== reason) return false
  return callId === undefined || delivery.callId === callId
}

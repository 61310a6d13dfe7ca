/** Decides whether a settlement is written, and which starts may begin or were interrupted. The store writes the results. */
import type { Settlement } from '../../delivery/delivery-store.js'
import { type DeliveryState, isTerminal } from '../../delivery/lifecycle.js'
import type { Start } from '../../delivery/queue-store.js'
import type { Webhook } from '../../webhooks/webhook.js'

/** The state of a stored delivery. A delivery that is gone and has left no row is `undefined`. */
export interface StoredState {
  /** `waiting`, or the terminal state of the end that is still stored. */
  readonly state: DeliveryState
  /** Attempts recorded. */
  readonly attempts: number
}

/**
 * `write`: the settlement is written. `stored`: its effect is stored already, by an earlier commit of the same group.
 * `fenced`: the delivery is gone, or has another number of attempts.
 *
 * The caller has checked that the node owns the shard.
 *
 * @param isRepeat see `Group.isRepeat`
 * @param hasRecord whether the record of the settlement is stored; only read for repeats
 */
export function decideSettlement(
  row: StoredState | undefined,
  settlement: Settlement,
  isRepeat: boolean,
  hasRecord: boolean,
): 'write' | 'stored' | 'fenced' {
  const { expect, next, record } = settlement
  if (isRepeat) {
    if (record && hasRecord) return 'stored'
    // Unchanged attempts say nothing: a settlement without a record may be written twice, which changes nothing.
    const hasEffect = row?.state === next.state && row.attempts === next.attempts
    if (hasEffect && (isTerminal(next.state) || next.attempts !== expect.attempts)) return 'stored'
  }
  if (row?.state !== 'waiting') return 'fenced'
  return expect.attempts === row.attempts ? 'write' : 'fenced'
}

/**
 * Whether an attempt may begin: its delivery waits with the attempts before it, and no edit has cancelled it.
 *
 * @param row the waiting delivery after the group's acceptances and settlements; `undefined`: it does not wait
 * @param webhookEpoch the present epoch of its webhook
 */
export function canStart(
  row: { readonly attempts: number; readonly epoch: number } | undefined,
  start: Start,
  webhookEpoch: number,
): boolean {
  return (
    row !== undefined &&
    row.attempts === start.attempt - 1 &&
    row.epoch >= webhookEpoch &&
    start.epoch >= webhookEpoch
  )
}

/** Whether a start that an earlier owner left behind was interrupted: no outcome of its attempt is stored. */
export function isInterrupted(waiting: { readonly attempts: number } | undefined, start: Start): boolean {
  return waiting?.attempts === start.attempt - 1
}

/** The webhook as an earlier commit of this settlement has disabled it, for its repeat; `undefined`: it has not. */
export function disabledByRepeat(
  webhook: Webhook | undefined,
  { endpoint }: Settlement,
): Webhook | undefined {
  if (!webhook || !endpoint?.disable || webhook.epoch !== endpoint.epoch + 1) return undefined
  const { reason, atMs } = endpoint.disable
  return webhook.disableReason === reason && webhook.disabledMs === atMs ? webhook : undefined
}

/** The oracle's own rules for settlements: when a retry may be due (I11), and when a webhook may be disabled (I22). */

import type { Settlement } from '../delivery/delivery-store.js'
import { disruptionsBetween } from './disruptions.js'
import type { RunHistory } from './history.js'
import type { RunQueue } from './run-queue.js'
import type { TrackedDelivery, TrackedState } from './tracked-state.js'
import type { ViolationLog } from './violation.js'

export interface SettlementRuleDeps {
  readonly queue: RunQueue
  readonly history: RunHistory
  readonly tracked: TrackedState
  readonly violations: ViolationLog
}

/** The default policy, repeated here: 2 s × 3^n, at most 10 min, ±20 %. */
const BASE_MS = 2000
const FACTOR = 3
const CAP_MS = 600_000
const JITTER = 0.2
/** Minimum delay after a fault of the service. */
const OWN_FAULT_MS = 500

function retryWindow(tries: number): readonly [minMs: number, maxMs: number] {
  const plainMs = Math.min(CAP_MS, BASE_MS * FACTOR ** (Math.max(1, tries) - 1))
  return [plainMs * (1 - JITTER) - 1, Math.min(CAP_MS, plainMs * (1 + JITTER)) + 1]
}

/**
 * Checks that a retry is due within the window of its policy, or when the receiver requested it, within bounds. A
 * settlement is decided between its start and the call of the store, which comes later if the store was out.
 *
 * @param calledMs store time at the call, as the node knew it
 */
export function checkRetryDelay(
  deps: SettlementRuleDeps,
  delivery: TrackedDelivery,
  { next, record }: Settlement,
  calledMs: number,
): void {
  const { violations, queue } = deps
  if (next.state !== 'waiting') return
  const { id, webhook } = delivery
  const add = (message: string) => violations.add('I11', queue.now(), `${id} ${message}`, id, webhook)
  const { dueMs = Number.NaN } = next
  if (!Number.isFinite(dueMs)) add(`is due at ${next.dueMs}`)
  if (dueMs - calledMs > CAP_MS) add(`waits ${dueMs - calledMs} ms, which exceeds every cap`)
  if (record?.attempt === undefined || record.reason === 'interrupted') return
  if (isClockLate(deps, delivery.startedMs)) return
  // A grant may set the node's store time back, by what the call of the one before took.
  const isSetBack = calledMs < delivery.startedStoreMs
  const sinceStartMs = isSetBack ? queue.now() - delivery.startedMs : calledMs - delivery.startedStoreMs
  const afterStartMs = dueMs - calledMs + sinceStartMs
  if (record.clientError === 'own_fault') {
    if (afterStartMs < OWN_FAULT_MS) add(`is retried ${afterStartMs} ms after a fault of the service`)
    return
  }
  const [minMs] = retryWindow(next.tries)
  const [, maxMs] = retryWindow(Math.max(next.tries, next.attempts))
  const isThrottled = record.status === 429 || (record.status ?? 0) >= 502
  const delayMs = dueMs - calledMs
  if (afterStartMs < minMs) add(`is retried after ${afterStartMs} ms, earlier than ${minMs} ms`)
  if (!isThrottled && delayMs > maxMs) add(`is retried after ${delayMs} ms, later than ${maxMs} ms`)
}

/** Store time as a node knows it is late by the duration of a store call: after a slow one, a moment can recur. */
function isClockLate({ history, queue }: SettlementRuleDeps, sinceMs: number): boolean {
  for (const { kind } of disruptionsBetween(history.disruptions, sinceMs, queue.now())) {
    if (kind === 'store slow' || kind === 'store cut off' || kind === 'pause') return true
  }
  return false
}

const AUTO_DISABLE_AFTER_MS = 86_400_000
const AUTO_DISABLE_EXHAUSTED = 20

/** Checks that a webhook was disabled only because its receiver answered 410, or after a day without success. */
export function checkDisabling(
  { tracked, history, violations, queue }: SettlementRuleDeps,
  webhook: string,
  reason: string,
): void {
  if (reason === 'gone') {
    if (!history.gone.has(webhook)) {
      violations.add(
        'I22',
        queue.now(),
        `${webhook} is disabled as gone, but its receiver did not answer 410`,
        webhook,
      )
    }
    return
  }
  const { failingSinceMs = queue.now(), exhausted = 0 } = tracked.health.get(webhook) ?? {}
  const silentMs = queue.now() - failingSinceMs
  // Clocks of nodes drift.
  if (silentMs >= AUTO_DISABLE_AFTER_MS * 0.999 && exhausted >= AUTO_DISABLE_EXHAUSTED) return
  const message = `${webhook} is disabled (${reason}) ${Math.round(silentMs)} ms after its last success, with ${exhausted} exhausted deliveries`
  violations.add('I22', queue.now(), message, webhook)
}

/** Tracks the health of a webhook, for `checkDisabling`. */
export function trackHealth(
  { tracked, queue }: SettlementRuleDeps,
  webhook: string,
  { next, record }: Settlement,
): void {
  if (record?.result === 'success') {
    tracked.health.delete(webhook)
    return
  }
  if (record?.attempt === undefined) return
  const before = tracked.health.get(webhook) ?? { failingSinceMs: queue.now(), exhausted: 0 }
  const exhausted = before.exhausted + (next.state === 'exhausted' ? 1 : 0)
  tracked.health.set(webhook, { ...before, exhausted })
}

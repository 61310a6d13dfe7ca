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

/** What an attempt says; `check`: a probe that found that no connection can be made; `none`: nothing about the receiver. */
type AttemptKind = 'success' | 'unavailable' | 'rejected' | 'check' | 'none'

/** Statuses and failures of a receiver that could not take a request. */
const UNAVAILABLE_STATUSES = new Set([429, 502, 503, 504])
const UNAVAILABLE_FAILURES = new Set(['timeout', 'connection', 'dns', 'tls'])
const GONE = 410

export function kindOfAttempt({ record, next }: Settlement): AttemptKind {
  if (!record) return next.state === 'waiting' ? 'check' : 'none'
  const { attempt, reason, clientError, status, result } = record
  if (attempt === undefined || reason === 'interrupted' || clientError === 'own_fault') return 'none'
  if (result === 'success') return 'success'
  if (status === GONE) return 'none'
  if (status !== undefined) return UNAVAILABLE_STATUSES.has(status) ? 'unavailable' : 'rejected'
  return UNAVAILABLE_FAILURES.has(clientError ?? '') ? 'unavailable' : 'rejected'
}

/** The default policy, repeated here: the time to the next attempt, the last one repeats, ±20 %. */
const DELAYS_MS = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]
const JITTER = 0.2
/** The same for a receiver that takes nothing. */
const AWAY_MS = [5_000, 10_000, 15_000]
const CAP_MS = 3_600_000 * (1 + JITTER)
/** Minimum delay after a fault of the service. */
const OWN_FAULT_MS = 500

const delayAfter = (delaysMs: readonly number[], attempts: number) =>
  delaysMs[Math.min(Math.max(1, attempts), delaysMs.length) - 1]!

/**
 * Checks that a retry is due within the window of its policy, or soon if its receiver takes nothing. What a pause holds is due
 * at once. A settlement is decided between its start and the call of the store, which comes later if the store was out.
 *
 * @param calledMs store time at the call, as the node knew it
 * @param mayBePaused its endpoint may be paused
 */
export function checkRetryDelay(
  deps: SettlementRuleDeps,
  delivery: TrackedDelivery,
  settlement: Settlement,
  calledMs: number,
  mayBePaused: boolean,
): void {
  const { violations, queue } = deps
  const { next, record } = settlement
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
  const plainMs = delayAfter(DELAYS_MS, next.attempts)
  const awayMs =
    kindOfAttempt(settlement) === 'unavailable'
      ? delayAfter(AWAY_MS, next.attempts)
      : Number.POSITIVE_INFINITY
  const minMs = mayBePaused ? 0 : Math.min(plainMs * (1 - JITTER), awayMs) - 1
  const maxMs = plainMs * (1 + JITTER) + 1
  const delayMs = dueMs - calledMs
  if (afterStartMs < minMs) add(`is retried after ${afterStartMs} ms, earlier than ${minMs} ms`)
  if (delayMs > maxMs) add(`is retried after ${delayMs} ms, later than ${maxMs} ms`)
}

/** Store time as a node knows it is late by the duration of a store call: after a slow one, a moment can recur. */
function isClockLate({ history, queue }: SettlementRuleDeps, sinceMs: number): boolean {
  for (const { kind } of disruptionsBetween(history.disruptions, sinceMs, queue.now())) {
    if (kind === 'store slow' || kind === 'store cut off' || kind === 'pause') return true
  }
  return false
}

const AUTO_DISABLE_AFTER_MS = 432_000_000
const AUTO_DISABLE_EXHAUSTED = 20

/** Checks that a webhook was disabled only because its receiver answered 410, or after five days without success. */
export function checkDisabling(
  { tracked, history, violations, queue }: SettlementRuleDeps,
  webhook: string,
  reason: string,
): void {
  if (reason === 'gone') {
    if (!history.gone.has(webhook)) {
      const message = `${webhook} is disabled as gone, but its receiver did not answer 410`
      violations.add('I22', queue.now(), message, webhook)
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
  const before = tracked.health.get(webhook) ?? { failingSinceMs: queue.now(), exhausted: 0 }
  const isGivenUp = next.state === 'exhausted' || next.state === 'expired'
  const exhausted = before.exhausted + (isGivenUp ? 1 : 0)
  tracked.health.set(webhook, { ...before, exhausted })
}

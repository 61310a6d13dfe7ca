/**
 * The oracle's own rules for endpoints: when one is paused, what may be sent to it meanwhile (I11, I15), and when a delivery
 * may be sent before an earlier one of its lane (I17).
 */

import type { Settlement } from '../delivery/delivery-store.js'
import type { SettlementRuleDeps } from './settlement-rules.js'
import { kindOfAttempt } from './settlement-rules.js'
import type { TrackedDelivery, TrackedEndpoint, TrackedState } from './tracked-state.js'

/** What a group of settlements says about the pause of a webhook. */
export interface GroupPause {
  /** The webhook may have been paused while one of them was decided. */
  readonly mayBePaused: boolean
  /** It was paused all the time. */
  readonly isPaused: boolean
}

/** Longest time to the next probe in the first minutes and later, and the end of those minutes, ms. */
const PROBE_MS = 15_000
const LONG_PROBE_MS = 60_000
const BRIEF_MS = 300_000
/** Longest wait that a receiver can ask for, ms. */
const MAX_ASKED_MS = 3_600_000
/** Statuses with which a receiver can ask for a wait. */
const ASKING = new Set([429, 502, 503, 504])
/** How long a lane waits for a delivery that fails while the receiver takes others, ms. */
const PATIENCE_MS = 60_000
/** From this many receivers on, the service may probe early because it believes that its own network is back. */
const OUTAGE_RECEIVERS = 5

function endpointOf(tracked: TrackedState, webhook: string): TrackedEndpoint {
  const found = tracked.endpoints.get(webhook)
  if (found) return found
  const created: TrackedEndpoint = {
    pause: undefined,
    isUncertain: false,
    failingSinceMs: undefined,
    pausedUntilMs: 0,
    writtenMs: 0,
    pausedSinceMs: 0,
    heldMs: Number.NEGATIVE_INFINITY,
    askedMs: Number.NEGATIVE_INFINITY,
  }
  tracked.endpoints.set(webhook, created)
  return created
}

/**
 * The pause of a webhook during a group. The health is written once, with the last settlement: a pause may have begun and
 * ended before.
 */
export function groupPauseOf(
  tracked: TrackedState,
  webhook: string,
  ended: readonly Settlement[],
): GroupPause {
  const some = ended.filter(({ webhookId }) => webhookId === webhook)
  const kinds = some.map(kindOfAttempt)
  const health = healthOf(some)
  const { pause, isUncertain } = endpointOf(tracked, webhook)
  const wasPaused = pause !== undefined
  const isPausedAfter = health === undefined ? wasPaused : health?.pause !== undefined
  const hasEnded =
    health === null ||
    kinds.includes('success') ||
    some.some(({ endpoint }) => endpoint?.disable !== undefined)
  const isRejected = kinds.includes('rejected')
  const isUnavailable = kinds.includes('unavailable') || kinds.includes('check')
  return {
    mayBePaused: wasPaused || isUncertain || isPausedAfter || hasEnded || (isUnavailable && isRejected),
    isPaused: wasPaused && isPausedAfter && !hasEnded && !isRejected,
  }
}

const healthOf = (some: readonly Settlement[]) =>
  some.findLast(({ endpoint }) => endpoint?.health !== undefined)?.endpoint?.health

/** Tracks the endpoints of a group that was written. */
export function trackEndpoints(
  deps: SettlementRuleDeps,
  ended: readonly Settlement[],
  calledMs: number,
): void {
  const { tracked, queue } = deps
  for (const webhook of new Set(ended.map(({ webhookId }) => webhookId))) {
    const endpoint = endpointOf(tracked, webhook)
    const some = ended.filter(({ webhookId }) => webhookId === webhook)
    if (groupPauseOf(tracked, webhook, some).mayBePaused) endpoint.heldMs = queue.now()
    if (some.some(({ record }) => ASKING.has(record?.status ?? 0))) endpoint.askedMs = queue.now()
    const health = healthOf(some)
    if (health === undefined) continue
    if (health?.pause && !endpoint.pause) endpoint.pausedSinceMs = queue.now()
    endpoint.pause = health?.pause?.kind
    endpoint.isUncertain = false
    endpoint.failingSinceMs = health?.failingSinceMs
    endpoint.pausedUntilMs = health?.pausedUntilMs ?? 0
    endpoint.writtenMs = queue.now()
    checkProbeTime(deps, webhook, endpoint, health?.failingSinceMs ?? calledMs, calledMs)
  }
}

/** A paused endpoint is probed again soon, unless its receiver has sent `Retry-After`. */
function checkProbeTime(
  { queue, violations }: SettlementRuleDeps,
  webhook: string,
  { pausedUntilMs, pause, askedMs }: TrackedEndpoint,
  failingSinceMs: number,
  calledMs: number,
): void {
  const probeMs = calledMs - failingSinceMs < BRIEF_MS ? PROBE_MS : LONG_PROBE_MS
  const isAsked = queue.now() - askedMs <= MAX_ASKED_MS
  const maxMs = isAsked ? MAX_ASKED_MS : pause ? probeMs : 0
  const waitMs = pausedUntilMs - calledMs
  if (waitMs <= maxMs) return
  const message = `${webhook} is paused for ${waitMs} ms, longer than ${maxMs} ms`
  violations.add('I11', queue.now(), message, webhook)
}

/** An edit of the webhook may have ended its pause, and the wait of a `Retry-After`. */
export function forgetEndpoint({ tracked, queue }: SettlementRuleDeps, webhook: string): void {
  const endpoint = endpointOf(tracked, webhook)
  endpoint.pause = undefined
  endpoint.pausedUntilMs = 0
  endpoint.heldMs = queue.now()
  endpoint.isUncertain = true
}

/**
 * Checks that nothing is started before `Retry-After` has passed and the next probe is due.
 *
 * @param calledMs store time, as the node knew it
 */
export function checkEndpointOfStart(
  deps: SettlementRuleDeps & { readonly receivers: number },
  { id, webhook }: TrackedDelivery,
  calledMs: number,
): void {
  const { tracked, violations, queue, history, receivers } = deps
  const { pausedUntilMs, writtenMs, pause } = endpointOf(tracked, webhook)
  const earlyMs = pausedUntilMs - calledMs
  if (earlyMs <= 0) return
  const receiver = history.webhooks.get(webhook)?.receiver ?? ''
  // Good news of a receiver is shared: its other webhooks are probed soon.
  const isNews = receivers >= OUTAGE_RECEIVERS || (tracked.successes.get(receiver) ?? -1) >= writtenMs
  if (pause && isNews) return
  const message = `${id} is sent ${earlyMs} ms before ${webhook} gets requests`
  violations.add('I11', queue.now(), message, id, webhook)
}

/** Checks that a paused endpoint gets one request at a time: those that were under way when its pause began do not count. */
export function checkProbe(deps: SettlementRuleDeps, { id, webhook, owner }: TrackedDelivery): void {
  const { tracked, violations, queue } = deps
  const { pause, pausedSinceMs } = endpointOf(tracked, webhook)
  if (!pause) return
  const term = `${owner} ${tracked.leases.get(owner)?.fence} `
  for (const [lane, deliveries] of tracked.lanes) {
    if (!lane.startsWith(`${webhook} `)) continue
    for (const other of deliveries) {
      if (other.id === id || other.state !== 'in_flight' || !other.isSent) continue
      if (other.startedMs <= pausedSinceMs || !other.start.startsWith(term)) continue
      const message = `${id} is sent while ${webhook} is paused and ${other.id} is its probe`
      violations.add('I15', queue.now(), message, id, other.id, webhook)
    }
  }
}

/**
 * Whether a delivery may be sent before the earlier ones of its lane: each of them has failed while the receiver took others,
 * or at least has not failed since, and the lane has waited long enough for one of them. To a receiver that rejects everything, kinds of events are sent that
 * it has not rejected yet.
 *
 * @param earlier pending deliveries of the lane that were accepted before
 * @param calledMs store time of the start, as the node knew it
 */
export function mayOvertake(
  tracked: TrackedState,
  webhook: string,
  earlier: readonly TrackedDelivery[],
  calledMs: number,
): boolean {
  const { pause, failingSinceMs = Number.POSITIVE_INFINITY } = endpointOf(tracked, webhook)
  const staying = earlier.filter(({ isOvertaken }) => !isOvertaken)
  let isWaitOver = staying.length < earlier.length
  if (pause !== 'rejected') {
    for (const { failedStoreMs } of staying) {
      if (failedStoreMs === undefined || failedStoreMs >= failingSinceMs) return false
      isWaitOver ||= calledMs - failedStoreMs >= PATIENCE_MS
    }
    if (!isWaitOver) return false
  }
  for (const delivery of staying) delivery.isOvertaken = true
  return true
}

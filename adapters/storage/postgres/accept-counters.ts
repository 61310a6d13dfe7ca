/**
 * Sequence numbers of calls, their legs, and positions in lanes: what a group adds, and what the counters give back.
 */
import { isPlanned, type Plan, type PlannedDelivery } from './accept-plan.js'
import type { CountRow } from './sql/accept.js'

/** What a group adds to the counters: calls that are numbered or touched, legs of calls, lanes. */
export interface Counters {
  readonly calls: readonly CallCounter[]
  /** Account, call, other leg. */
  readonly legs: readonly (readonly [string, string, string])[]
  readonly lanes: readonly LaneCounter[]
}

export interface CallCounter {
  readonly accountId: string
  readonly callId: string
  /** How many of its events take a sequence number. */
  numbered: number
  lastMs: number
}

export interface LaneCounter {
  readonly key: number
  readonly lane: string
  /** In the order of acceptance. */
  readonly deliveries: PlannedDelivery[]
}

/** A call is recorded for the account of its event and for the account of each delivery of that event. */
export function countersOf(plan: Plan): Counters {
  const calls = new Map<string, CallCounter>()
  const legs = new Map<string, readonly [string, string, string]>()
  const lanes = new Map<string, LaneCounter>()

  function touch(accountId: string, callId: string, numbered: number, now: number): void {
    const name = `${accountId} ${callId}`
    const call = calls.get(name)
    if (!call) {
      calls.set(name, { accountId, callId, numbered, lastMs: now })
      return
    }
    call.numbered += numbered
    if (now > call.lastMs) call.lastMs = now
  }
  function addCall(
    accountId: string,
    callId: string,
    other: string | undefined,
    numbered: number,
    now: number,
  ): void {
    touch(accountId, callId, numbered, now)
    if (other === undefined || other === callId) return
    touch(accountId, other, 0, now)
    legs.set(`${accountId} ${callId} ${other}`, [accountId, callId, other])
    legs.set(`${accountId} ${other} ${callId}`, [accountId, other, callId])
  }

  for (const { event, now } of plan.events) {
    if (event.callId === undefined) continue
    addCall(event.accountId, event.callId, event.otherLegCallId, event.numbered ? 1 : 0, now)
  }
  for (const planned of plan.deliveries) {
    const { delivery, webhook, source, now } = planned
    const event = isPlanned(source) ? source.event : undefined
    if (delivery.callId !== undefined && event?.accountId !== delivery.accountId) {
      addCall(delivery.accountId, delivery.callId, event?.otherLegCallId, 0, now)
    }
    const name = `${webhook.key} ${delivery.lane}`
    const lane = lanes.get(name)
    if (lane) lane.deliveries.push(planned)
    else lanes.set(name, { key: webhook.key, lane: delivery.lane, deliveries: [planned] })
  }
  return { calls: [...calls.values()], legs: [...legs.values()], lanes: [...lanes.values()] }
}

/** Numbers the events of the plan. Returns the new heads: the first delivery of each lane that was empty. */
export function applyCounters(
  plan: Plan,
  { calls, lanes }: Counters,
  rows: readonly CountRow[],
): Set<PlannedDelivery> {
  const last = new Map<string, number>()
  const open = new Map<string, number>()
  for (const { key, account, name, count } of rows) {
    if (key === null) last.set(`${account} ${name}`, count)
    else open.set(`${key} ${name}`, count)
  }
  const next = new Map<string, number>()
  for (const { accountId, callId, numbered } of calls) {
    const name = `${accountId} ${callId}`
    if (numbered > 0) next.set(name, last.get(name)! - numbered + 1)
  }
  for (const planned of plan.events) {
    const { accountId, callId, numbered } = planned.event
    if (!numbered || callId === undefined) continue
    const name = `${accountId} ${callId}`
    planned.sequence = next.get(name)!
    next.set(name, planned.sequence + 1)
  }
  const heads = new Set<PlannedDelivery>()
  for (const { key, lane, deliveries } of lanes) {
    if ((open.get(`${key} ${lane}`) ?? 1) === deliveries.length) heads.add(deliveries[0]!)
  }
  return heads
}

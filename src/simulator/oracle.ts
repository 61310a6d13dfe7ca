/**
 * Checks the invariants of a run when everything is quiet, from what was seen from outside and the final state.
 *
 * Contents: input · publishes (I6, I17) · fan-out (I1, I2, I3) · ends of deliveries (I1, I7, I10, I23) · shares (I10, I24) · requests (I3,
 * I4, I5, I8) · attempt records (I9, I19) · order within calls (I17) · latency and backlogs (I15, I23) · replays
 * (`replay-rules.ts`) · registers (I21).
 */

import { isDeepStrictEqual } from 'node:util'
import type { StoredAttempt } from '../delivery/attempt-record.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { addTo, groupBy } from '../values/group.js'
import { disruptionsBetween } from './disruptions.js'
import { expectationOf, mayConcern } from './expected-deliveries.js'
import { expectedPayload } from './expected-payload.js'
import type { FinalState } from './final-state.js'
import type { Disruption, PublishCall, ReceivedRequest, RunHistory, WebhookHistory } from './history.js'
import { isLinearizable } from './linearizability.js'
import { checkReplays } from './replay-rules.js'
import {
  hasEnded,
  type TrackedDelivery,
  type TrackedDeliveryState,
  type TrackedState,
} from './tracked-state.js'
import type { ViolationLog } from './violation.js'

interface OracleInput {
  readonly history: RunHistory
  readonly tracked: TrackedState
  readonly finalState: FinalState
  readonly violations: ViolationLog
  /** Without any fault, no request is repeated at all. */
  readonly hasNoFaults: boolean
  /** Names of receivers that were healthy during the whole run. */
  readonly alwaysHealthy: ReadonlySet<string>
  /** Length of shard leases, ms. */
  readonly leaseMs: number
  /** Deliveries that may wait for one webhook. */
  readonly maxPendingPerWebhook: number
  /** Wall clock of the shared store at moment 0, Unix ms; absent: nodes use their own. */
  readonly storeStartMs: number | undefined
  cover(name: string): void
}

/** One published event: all calls of `publish` with its key. */
interface PublishedEvent {
  readonly key: string
  readonly publishes: PublishCall[]
  id: string
  /** Webhooks that have a delivery of it. */
  readonly webhooks: string[]
  /** The last JSON body that was found correct, to skip equal ones. */
  body: string
  /** It was committed between these moments. */
  fromMs: number
  toMs: number
}

/** In order of arrival. */
type RequestsByDelivery = ReadonlyMap<string, readonly ReceivedRequest[]>

export function checkInvariants(input: OracleInput): void {
  const events = checkPublishes(input)
  checkFanOut(input, events)
  checkEnds(input, events)
  checkAges(input)
  checkShares(input)
  const byDelivery = groupBy(input.history.requests, ({ delivery }) => delivery)
  checkRequests(input, byDelivery, events)
  checkTimestamps(input)
  checkRecords(input, byDelivery)
  checkOrder(input, events)
  checkWaits(input, byDelivery)
  checkReplays(input.finalState, input.violations, input.cover)
  checkRegisters(input)
}

// Publishes

/** One key is one event, and the events of a call are numbered in order of acceptance. */
function checkPublishes({ history, violations }: OracleInput): Map<string, PublishedEvent> {
  const byKey = new Map<string, PublishedEvent>()
  for (const publish of history.publishes) {
    const event = byKey.get(publish.key)
    if (event) event.publishes.push(publish)
    else
      byKey.set(publish.key, {
        key: publish.key,
        publishes: [publish],
        id: '',
        webhooks: [],
        body: '',
        fromMs: publish.atMs,
        toMs: Number.POSITIVE_INFINITY,
      })
  }
  const byId = new Map<string, PublishedEvent>()
  const numbers = new Map<string, number>()
  for (const event of byKey.values()) {
    const accepted = event.publishes.filter(({ outcome }) => outcome === 'accepted')
    const [first] = accepted
    if (!first) continue
    event.id = first.eventId
    event.toMs = Math.min(...accepted.map(({ doneMs }) => doneMs))
    const other = accepted.find(
      ({ eventId, sequence }) => eventId !== first.eventId || sequence !== first.sequence,
    )
    const { accountId, callId } = first.event
    if (other) {
      const message = `${event.key} became ${first.eventId} (${first.sequence}) and ${other.eventId} (${other.sequence})`
      violations.add('I6', other.doneMs, message, first.eventId, other.eventId, callId)
    }
    if (accepted.filter(({ isDuplicate }) => !isDuplicate).length > 1) {
      const message = `${event.key} was accepted as new more than once`
      violations.add('I6', first.doneMs, message, first.eventId, callId)
    }
    const call = `${accountId}/${callId}`
    const number = (numbers.get(call) ?? 0) + 1
    numbers.set(call, number)
    if (first.sequence !== number) {
      const message = `${first.eventId} has sequence ${first.sequence} in its call, but was accepted as number ${number}`
      violations.add('I17', first.doneMs, message, first.eventId, callId)
    }
    byId.set(event.id, event)
  }
  return byId
}

// Fan-out

/** Exactly the webhooks that match have a delivery of an event, one each. */
function checkFanOut(
  { history, finalState, violations }: OracleInput,
  events: Map<string, PublishedEvent>,
): void {
  for (const { id, webhookId, eventId, replayOf } of finalState.deliveries.values()) {
    if (replayOf !== undefined) continue
    const event = events.get(eventId)
    if (!event) {
      violations.add('I3', 0, `${id} is a delivery of ${eventId}, which nobody published`, id, webhookId)
      continue
    }
    if (event.webhooks.includes(webhookId)) {
      violations.add('I2', 0, `${eventId} went to ${webhookId} twice`, id)
      continue
    }
    event.webhooks.push(webhookId)
    const webhook = history.webhooks.get(webhookId)
    const expectation = webhook && expectationOf(webhook, event.publishes[0]!.event, event.fromMs, event.toMs)
    if (expectation === 'must not') {
      const message = `${eventId} went to ${webhookId}, which does not match it`
      violations.add('I2', event.toMs, message, id, webhookId)
    }
  }
  const concerned = concernedBy([...history.webhooks.values()])
  for (const { id, webhooks, publishes, fromMs, toMs } of events.values()) {
    const { event } = publishes[0]!
    for (const { webhook, createdMs, deletedMs } of concerned(event.accountId)) {
      if (createdMs > toMs || deletedMs < fromMs || webhooks.includes(webhook.id)) continue
      if (expectationOf(webhook, event, fromMs, toMs) !== 'must') continue
      const message = `${id} was accepted, but ${webhook.id} has no delivery of it`
      violations.add('I1', toMs, message, id, webhook.id, event.callId)
    }
  }
}

/** A webhook, and the longest time in which it may have existed. */
interface Span {
  readonly webhook: WebhookHistory
  readonly createdMs: number
  readonly deletedMs: number
}

/** The webhooks that events of an account may concern, cached by account. */
function concernedBy(webhooks: readonly WebhookHistory[]): (account: string) => readonly Span[] {
  const spans = webhooks.map((webhook): Span => {
    const last = webhook.changes.at(-1)!
    const isDeleted = last.input.isDeleted && last.outcome === 'done'
    return {
      webhook,
      createdMs: webhook.changes[0]!.atMs,
      deletedMs: isDeleted ? last.doneMs : Infinity,
    }
  })
  const cached = new Map<string, readonly Span[]>()
  return (account) => {
    const found = cached.get(account) ?? spans.filter(({ webhook }) => mayConcern(webhook.accountId, account))
    cached.set(account, found)
    return found
  }
}

// Ends of deliveries

/** Limits over all settings that a webhook had. */
interface Bounds {
  readonly minTries: number
  readonly maxTries: number
  readonly minAgeMs: number
  readonly maxAgeMs: number
}

/** The default of the service, repeated here. */
const DEFAULT_MAX_AGE_SECONDS = 86_400
/** How much earlier than it is written a delivery may be accepted, or sent later than its age was checked, ms. */
const AGE_ERROR_MS = 5_000
/** Failures of requests that were not sent: without retries they do not end a delivery. */
const NOT_SENT = new Set(['dns', 'tls'])

const isSent = ({ clientError, cause }: StoredAttempt) =>
  !NOT_SENT.has(clientError ?? '') && cause !== 'refused'

function boundsByWebhook({ webhooks }: RunHistory): ReadonlyMap<string, Bounds> {
  return new Map(
    Array.from(webhooks.values(), ({ id, changes }) => {
      const tries = changes.map(({ input }) => 1 + input.retries)
      const ages = changes.map(({ input }) => 1000 * (input.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS))
      const bounds = {
        minTries: Math.min(...tries),
        maxTries: Math.max(...tries),
        minAgeMs: Math.min(...ages),
        maxAgeMs: Math.max(...ages),
      }
      return [id, bounds]
    }),
  )
}

/** Every delivery has ended, for a reason that justifies the state. */
function checkEnds(
  { history, finalState, violations, tracked, leaseMs }: OracleInput,
  events: ReadonlyMap<string, PublishedEvent>,
): void {
  const bounds = boundsByWebhook(history)
  const successes = new Set<string>()
  for (const request of history.requests) {
    if (request.status >= 200 && request.status < 300) successes.add(request.delivery)
  }
  for (const candidate of finalState.deliveries.values()) {
    const { id, state, reason, webhookId, tries, eventId, replayOf } = candidate
    const delivery = tracked.deliveries.get(id)
    const bound = bounds.get(webhookId)
    const add = (invariant: string, message: string) =>
      violations.add(invariant, delivery?.endedMs ?? 0, `${id} ${message}`, id, webhookId)
    if (!hasEnded(state as TrackedDeliveryState)) {
      add(state === 'waiting' ? 'I23' : 'I1', `is still ${state} when everything is quiet`)
    } else if (state === 'delivered') {
      if (!successes.has(id)) add('I1', 'is delivered, but no receiver answered with success')
    } else if (!reason) add('I1', `is ${state} without a reason`)
    if (bound && tries > bound.maxTries) add('I7', `was tried ${tries} times`)
    const last = finalState.attempts.get(id)?.at(-1)
    // Without retries nothing is sent twice, even if the receiver could not take it.
    const isSentOnce = bound?.minTries === 1 && last && isSent(last)
    if (bound && state === 'exhausted' && tries < bound.minTries && !isSentOnce)
      add('I7', `was exhausted after ${tries} tries`)
    if (bound && delivery && state === 'expired' && reason !== QUEUE_FULL) {
      const fromMs =
        replayOf === undefined ? (events.get(eventId)?.fromMs ?? 0) : delivery.acceptedMs - AGE_ERROR_MS
      const ageMs = delivery.endedMs - fromMs
      // The time of a machine that was suspended is late until it renews its lease.
      const between = disruptionsBetween(history.disruptions, fromMs - leaseMs, fromMs)
      const isLate = [...between].some(({ kind }) => kind === 'pause')
      if (ageMs < bound.minAgeMs * 0.999 && !isLate) add('I10', `has expired after ${Math.round(ageMs)} ms`)
    }
    if (delivery && delivery.state !== state && !(state === 'cancelled' && delivery.state === 'waiting'))
      add('I10', `is shown as ${state}, but was last written as ${delivery.state}`)
  }
}

/** Nothing is sent that is older than its webhook allows. */
function checkAges({ history, violations, tracked, leaseMs }: OracleInput): void {
  const bounds = boundsByWebhook(history)
  for (const { delivery: id, webhook, atMs } of history.requests) {
    const { maxAgeMs = Number.POSITIVE_INFINITY } = bounds.get(webhook) ?? {}
    const ageMs = atMs - (tracked.deliveries.get(id)?.acceptedMs ?? atMs)
    if (ageMs <= maxAgeMs + AGE_ERROR_MS) continue
    if (!disruptionsBetween(history.disruptions, atMs - leaseMs, atMs).next().done) continue
    const message = `${id} is sent at the age of ${Math.round(ageMs)} ms, of ${maxAgeMs} ms`
    violations.add('I10', atMs, message, id, webhook)
  }
}

// Shares

/** The reason of deliveries that expired because too many waited, repeated here. */
const QUEUE_FULL = 'queue_full'
/** Deliveries of a webhook that may be open beyond its limit: in flight, or displaced a moment ago. */
const MAX_OPEN_BEYOND = 40

/**
 * A delivery expires as `queue_full` only after more deliveries of its webhook were open than may wait, and without faults
 * hardly more are ever open. Those of a disabled webhook count as open as long as their rows say nothing else.
 */
function checkShares(input: OracleInput): void {
  const { tracked, finalState, violations, maxPendingPerWebhook: limit, hasNoFaults, cover } = input
  for (const [webhook, deliveries] of groupBy(tracked.deliveries.values(), ({ webhook }) => webhook)) {
    const steps = deliveries.flatMap(({ id, acceptedMs, endedMs }) => [
      { id, atMs: acceptedMs, by: 1 },
      { id, atMs: endedMs, by: -1 },
    ])
    // What is accepted at the moment of an end came before it.
    steps.sort((a, b) => a.atMs - b.atMs || b.by - a.by)
    let open = 0
    let most = 0
    for (const { id, atMs, by } of steps) {
      const isDisplaced = by < 0 && finalState.deliveries.get(id)?.reason === QUEUE_FULL
      if (isDisplaced) cover('expired: queue_full')
      if (isDisplaced && most <= limit) {
        const message = `${id} expired as ${QUEUE_FULL}, but at most ${most} of ${limit} deliveries were open`
        violations.add('I10', atMs, message, id, webhook)
      }
      open += by
      most = Math.max(most, open)
    }
    const isAbove = hasNoFaults && most > limit + MAX_OPEN_BEYOND
    if (isAbove) violations.add('I24', 0, `${most} deliveries were open, but ${limit} may wait`, webhook)
  }
}

// Requests

/** A signature is older than this where its node was paused, ms. */
const MAX_SIGNATURE_AGE_MS = 60_000

/** Receivers refuse a signature of a wrong time: it is the store's, whatever the clock of the node shows. */
function checkTimestamps({ history, violations, storeStartMs }: OracleInput): void {
  if (storeStartMs === undefined) return
  for (const { timestamp, atMs, node, delivery, webhook } of history.requests) {
    const aheadMs = timestamp * 1000 - (storeStartMs + atMs)
    if (Math.abs(aheadMs) <= MAX_SIGNATURE_AGE_MS) continue
    const disruptions = disruptionsBetween(history.disruptions, atMs + aheadMs, atMs)
    if ([...disruptions].some((disruption) => disruption.kind === 'pause' && disruption.node === node))
      continue
    const message = `${node} signs with a time that is ${Math.round(aheadMs / 1000)} s ahead`
    violations.add('I30', atMs, message, delivery, webhook)
  }
}

/** Every request belongs to a delivery, has the published body, always the same one, and is not needlessly repeated. */
function checkRequests(
  input: OracleInput,
  byDelivery: RequestsByDelivery,
  events: Map<string, PublishedEvent>,
): void {
  const { finalState, violations, tracked, hasNoFaults } = input
  for (const [id, requests] of byDelivery) {
    const first = requests[0]!
    const { webhook } = first
    const add = (invariant: string, atMs: number, message: string) =>
      violations.add(invariant, atMs, `${id} ${message}`, id, webhook)
    const delivery = finalState.deliveries.get(id)
    if (!delivery || delivery.webhookId !== webhook) {
      add('I3', first.atMs, `reached ${webhook}, but there is no such delivery`)
      continue
    }
    const event = events.get(delivery.eventId)
    if (first.account !== delivery.accountId || !mayConcern(first.account, delivery.eventAccountId)) {
      add('I4', first.atMs, `of ${delivery.eventAccountId} reached ${webhook} of ${first.account}`)
    }
    if (event && !isPublished(event, first.body)) {
      add('I5', first.atMs, `arrived as ${first.body}, which was not published`)
    }
    const successMs = tracked.deliveries.get(id)?.successMs ?? Number.POSITIVE_INFINITY
    const numbers: number[] = []
    for (const [at, request] of requests.entries()) {
      if (!numbers.includes(request.attempt)) numbers.push(request.attempt)
      if (request.body !== first.body) {
        add('I5', request.atMs, `changed from ${first.body} to ${request.body}`)
      }
      const before = requests[at - 1]
      if (before && isSuccess(before) && before.isAcknowledged && !excuseOf(input, before, request)) {
        add('I8', request.atMs, `was answered ${before.status} and sent again`)
      }
      if (request.atMs > successMs && !excuseOf(input, before ?? request, request)) {
        add('I8', request.atMs, 'was sent after its success had been recorded')
      }
    }
    if (hasNoFaults && numbers.length !== requests.length) {
      add('I8', first.atMs, `was sent ${requests.length} times in ${numbers.length} attempts`)
    }
  }
}

/** Whether a JSON body is the event that was published. Other encodings are only compared between attempts. */
function isPublished(event: PublishedEvent, body: string): boolean {
  if (body === event.body || !body.startsWith('{')) return true
  const accepted = event.publishes.find(({ outcome }) => outcome === 'accepted')
  if (
    accepted &&
    !isDeepStrictEqual(JSON.parse(body), expectedPayload(accepted.event, accepted.eventId, accepted.sequence))
  )
    return false
  event.body = body
  return true
}

/**
 * A disruption that explains a repeated request: the node crashed or was paused, or its store did not answer. A machine
 * that was suspended believes its lease to be longer than it is until it renews it; what it claims in between is claimed
 * again.
 */
function excuseOf(
  { history, leaseMs }: OracleInput,
  first: ReceivedRequest,
  next: ReceivedRequest,
): Disruption | undefined {
  for (const disruption of disruptionsBetween(history.disruptions, first.atMs - leaseMs, next.atMs)) {
    const { node, kind, untilMs } = disruption
    if (kind !== 'pause' && untilMs < first.atMs) continue
    if (node === undefined || node === first.node || node === next.node) return disruption
  }
  return undefined
}

const isSuccess = ({ status }: ReceivedRequest) => status >= 200 && status < 300

// Attempt records

/** Every record has its request, every request has its record, and attempts are numbered without gaps. */
function checkRecords({ finalState, violations }: OracleInput, byDelivery: RequestsByDelivery): void {
  for (const [id, records] of finalState.attempts) {
    const requests = byDelivery.get(id) ?? []
    let last = 0
    for (const { attempt, status, webhookId, reason } of records) {
      if (attempt === undefined) continue
      if (attempt !== last + 1)
        violations.add('I9', 0, `attempt ${attempt} of ${id} follows ${last}`, id, webhookId)
      last = attempt
      if (status === undefined || reason === 'interrupted') continue
      if (requests.some((request) => request.attempt === attempt && request.status === status)) continue
      const message = `attempt ${attempt} of ${id} has status ${status}, which its receiver did not send`
      violations.add('I19', 0, message, id, webhookId)
    }
  }
  for (const [id, requests] of byDelivery) {
    const records = finalState.attempts.get(id) ?? []
    for (const { attempt, atMs, webhook } of requests) {
      if (records.some((record) => record.attempt === attempt)) continue
      // Quarantine writes no record of the third attempt, although the node may have sent it.
      if (finalState.deliveries.get(id)?.state === 'quarantined') continue
      violations.add('I19', atMs, `request ${attempt} of ${id} has no record`, id, webhook)
    }
  }
}

// Order within calls

/**
 * For webhooks that always had ordering `call`: an event of a call is first sent when the one before it has ended.
 * Cancelled and expired deliveries hold back nothing, whenever their rows are written.
 */
function checkOrder(
  { history, finalState, violations, tracked }: OracleInput,
  events: ReadonlyMap<string, PublishedEvent>,
): void {
  const firstMs = new Map<string, number>()
  for (const { delivery, atMs } of history.requests) if (!firstMs.has(delivery)) firstMs.set(delivery, atMs)
  const sequenceOf = ({ eventId }: StoredDelivery) =>
    events.get(eventId)?.publishes.find(({ outcome }) => outcome === 'accepted')?.sequence ?? 0
  const calls = new Map<string, StoredDelivery[]>()
  for (const delivery of finalState.deliveries.values()) {
    const changes = history.webhooks.get(delivery.webhookId)?.changes ?? []
    if (delivery.replayOf !== undefined || !changes.length) continue
    if (changes.some(({ input }) => input.ordering !== 'call')) continue
    const key = `${delivery.webhookId} ${delivery.eventAccountId}/${delivery.callId}`
    addTo(calls, key, delivery)
  }
  for (const deliveries of calls.values()) {
    deliveries.sort((a, b) => sequenceOf(a) - sequenceOf(b))
    for (const [at, next] of deliveries.entries()) {
      const before = deliveries[at - 1]
      if (!before || before.state === 'cancelled' || before.state === 'expired') continue
      // What its lane did not wait for was checked when it was sent.
      if (tracked.deliveries.get(next.id)?.hasOvertaken) continue
      const endedMs = tracked.deliveries.get(before.id)?.endedMs ?? 0
      const sentMs = firstMs.get(next.id)
      if (sentMs === undefined || sentMs >= endedMs) continue
      const message = `${next.id} was sent ${Math.round(endedMs - sentMs)} ms before ${before.id} of its call had ended`
      violations.add('I17', sentMs, message, next.id, before.id, next.webhookId)
    }
  }
}

// Latency and backlogs

/** A delivery to a receiver that always succeeds, and when it was first sent. */
interface Wait {
  readonly delivery: TrackedDelivery
  readonly account: string
  readonly sentMs: number
}

/** 99 % of deliveries to healthy receivers are first sent within this time, whatever other receivers do. */
const P99_BOUND_MS = 1000
/** Minimum number of deliveries for a 99th percentile. */
const MIN_WAITS = 30
/** How long a disruption has consequences: leases expire, nodes restart. */
const AFTERMATH_MS = 90_000
/** Minimum backlog whose rate is checked. */
const MIN_BACKLOG = 200
/** Share of a backlog that is checked; the rest waits for something else. */
const BACKLOG_SHARE = 0.98
const BUCKET_MS = 1000
const MAX_PEAK_TO_MEAN = 3

/** Healthy receivers get deliveries at once (I15), in each account (I23), and a backlog leaves at an even rate (I23). */
function checkWaits(input: OracleInput, byDelivery: RequestsByDelivery): void {
  const waits = waitsOf(input, byDelivery)
  checkLatency(input, waits)
  checkBacklogs(input, waits)
}

function waitsOf(
  { finalState, tracked, history, alwaysHealthy }: OracleInput,
  byDelivery: RequestsByDelivery,
): readonly Wait[] {
  const failed = new Set<string>()
  for (const records of finalState.attempts.values()) {
    for (const { result, webhookId } of records) if (result !== 'success') failed.add(webhookId)
  }
  const waits: Wait[] = []
  for (const [id, [request]] of byDelivery) {
    const delivery = tracked.deliveries.get(id)
    const webhook = delivery && history.webhooks.get(delivery.webhook)
    if (!webhook || !alwaysHealthy.has(webhook.receiver) || failed.has(delivery.webhook)) continue
    waits.push({ delivery, account: webhook.accountId, sentMs: request!.atMs })
  }
  return waits.sort((a, b) => a.sentMs - b.sentMs)
}

function checkLatency({ violations, history, leaseMs, cover }: OracleInput, waits: readonly Wait[]): void {
  const byAccount = new Map<string, Wait[]>()
  for (const wait of waits) {
    const { delivery, sentMs, account } = wait
    if (!delivery.isHead) continue
    const sinceMs = delivery.acceptedMs - Math.max(AFTERMATH_MS, 3 * leaseMs)
    if (!disruptionsBetween(history.disruptions, sinceMs, sentMs).next().done) continue
    addTo(byAccount, account, wait)
  }
  const waitedMs = ({ delivery, sentMs }: Wait) => sentMs - delivery.acceptedMs
  const checkP99 = (invariant: string, group: string, some: readonly Wait[]) => {
    if (some.length < MIN_WAITS) return
    cover(`latency of ${group === 'all' ? 'all' : 'an account'} checked`)
    const p99 = [...some].sort((a, b) => waitedMs(a) - waitedMs(b))[Math.floor(some.length * 0.99)]!
    if (waitedMs(p99) <= P99_BOUND_MS) return
    const message = `the 99th percentile of ${group} waits ${Math.round(waitedMs(p99))} ms to be sent, to healthy receivers`
    violations.add(invariant, p99.sentMs, message, p99.delivery.id, p99.delivery.webhook)
  }
  checkP99('I15', 'all', [...byAccount.values()].flat())
  for (const [account, some] of byAccount) checkP99('I23', account, some)
}

/** Index of the first moment, in ascending order, that is not before `ms` (binary search). */
function firstFrom(moments: readonly number[], ms: number): number {
  let low = 0
  for (let high = moments.length; low < high; ) {
    const middle = (low + high) >>> 1
    if (moments[middle]! < ms) low = middle + 1
    else high = middle
  }
  return low
}

function checkBacklogs({ violations, history, cover }: OracleInput, waits: readonly Wait[]): void {
  const accepted = waits.map(({ delivery }) => delivery.acceptedMs).sort((a, b) => a - b)
  for (const { kind, atMs, untilMs } of history.disruptions) {
    // Cheap test first: most disruptions have few acceptances.
    const count = firstFrom(accepted, untilMs) - firstFrom(accepted, atMs)
    if (count < MIN_BACKLOG) continue
    const backlog = waits.filter(
      ({ delivery, sentMs }) =>
        delivery.acceptedMs >= atMs && delivery.acceptedMs < untilMs && sentMs >= untilMs,
    )
    if (backlog.length < MIN_BACKLOG) continue
    const sent = backlog.slice(0, Math.ceil(backlog.length * BACKLOG_SHARE))
    const fromMs = sent[0]!.sentMs
    const perSecond = new Array<number>(1 + Math.floor((sent.at(-1)!.sentMs - fromMs) / BUCKET_MS)).fill(0)
    for (const { sentMs } of sent) perSecond[Math.floor((sentMs - fromMs) / BUCKET_MS)]! += 1
    cover('backlog checked')
    const mean = sent.length / perSecond.length
    const peak = Math.max(...perSecond)
    if (peak <= MAX_PEAK_TO_MEAN * mean) continue
    const message = `after ${kind}, ${peak} of ${sent.length} were sent in one second, at a mean of ${mean.toFixed(1)}`
    violations.add('I23', fromMs, message)
  }
}

// Registers

/** Concurrent changes of a webhook behave as if they had been executed one after the other. */
function checkRegisters({ history, violations }: OracleInput): void {
  for (const register of history.registers) {
    if (isLinearizable(register)) continue
    const steps = register.steps.map(
      ({ kind, value, outcome, fromMs, toMs }) =>
        `${kind} ${value} ${outcome} (${fromMs.toFixed(1)} to ${toMs.toFixed(1)})`,
    )
    const message = `the results of ${register.id} are not linearizable: ${register.first}, ${steps.join(', ')}`
    violations.add('I21', register.steps[0]!.fromMs, message, register.id)
  }
}

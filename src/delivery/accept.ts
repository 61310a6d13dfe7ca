import type { Account } from '../accounts/account.js'
import type { Directory } from '../accounts/directory.js'
import { errorCode, HookswitchError, notFound } from '../errors.js'
import type { Metrics } from '../metrics.js'
import type { Clock } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { type Bodies, bodiesOf, encodingOf } from './bodies.js'
import type { AcceptedEvent, DeliveryStore, NewDelivery, NewEvent } from './delivery-store.js'
import { bodyHash, type CheckedEvent, checkEvent, checkPayloadSize } from './event.js'
import { matches } from './match.js'
import { payloadFields } from './payload.js'

export interface AcceptDoors {
  readonly clock: Clock
  readonly directory: Pick<Directory, 'lineage'>
  readonly webhooks: Pick<WebhookStore, 'candidates'>
  readonly deliveries: Pick<DeliveryStore, 'accept'>
  newId(): string
  knowsHook(hook: string): boolean
  /** Store time, ms. */
  storeNow(): number
  readonly metrics?: Pick<Metrics, 'count'>
}

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_WINDOW_MS = 86_400_000

/** The lane of a delivery: one per call for those in call order, else its own. */
function laneOf(event: CheckedEvent, webhook: Webhook, deliveryId: string): string {
  return webhook.settings.ordering === 'call' ? `${event.accountId}/${event.callId}` : `-/${deliveryId}`
}

/** A delivery of an event to a webhook, with everything frozen that stays the same on every attempt. */
export function newDelivery(
  id: string,
  event: CheckedEvent,
  eventId: string,
  webhook: Webhook,
  variant: number,
  lane: string,
): NewDelivery {
  return {
    id,
    accountId: webhook.accountId,
    webhookId: webhook.id,
    eventId,
    eventAccountId: event.accountId,
    callId: event.callId,
    hook: event.hook,
    eventTimestampMs: event.timestampMs,
    variant,
    encoding: encodingOf(webhook.settings),
    httpVerb: webhook.settings.httpVerb,
    lane,
    epoch: webhook.epoch,
  }
}

/** An event that was checked, and copied out of the host's hands. */
export interface Draft {
  readonly event: CheckedEvent
  readonly id: string
  readonly bodies: Bodies
  /** Of what the host said, where it gave an idempotency key. */
  readonly hash: string | undefined
  /** W3C Trace Context of who publishes. */
  readonly traceparent: string | undefined
}

/** All that reads the host's event: it comes before the first wait, since afterwards the host may change it. */
export function draft(
  { clock, knowsHook, newId }: Pick<AcceptDoors, 'clock' | 'knowsHook' | 'newId'>,
  input: unknown,
  traceparent: string | undefined,
): Draft {
  const event = checkEvent(input, clock.now(), knowsHook)
  const hash = event.idempotencyKey === undefined ? undefined : bodyHash(input as CheckedEvent)
  return drafted(event, newId(), hash, traceparent)
}

/** @throws `InvalidInput` for an event that is too large */
export function drafted(
  event: CheckedEvent,
  id: string,
  hash: string | undefined,
  traceparent: string | undefined,
): Draft {
  const payload = payloadFields(event, id)
  const json = JSON.stringify(payload)
  // The event alone: what a webhook adds to it is bounded there, and must not refuse the event to others.
  checkPayloadSize(json)
  return { event, id, bodies: bodiesOf(payload, json, true), hash, traceparent }
}

/** Adds one delivery for each webhook that wants the event. */
function addDeliveries(
  newId: () => string,
  { event, id, bodies }: Draft,
  lineage: readonly Account[],
  candidates: readonly Webhook[],
  deliveries: NewDelivery[],
): void {
  for (const webhook of candidates) {
    if (!matches(webhook, event, lineage)) continue
    const deliveryId = newId()
    const lane = laneOf(event, webhook, deliveryId)
    deliveries.push(newDelivery(deliveryId, event, id, webhook, bodies.variant(webhook.settings), lane))
  }
}

function newEvent({ event, id, bodies, hash, traceparent }: Draft, now: number): NewEvent {
  const { accountId, callId, otherLegCallId, hook, timestampMs, idempotencyKey: key } = event
  const made: { -readonly [Name in keyof NewEvent]: NewEvent[Name] } = {
    id,
    accountId,
    callId,
    hook,
    timestampMs,
    numbered: true,
    bodies: bodies.templates,
  }
  if (otherLegCallId !== undefined) made.otherLegCallId = otherLegCallId
  if (traceparent !== undefined) made.traceparent = traceparent
  if (key !== undefined && hash !== undefined) {
    made.idempotency = { key, bodyHash: hash, untilMs: now + IDEMPOTENCY_WINDOW_MS }
  }
  return made
}

/**
 * Accepts events: checked, matched, and committed with one delivery for each matching webhook, all or nothing.
 * When it resolves, they are kept as long as the store keeps things.
 *
 * @param traceparent W3C Trace Context of who publishes; goes with the deliveries to their receivers
 * @throws `InvalidInput` naming the field, `NotFound` for the account, `Conflict` for an idempotency key that was used
 *   with another body, `QueueFull`, `StoreUnavailable`
 */
export async function acceptEvents(
  doors: AcceptDoors,
  inputs: readonly unknown[],
  maxPending: number,
  traceparent?: string,
): Promise<readonly AcceptedEvent[]> {
  const drafts = inputs.map((input, index) => {
    try {
      return draft(doors, input, traceparent)
    } catch (thrown) {
      throw inputs.length > 1 ? atIndex(thrown, index) : thrown
    }
  })
  return acceptDrafts(doors, drafts, maxPending)
}

/**
 * Matches what was checked, and commits it.
 *
 * @param admits ids of the inbox entries that these are
 */
export async function acceptDrafts(
  doors: AcceptDoors,
  drafts: readonly Draft[],
  maxPending: number,
  admits?: readonly string[],
): Promise<readonly AcceptedEvent[]> {
  const deliveries: NewDelivery[] = []
  for (const one of drafts) {
    const { accountId, hook } = one.event
    const lineage = await doors.directory.lineage(accountId)
    if (lineage.length === 0) throw notFound(accountId)
    const candidates = await doors.webhooks.candidates(
      lineage.map(({ id }) => id),
      hook,
    )
    addDeliveries(doors.newId, one, lineage, candidates, deliveries)
    // The store says so too, yet a long list for many webhooks would have filled the memory by then.
    if (deliveries.length > maxPending) throw queueFull(deliveries.length)
  }
  // In the store's time, as it is asked for: nodes need not agree on theirs.
  const now = doors.storeNow()
  const events = drafts.map((one) => newEvent(one, now))
  const acceptance = admits ? { events, deliveries, maxPending, admits } : { events, deliveries, maxPending }
  const accepted = await doors.deliveries.accept(acceptance, now)
  countAccepted(doors, accepted, deliveries)
  return accepted
}

function countAccepted(
  doors: AcceptDoors,
  accepted: readonly AcceptedEvent[],
  deliveries: readonly NewDelivery[],
): void {
  if (!doors.metrics || deliveries.length === 0) return
  if (!accepted.some(({ duplicate }) => duplicate)) {
    countDeliveries(doors, deliveries.length)
    return
  }
  // A duplicate is answered with the id of the first: the deliveries of its own id were left out.
  const fresh = new Set(accepted.filter(({ duplicate }) => !duplicate).map(({ id }) => id))
  countDeliveries(doors, deliveries.filter(({ eventId }) => fresh.has(eventId)).length)
}

/** Counts deliveries that were made. */
export function countDeliveries({ metrics }: Pick<AcceptDoors, 'metrics'>, count: number): void {
  if (count > 0) metrics?.count('hookswitch_deliveries_accepted_total', count, undefined)
}

function queueFull(count: number): HookswitchError {
  return new HookswitchError(
    'QueueFull',
    `the queue is full: these events make more than ${count - 1} deliveries`,
    { retryAfterSeconds: 1, field: 'maxPending' },
  )
}

/** The same error, its fields named with the event's place in the list. */
function atIndex(thrown: unknown, index: number): unknown {
  if (errorCode(thrown) !== 'InvalidInput') return thrown
  const { message, failures = [] } = thrown as HookswitchError
  const at = (path: string) => (path === '' ? String(index) : `${index}.${path}`)
  return new HookswitchError('InvalidInput', `event ${index}: ${message}`, {
    field: at(failures[0]?.path ?? ''),
    failures: failures.map((failure) => ({ ...failure, path: at(failure.path) })),
  })
}

/**
 * Accepts events: checks them, matches them with webhooks, and commits them with one delivery per matching
 * webhook.
 */
import type { Account } from '../accounts/account.js'
import type { Directory } from '../accounts/directory.js'
import { closingError, errorCode, HookswitchError, notFound } from '../errors.js'
import type { Metrics } from '../metrics.js'
import type { Clock } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { type BodyVariants, createBodyVariants, encodingOf } from './body-variants.js'
import { firstDeliveryId } from './delivery-ids.js'
import type { Acceptance, AcceptedEvent, NewDelivery, NewEvent } from './delivery-store.js'
import { type CheckedEvent, type CustomKinds, checkEvent, checkPayloadSize, hashEventBody } from './event.js'
import { matches, type Payload } from './match.js'
import { payloadFields } from './payload.js'

export interface AcceptDeps {
  readonly clock: Clock
  readonly directory: Pick<Directory, 'lineage'>
  readonly webhooks: Pick<WebhookStore, 'candidates'>
  /** Commits events with their deliveries. */
  accept(acceptance: Acceptance): Promise<readonly AcceptedEvent[]>
  newId(): string
  /** Whether a kind of event is in the catalogue. */
  isKnownHook(hook: string): boolean
  /** Ids of the catalogue, for error messages. Default: none. */
  readonly knownHooks?: readonly string[]
  /** The kinds that the host registers. Default: none. */
  readonly customKinds?: CustomKinds
  /** Store time, ms. */
  storeNow(): number
  /** Whether the service is closing, which does not wait for what is read to match events. Default: it is not. */
  isClosing?(): boolean
  readonly metrics?: Pick<Metrics, 'count'>
}

/** The part of the dependencies that preparing an event needs. */
export type PrepareDeps = Pick<AcceptDeps, 'clock' | 'isKnownHook' | 'knownHooks' | 'customKinds' | 'newId'>

/** How long an idempotency key is stored: 24 h, in milliseconds. */
export const IDEMPOTENCY_WINDOW_MS = 86_400_000

/** The lane of a delivery: one per call for `ordering: 'call'`, otherwise one per delivery. */
function laneOf(event: CheckedEvent, webhook: Webhook, deliveryId: string): string {
  return webhook.settings.ordering === 'call' ? `${event.accountId}/${event.callId}` : `-/${deliveryId}`
}

/** A delivery of an event to a webhook, with everything that stays the same on every attempt. */
export function buildDelivery(
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
    // A field that is added later would be an array of its own.
    position: undefined,
  }
}

/** A checked event, independent of the host's object. */
export interface PreparedEvent {
  readonly event: CheckedEvent
  readonly id: string
  /** The payload that is sent, without the custom data of a webhook and the sequence number. */
  readonly payload: Payload
  readonly bodies: BodyVariants
  /** Hash of the host's event; present iff it has an idempotency key. */
  readonly hash: string | undefined
  /** W3C Trace Context of the publisher. */
  readonly traceparent: string | undefined
}

/**
 * Checks one event of the host. The host may change its object later, so all reads of it are synchronous and
 * in this function.
 *
 * @throws `InvalidInput` naming the field
 */
export function prepareEvent(
  { clock, isKnownHook, knownHooks, customKinds, newId }: PrepareDeps,
  input: unknown,
  traceparent: string | undefined,
): PreparedEvent {
  const event = checkEvent(input, clock.now(), isKnownHook, knownHooks, customKinds)
  const hash = event.idempotencyKey === undefined ? undefined : hashEventBody(input as CheckedEvent)
  return prepareCheckedEvent(event, newId(), hash, traceparent)
}

/** @throws `InvalidInput` for an event that is too large */
export function prepareCheckedEvent(
  event: CheckedEvent,
  id: string,
  hash: string | undefined,
  traceparent: string | undefined,
): PreparedEvent {
  const payload = payloadFields(event, id)
  const json = JSON.stringify(payload)
  // Only the event counts: custom data of a webhook has its own limit and must not make the event too large
  // for others.
  checkPayloadSize(json)
  return { event, id, payload, bodies: createBodyVariants(payload, json, true), hash, traceparent }
}

/** Adds one delivery for each webhook that matches the event. */
function addDeliveries(
  { event, id, payload, bodies }: PreparedEvent,
  lineage: readonly Account[],
  candidates: readonly Webhook[],
  deliveries: NewDelivery[],
): void {
  const before = deliveries.length
  for (const webhook of candidates) {
    if (!matches(webhook, event, lineage, payload)) continue
    const deliveryId = firstDeliveryId(id, deliveries.length - before)
    const lane = laneOf(event, webhook, deliveryId)
    deliveries.push(buildDelivery(deliveryId, event, id, webhook, bodies.indexFor(webhook.settings), lane))
  }
}

function buildEvent({ event, id, bodies, hash, traceparent }: PreparedEvent, now: number): NewEvent {
  const { accountId, callId, otherLegCallId, hook, timestampMs, idempotencyKey: key } = event
  const built: { -readonly [Name in keyof NewEvent]: NewEvent[Name] } = {
    id,
    accountId,
    callId,
    hook,
    timestampMs,
    numbered: true,
    bodies: bodies.templates,
    position: undefined,
  }
  if (otherLegCallId !== undefined) built.otherLegCallId = otherLegCallId
  if (traceparent !== undefined) built.traceparent = traceparent
  if (key !== undefined && hash !== undefined) {
    built.idempotency = { key, bodyHash: hash, untilMs: now + IDEMPOTENCY_WINDOW_MS }
  }
  return built
}

/**
 * Accepts events, all or none. When it resolves, they and their deliveries are committed.
 *
 * @param traceparent W3C Trace Context of the publisher; it is sent to the receivers
 * @param onChecked gets the events as they will be sent, before anything is awaited
 * @throws `InvalidInput` naming the field, `NotFound` for the account, `Conflict` for an idempotency key that
 *   was used with another body, `QueueFull`, `StoreUnavailable`, `Closing`
 */
export async function acceptEvents(
  deps: AcceptDeps,
  inputs: readonly unknown[],
  traceparent?: string,
  onChecked?: (events: readonly CheckedEvent[]) => void,
): Promise<readonly AcceptedEvent[]> {
  const prepared = inputs.map((input, index) => {
    try {
      return prepareEvent(deps, input, traceparent)
    } catch (thrown) {
      throw inputs.length > 1 ? withIndex(thrown, index) : thrown
    }
  })
  onChecked?.(prepared.map(({ event }) => event))
  return acceptPreparedEvents(deps, prepared)
}

/**
 * Matches prepared events with webhooks and commits them.
 *
 * @param inboxIds the inbox entries of these events, which the same transaction deletes
 */
export async function acceptPreparedEvents(
  deps: AcceptDeps,
  prepared: readonly PreparedEvent[],
  inboxIds?: readonly string[],
): Promise<readonly AcceptedEvent[]> {
  const deliveries: NewDelivery[] = []
  for (const one of prepared) {
    const { lineage, candidates } = await readMatching(deps, one.event)
    addDeliveries(one, lineage, candidates, deliveries)
  }
  // Store time: the wall clocks of nodes may differ.
  const now = deps.storeNow()
  const events = prepared.map((one) => buildEvent(one, now))
  const accepted = await deps.accept(inboxIds ? { events, deliveries, inboxIds } : { events, deliveries })
  countAccepted(deps, accepted, deliveries)
  return accepted
}

/** Reads the accounts and the webhooks that an event may match. */
async function readMatching(deps: AcceptDeps, { accountId, hook }: CheckedEvent) {
  try {
    const lineage = await deps.directory.lineage(accountId)
    if (lineage.length === 0) throw notFound(accountId, 'account')
    const accountIds = lineage.map(({ id }) => id)
    return { lineage, candidates: await deps.webhooks.candidates(accountIds, hook) }
  } catch (thrown) {
    // The store was closed meanwhile. Nothing is committed yet, and the store is not out.
    if (errorCode(thrown) === 'StoreUnavailable' && deps.isClosing?.()) throw closingError()
    throw thrown
  }
}

function countAccepted(
  deps: AcceptDeps,
  accepted: readonly AcceptedEvent[],
  deliveries: readonly NewDelivery[],
): void {
  if (!deps.metrics || deliveries.length === 0) return
  if (!accepted.some(({ duplicate }) => duplicate)) {
    countDeliveries(deps, deliveries.length)
    return
  }
  // A duplicate has the id of the first event: the store did not write the deliveries of the new id.
  const newIds = new Set(accepted.filter(({ duplicate }) => !duplicate).map(({ id }) => id))
  countDeliveries(deps, deliveries.filter(({ eventId }) => newIds.has(eventId)).length)
}

/** Counts new deliveries in the metrics. */
export function countDeliveries({ metrics }: Pick<AcceptDeps, 'metrics'>, count: number): void {
  if (count > 0) metrics?.count('hookswitch_deliveries_accepted_total', count, undefined)
}

/** Prefixes the fields of an `InvalidInput` with the index of the event in the list. */
function withIndex(thrown: unknown, index: number): unknown {
  if (errorCode(thrown) !== 'InvalidInput') return thrown
  const { message, failures = [] } = thrown as HookswitchError
  const at = (path: string) => (path === '' ? String(index) : `${index}.${path}`)
  return new HookswitchError('InvalidInput', `event ${index}: ${message}`, {
    field: at(failures[0]?.path ?? ''),
    failures: failures.map((failure) => ({ ...failure, path: at(failure.path) })),
  })
}

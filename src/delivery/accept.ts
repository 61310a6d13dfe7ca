import type { Directory } from '../accounts/directory.js'
import { errorCode, HookswitchError, notFound } from '../errors.js'
import type { Clock } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { bodiesOf, encodingOf } from './bodies.js'
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

async function prepare(
  doors: AcceptDoors,
  input: unknown,
  traceparent: string | undefined,
): Promise<{ event: NewEvent; deliveries: NewDelivery[] }> {
  const now = doors.clock.now()
  const checked = checkEvent(input, now, doors.knowsHook)
  // All that reads the variables of the host's event comes before the first wait.
  const id = doors.newId()
  const payload = payloadFields(checked, id)
  const json = JSON.stringify(payload)
  // The event alone: what a webhook adds to it is bounded there, and must not refuse the event to others.
  checkPayloadSize(json)
  const bodies = bodiesOf(payload, json, true)
  const { idempotencyKey, callId, otherLegCallId } = checked
  const hash = idempotencyKey === undefined ? undefined : bodyHash(input as CheckedEvent)
  const lineage = await doors.directory.lineage(checked.accountId)
  if (lineage.length === 0) throw notFound(checked.accountId)
  const deliveries: NewDelivery[] = []
  const candidates = await doors.webhooks.candidates(
    lineage.map((account) => account.id),
    checked.hook,
  )
  for (const webhook of candidates) {
    if (!matches(webhook, checked, lineage)) continue
    const deliveryId = doors.newId()
    const lane = laneOf(checked, webhook, deliveryId)
    deliveries.push(newDelivery(deliveryId, checked, id, webhook, bodies.variant(webhook.settings), lane))
  }
  return {
    deliveries,
    event: {
      id,
      accountId: checked.accountId,
      callId,
      hook: checked.hook,
      timestampMs: checked.timestampMs,
      numbered: true,
      bodies: bodies.templates,
      ...(otherLegCallId === undefined ? {} : { otherLegCallId }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(idempotencyKey === undefined || hash === undefined
        ? {}
        : { idempotency: { key: idempotencyKey, bodyHash: hash, untilMs: now + IDEMPOTENCY_WINDOW_MS } }),
    },
  }
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
  const prepared = []
  let count = 0
  for (const [index, input] of inputs.entries()) {
    try {
      const one = await prepare(doors, input, traceparent)
      count += one.deliveries.length
      // The store says so too, yet a long list for many webhooks would have filled the memory by then.
      if (count > maxPending) throw queueFull(count)
      prepared.push(one)
    } catch (thrown) {
      throw inputs.length > 1 ? atIndex(thrown, index) : thrown
    }
  }
  return doors.deliveries.accept(
    {
      events: prepared.map(({ event }) => event),
      deliveries: prepared.flatMap(({ deliveries }) => deliveries),
      maxPending,
    },
    doors.storeNow(),
  )
}

function queueFull(count: number): HookswitchError {
  return new HookswitchError(
    'QueueFull',
    `the queue is full: these events make more than ${count - 1} deliveries`,
    {
      retryAfterSeconds: 1,
    },
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

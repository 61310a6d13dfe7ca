/**
 * A group and its result as they cross to the thread of the database and back. Of a delivery only those fields cross that neither its event nor its webhook contains.
 */
import {
  type Acceptance,
  type AcceptanceResult,
  type AcceptedEvent,
  type BodyTemplate,
  type EndedResult,
  encodeRecord,
  eventIndexOf,
  type Group,
  type GroupResult,
  type HookswitchError,
  laneKey,
  laneKindOf,
  type NewDelivery,
  type NewEvent,
  type RecordParts,
  type Settlement,
  type Start,
  type Webhook,
} from 'hookswitch/store'
import { type Encoded, Reader, Writer } from './encoded-values.js'
import { formatOf } from './formats.js'
import { deserializeError, type SerializedError, serializeError } from './serialized-error.js'
import { stateCode, stateOfCode } from './state-codes.js'

/** A delivery to accept, as far as it crosses. */
export type EncodedDelivery = Pick<
  NewDelivery,
  'id' | 'webhookId' | 'eventId' | 'variant' | 'epoch' | 'replayOf' | 'position'
> & {
  /** See `formatOf`. */
  readonly format: number
  readonly laneKey: number
}

export interface EncodedAcceptance extends Pick<Acceptance, 'events' | 'inboxIds'> {
  readonly deliveries: readonly EncodedDelivery[]
}

/** A settlement whose record is in the parts that are stored. */
export type EncodedSettlement = Omit<Settlement, 'owner' | 'expect' | 'record'> & {
  readonly expectedAttempts: number
  readonly record?: RecordParts
}

/** `Group` in the thread of the database. */
export type DecodedGroup = Omit<Group, 'accepted' | 'ended' | 'pending'> & {
  readonly accepted: readonly EncodedAcceptance[]
  readonly ended: readonly EncodedSettlement[]
}

export function encodeGroup(group: Group): Encoded {
  const to = new Writer()
  const { lease, starting } = group
  to.optionalString(lease?.owner)
  to.number(lease?.fence ?? 0)
  to.number(group.version)
  to.number(group.now)
  to.number(group.isRepeat ? 1 : 0)
  to.list(group.accepted, (acceptance) => writeAcceptance(to, acceptance))
  to.list(group.ended, (settlement) => writeSettlement(to, settlement))
  to.list(starting?.deliveries ?? [], (start) => {
    to.string(start.webhookId)
    to.number(start.position)
    to.number(start.attempt)
    to.number(start.epoch)
  })
  to.number(starting?.key ?? 0)
  to.list(group.finished, (key) => to.number(key))
  return to.finish()
}

export function decodeGroup(encoded: Encoded): DecodedGroup {
  const from = new Reader(encoded)
  const owner = from.optionalString()
  const fence = from.number()
  const version = from.number()
  const now = from.number()
  const isRepeat = from.number() === 1
  const accepted = from.list(() => readAcceptance(from))
  const ended = from.list(() => readSettlement(from))
  const deliveries = from.list(() => readStart(from))
  const key = from.number()
  return {
    lease: owner === undefined ? undefined : { owner, fence },
    version,
    now,
    isRepeat,
    accepted,
    ended,
    ...(deliveries.length > 0 && { starting: { key, deliveries } }),
    finished: from.list(() => from.number()),
  }
}

function writeAcceptance(to: Writer, { events, deliveries, inboxIds = [] }: Acceptance): void {
  to.list(events, (event) => {
    const { idempotency } = event
    to.string(event.id)
    to.number(event.position ?? 0)
    to.string(event.accountId)
    to.optionalString(event.callId)
    to.optionalString(event.otherLegCallId)
    to.string(event.hook)
    to.number(event.timestampMs)
    to.number(event.numbered ? 1 : 0)
    to.optionalString(event.traceparent)
    to.optionalString(idempotency?.key)
    if (idempotency) {
      to.string(idempotency.bodyHash)
      to.number(idempotency.untilMs)
    }
    to.list(event.bodies, ({ head, tail }) => {
      to.string(head)
      to.optionalString(tail)
    })
  })
  let near = 0
  to.list(deliveries, (delivery) => {
    const index = eventIndexOf(events, delivery.eventId, near)
    if (index >= 0) near = index
    to.number(index)
    if (index < 0) to.string(delivery.eventId)
    to.string(delivery.id)
    to.string(delivery.webhookId)
    to.number(delivery.position ?? 0)
    to.number(delivery.variant)
    to.number(delivery.epoch)
    to.number(formatOf(delivery, laneKindOf(delivery.lane)))
    to.number(laneKey(delivery.lane))
    to.optionalString(delivery.replayOf)
  })
  to.list(inboxIds, (id) => to.string(id))
}

function readAcceptance(from: Reader): EncodedAcceptance {
  const events = from.list(() => readEvent(from))
  const deliveries = from.list((): EncodedDelivery => {
    const index = from.number()
    const eventId = index < 0 ? from.string() : events[index]!.id
    const id = from.string()
    const webhookId = from.string()
    const position = from.number()
    const variant = from.number()
    const epoch = from.number()
    const format = from.number()
    const laneKey = from.number()
    const replayOf = from.optionalString()
    const delivery = { id, webhookId, eventId, variant, epoch, position, format, laneKey }
    return replayOf === undefined ? delivery : { ...delivery, replayOf }
  })
  return { events, deliveries, inboxIds: from.list(() => from.string()) }
}

type MutableEvent = { -readonly [Name in keyof NewEvent]: NewEvent[Name] }

function readEvent(from: Reader): NewEvent {
  const id = from.string()
  const position = from.number()
  const accountId = from.string()
  const callId = from.optionalString()
  const otherLegCallId = from.optionalString()
  const hook = from.string()
  const timestampMs = from.number()
  const numbered = from.number() === 1
  const traceparent = from.optionalString()
  const key = from.optionalString()
  const idempotency = key === undefined ? undefined : { key, bodyHash: from.string(), untilMs: from.number() }
  const bodies = from.list((): BodyTemplate => {
    const head = from.string()
    const tail = from.optionalString()
    return tail === undefined ? { head } : { head, tail }
  })
  const event: MutableEvent = { id, position, accountId, hook, timestampMs, numbered, bodies }
  if (callId !== undefined) event.callId = callId
  if (otherLegCallId !== undefined) event.otherLegCallId = otherLegCallId
  if (traceparent !== undefined) event.traceparent = traceparent
  if (idempotency) event.idempotency = idempotency
  return event
}

function writeSettlement(to: Writer, settlement: Settlement): void {
  const { next, record, endpoint } = settlement
  to.string(settlement.deliveryId)
  to.string(settlement.webhookId)
  to.number(settlement.position)
  to.number(settlement.expect.attempts)
  to.number(stateCode(next.state))
  to.optionalNumber(next.dueMs)
  to.number(next.attempts)
  to.number(next.tries)
  to.number(next.interruptions)
  to.optionalString(next.reason)
  to.optionalNumber(next.failedMs)
  if (record) {
    const { atMs, request, doc } = encodeRecord(record)
    to.string(doc)
    to.string(request)
    to.number(atMs)
  } else to.optionalString(undefined)
  // An endpoint rarely changes.
  to.optionalString(endpoint && JSON.stringify(endpoint))
}

function readSettlement(from: Reader): EncodedSettlement {
  const deliveryId = from.string()
  const webhookId = from.string()
  const position = from.number()
  const expectedAttempts = from.number()
  const state = stateOfCode(from.number())
  const dueMs = from.optionalNumber()
  const [attempts, tries, interruptions] = [from.number(), from.number(), from.number()]
  const reason = from.optionalString()
  const failedMs = from.optionalNumber()
  const doc = from.optionalString()
  const record = doc === undefined ? undefined : { doc, request: from.string(), atMs: from.number() }
  const endpoint = from.optionalString()
  return {
    deliveryId,
    webhookId,
    position,
    expectedAttempts,
    next: {
      state,
      attempts,
      tries,
      interruptions,
      ...(dueMs !== undefined && { dueMs }),
      ...(reason !== undefined && { reason }),
      ...(failedMs !== undefined && { failedMs }),
    },
    ...(record && { record }),
    ...(endpoint !== undefined && { endpoint: JSON.parse(endpoint) }),
  }
}

function readStart(from: Reader): Start {
  return {
    webhookId: from.string(),
    position: from.number(),
    attempt: from.number(),
    epoch: from.number(),
  }
}

const ACCEPTED = 0
const REFUSED = 1
const ACCEPTED_WITH_GAP = 2
const COMMITTED = 'committed'
const SETTLED = 0
const DISABLED = 1
const FENCED = 2

/** @param version of the store after the group */
export function encodeResult(result: GroupResult): Encoded {
  const to = new Writer()
  to.string(result.kind)
  if (result.kind !== COMMITTED) return to.finish()
  to.number(result.version)
  to.list(result.accepted, (accepted) => {
    if (accepted.kind === 'refused') {
      to.number(REFUSED)
      to.string(JSON.stringify(serializeError(accepted.error)))
    } else {
      to.number(accepted.mayHaveGap ? ACCEPTED_WITH_GAP : ACCEPTED)
      to.list(accepted.events, ({ id, sequence, duplicate }) => {
        to.number(sequence)
        to.optionalString(duplicate ? id : undefined)
      })
    }
  })
  to.list(result.ended, (ended) => {
    if (ended.kind === 'fenced') to.number(FENCED)
    else {
      to.number(ended.disabled ? DISABLED : SETTLED)
      if (ended.disabled) to.string(JSON.stringify(ended.disabled))
    }
  })
  to.list(result.notStarted, (index) => to.number(index))
  return to.finish()
}

/** @param group whose result it is */
export function decodeResult(encoded: Encoded, group: Pick<Group, 'accepted'>): GroupResult {
  const from = new Reader(encoded)
  const kind = from.string() as GroupResult['kind']
  if (kind !== COMMITTED) return { kind }
  const version = from.number()
  let index = -1
  const accepted = from.list((): AcceptanceResult => {
    index += 1
    const kind = from.number()
    if (kind === REFUSED) {
      const error: HookswitchError = deserializeError(JSON.parse(from.string()) as SerializedError)
      return { kind: 'refused', error }
    }
    let event = -1
    const events = from.list((): AcceptedEvent => {
      event += 1
      const sequence = from.number()
      const original = from.optionalString()
      const id = original ?? group.accepted[index]!.events[event]!.id
      return { id, sequence, duplicate: original !== undefined }
    })
    return { kind: 'accepted', events, mayHaveGap: kind === ACCEPTED_WITH_GAP }
  })
  const ended = from.list((): EndedResult => {
    const kind = from.number()
    if (kind === FENCED) return { kind: 'fenced' }
    return kind === DISABLED
      ? { kind: 'settled', disabled: JSON.parse(from.string()) as Webhook }
      : { kind: 'settled' }
  })
  return { kind: 'committed', accepted, ended, notStarted: from.list(() => from.number()), version }
}

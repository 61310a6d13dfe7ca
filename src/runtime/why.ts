/**
 * Finds what became of a call, a number, an event, a delivery, or the events of a webhook: "I did not get my webhook". Every
 * look-up is one of an index and bounded in rows; what may be large is bounded in characters too.
 */
import type { Account } from '../accounts/account.js'
import type { IndexedCall, UnwantedEvent } from '../delivery/call-index-store.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import type { Payload } from '../delivery/match.js'
import { fieldsOf, matchableOf } from '../delivery/payload.js'
import {
  unmatchedOf,
  unmatchedReason,
  type WhyCall,
  type WhyDelivery,
  type WhyEvent,
  type WhyReport,
  type WhyWebhook,
} from '../delivery/why.js'
import { isId } from '../values/ids.js'
import { yieldingOf } from '../values/yielding.js'
import { OBJECT_HOOK } from '../webhooks/catalogue.js'
import type { Webhook } from '../webhooks/webhook.js'
import { positionOf } from '../webhooks/webhook-store.js'
import type { Core } from './core.js'
import { asShown, explain, toStoreTime } from './delivery-views.js'

/** Rows of the call index that a search reads. */
const MAX_INDEXED = 500
const MAX_CALLS = 5
/** Calls that are looked at: of some nothing may be stored any more. */
const MAX_READ = 20
const MAX_OTHER_CALLS = 50
const MAX_LEGS = 10
/** Deliveries of a call, newest first, of a leg and of all legs. */
const MAX_DELIVERIES_PER_LEG = 300
const MAX_DELIVERIES = 600
const MAX_EVENTS = 50
/** Deliveries that are shown of an event, and explained with their last attempt in one search. */
const MAX_SHOWN = 20
const MAX_EXPLAINED = 20
/** Webhooks that are examined for the events of one account, and that are read at once: each may have 64 KiB of data. */
const MAX_WEBHOOKS = 500
const WEBHOOKS_AT_ONCE = 50
/** Bodies that are read at once for one call: each may have 128 KiB. */
const BODIES_AT_ONCE = 5
/** Characters of bodies, and of webhooks, after which a search reads no more of them. */
const MAX_CHARACTERS = 2_097_152
/** Accounts above the event's whose webhooks are examined. */
const MAX_LINEAGE = 10

/** Call ids have 1 to 255 characters. */
const MAX_CALL_ID = 255

/** The call of an event: what is searched for. */
interface Wanted {
  readonly accountId: string
  readonly callId: string
  /** Only this event. Absent: all. */
  readonly eventId?: string
  readonly acceptedMs: number
  /** What published its first event, if that is known already. */
  readonly source?: string
}

/**
 * @param sought id of a call leg, delivery, event or webhook, or a number
 * @param accountId only what this account may see: its events, and deliveries to its webhooks. Absent: all accounts
 */
export async function findWhy(core: Core, sought: string, accountId?: string): Promise<WhyReport> {
  // What this node has noted counts.
  await core.callIndex.flush()
  const { deliveries } = core.store
  const [delivery, byId, byCall, byNumber, webhook] = await Promise.all([
    isId(sought) ? deliveries.delivery(accountId, sought) : undefined,
    isId(sought) ? findByEvent(core, sought, accountId) : [],
    sought.length <= MAX_CALL_ID ? findByCall(core, sought, accountId) : [],
    findByNumber(core, sought, accountId),
    isId(sought) ? findWebhook(core, sought, accountId) : undefined,
  ])
  const found = new Map<string, Wanted>()
  const all = [...callOf(delivery), ...byId, ...byCall, ...byNumber].sort(
    (a, b) => b.acceptedMs - a.acceptedMs,
  )
  for (const wanted of all) {
    const key = `${wanted.accountId}/${wanted.callId}`
    if (!found.has(key)) found.set(key, wanted)
  }
  const search = createSearch(core, accountId)
  const calls: WhyCall[] = []
  const otherCalls: Wanted[] = []
  const left = [...found.values()]
  for (let read = 0; calls.length < MAX_CALLS && read < MAX_READ && left.length > 0; read += MAX_CALLS) {
    const part = left.splice(0, MAX_CALLS)
    const known = await Promise.all(part.map(search.readCall))
    for (const [index, call] of known.entries()) {
      if (call && calls.length < MAX_CALLS) calls.push(call)
      else if (call) otherCalls.push(part[index]!)
    }
  }
  otherCalls.push(...left)
  return {
    calls,
    otherCalls: otherCalls
      .slice(0, MAX_OTHER_CALLS)
      .map(({ accountId, callId, acceptedMs }) => ({ accountId, callId, acceptedMs })),
    ...(delivery && { delivery: await search.explained(delivery) }),
    ...(webhook && { webhook: await search.readWebhook(webhook) }),
    isTruncated: byNumber.length >= MAX_INDEXED || otherCalls.length > MAX_OTHER_CALLS,
  }
}

/** The event of a delivery, if it belongs to a call. */
function callOf(delivery: StoredDelivery | undefined): readonly Wanted[] {
  if (delivery?.callId === undefined) return []
  const { eventAccountId: accountId, callId, eventId, acceptedMs } = delivery
  return [{ accountId, callId, eventId, acceptedMs }]
}

/** The event with this id. */
async function findByEvent({ store }: Core, eventId: string, accountId?: string): Promise<readonly Wanted[]> {
  const [event, [unwanted]] = await Promise.all([
    store.deliveries.eventOf(accountId, eventId),
    store.callIndex.events({ eventId, limit: 1, ...(accountId !== undefined && { accountId }) }),
  ])
  const { callId } = event ?? {}
  return [
    ...(event && callId !== undefined
      ? [{ accountId: event.accountId, callId, eventId, acceptedMs: 0 }]
      : []),
    ...(unwanted ? [{ ...unwanted, eventId }] : []),
  ]
}

/** The call with this id, in each account that has events of it. */
async function findByCall({ store }: Core, callId: string, accountId?: string): Promise<readonly Wanted[]> {
  const ofAccount = accountId !== undefined && { accountId }
  const [{ deliveries }, unwanted, indexed] = await Promise.all([
    store.deliveries.search({ callId, limit: MAX_SHOWN, ...ofAccount }),
    store.callIndex.events({ callIds: [callId], limit: MAX_SHOWN, ...ofAccount }),
    store.callIndex.calls({ callId, limit: MAX_SHOWN, ...ofAccount }),
  ])
  const received = deliveries.map(({ eventAccountId, acceptedMs }) => ({
    accountId: eventAccountId,
    acceptedMs,
  }))
  return [...received, ...unwanted, ...indexed].map(({ accountId, acceptedMs }) => ({
    accountId,
    callId,
    acceptedMs,
  }))
}

async function findByNumber(core: Core, sought: string, accountId?: string): Promise<readonly IndexedCall[]> {
  const numbers = core.callIndex.hashesOf(sought)
  if (numbers.length === 0) return []
  const ofAccount = accountId !== undefined && { accountId }
  return core.store.callIndex.calls({ numbers, limit: MAX_INDEXED, ...ofAccount })
}

async function findWebhook({ store }: Core, id: string, accountId?: string): Promise<Webhook | undefined> {
  const webhook = await store.deliveries.webhookOf(id)
  return accountId !== undefined && webhook?.accountId !== accountId ? undefined : webhook
}

/** An event of a call, with its deliveries or as the call index has it. */
interface AcceptedRow extends Pick<UnwantedEvent, 'id' | 'callId' | 'sequence' | 'acceptedMs'> {
  readonly deliveries?: readonly StoredDelivery[]
  readonly unwanted?: UnwantedEvent
}

/** What tells who did not get an event. */
interface Context {
  readonly webhooks: readonly Webhook[]
  readonly lineage: readonly Account[]
  readonly source: string | undefined
  readonly payload: Payload | undefined
}

/** Events of one leg by their numbers: the clocks of two rows may differ. */
const byAcceptance = (a: AcceptedRow, b: AcceptedRow) =>
  a.callId === b.callId ? a.sequence - b.sequence : a.acceptedMs - b.acceptedMs

/** Reads calls of one search, which share the webhooks of their accounts. */
function createSearch(core: Core, accountId: string | undefined) {
  const { store, auth, clock } = core
  const ofAccount = accountId !== undefined && { accountId }
  let left = MAX_EXPLAINED
  const charactersLeft = { bodies: MAX_CHARACTERS, webhooks: MAX_CHARACTERS }
  const byId = new Map<string, Promise<Webhook | undefined>>()
  const byAccount = new Map<string, ReturnType<typeof readWebhooks>>()

  /** The accounts and webhooks that events of an account may match; those of `accountId` alone, if that is given. */
  async function readWebhooks(eventAccountId: string) {
    const lineage = (await auth.lineages.lineage(eventAccountId)).slice(0, MAX_LINEAGE)
    const owners = lineage.filter(({ id }) => accountId === undefined || id === accountId)
    const webhooks: Webhook[] = []
    for (const { id } of owners) {
      for (let page: readonly Webhook[] | undefined; !page || page.length === WEBHOOKS_AT_ONCE; ) {
        if (webhooks.length >= MAX_WEBHOOKS || charactersLeft.webhooks <= 0)
          return { lineage, webhooks, isPart: true }
        const last = page?.at(-1)
        page = await store.webhooks.page(id, {
          ascending: true,
          limit: WEBHOOKS_AT_ONCE,
          ...(last && { after: positionOf(last) }),
        })
        for (const webhook of page) {
          charactersLeft.webhooks -= JSON.stringify(webhook.settings).length
          webhooks.push(webhook)
        }
      }
    }
    return { lineage, webhooks, isPart: false }
  }

  function webhooksOf(eventAccountId: string): ReturnType<typeof readWebhooks> {
    let reading = byAccount.get(eventAccountId)
    if (!reading) {
      reading = readWebhooks(eventAccountId)
      byAccount.set(eventAccountId, reading)
    }
    return reading
  }

  function webhookOf(id: string): Promise<Webhook | undefined> {
    let reading = byId.get(id)
    if (!reading) {
      reading = store.deliveries.webhookOf(id)
      byId.set(id, reading)
    }
    return reading
  }

  async function explained(stored: StoredDelivery): Promise<WhyDelivery> {
    const delivery = asShown(core, stored)
    // Of what was delivered the last attempt says little.
    const isListed = delivery.state === 'delivered' || left <= 0
    if (!isListed) left -= 1
    const [explanation, webhook] = await Promise.all([
      explain(core, toStoreTime(core, delivery), isListed, webhookOf),
      webhookOf(delivery.webhookId),
    ])
    return { delivery, explanation, ...(webhook && { webhookName: webhook.settings.name }) }
  }

  /** Undefined: nothing is stored of it. */
  async function readCall({
    accountId: eventAccountId,
    callId,
    eventId,
    source: known,
  }: Wanted): Promise<WhyCall | undefined> {
    // An event is of one leg.
    const legs =
      eventId === undefined ? await store.deliveries.legs(accountId ?? eventAccountId, callId) : [callId]
    const callIds = legs.length === 0 ? [callId] : legs.slice(0, MAX_LEGS)
    const limit = Math.min(MAX_DELIVERIES_PER_LEG, Math.floor(MAX_DELIVERIES / callIds.length))
    // An account sees unwanted events only where they are events of this account.
    const isOwn = accountId === undefined || accountId === eventAccountId
    const [pages, unwanted, indexed, { lineage, webhooks, isPart }] = await Promise.all([
      Promise.all(callIds.map((leg) => store.deliveries.search({ callId: leg, limit, ...ofAccount }))),
      isOwn ? store.callIndex.events({ accountId: eventAccountId, callIds, limit: MAX_EVENTS + 1 }) : [],
      known === undefined ? store.callIndex.calls({ accountId: eventAccountId, callId, limit: 1 }) : [],
      webhooksOf(eventAccountId),
    ])
    const source = known ?? indexed[0]?.source
    const byEvent = new Map<string, StoredDelivery[]>()
    for (const delivery of pages.flatMap(({ deliveries }) => deliveries)) {
      // A test is no event of a call.
      if (delivery.eventAccountId !== eventAccountId || delivery.sequence === 0) continue
      const others = byEvent.get(delivery.eventId)
      if (others) others.push(delivery)
      else byEvent.set(delivery.eventId, [delivery])
    }
    const all: AcceptedRow[] = [...unwanted.map((event) => ({ ...event, unwanted: event }))]
    for (const [id, deliveries] of byEvent) {
      deliveries.sort((a, b) => a.position - b.position)
      const { callId: leg = '', sequence, acceptedMs } = deliveries[0]!
      all.push({ id, callId: leg, sequence, acceptedMs, deliveries })
    }
    const found = all.filter(({ id }) => eventId === undefined || id === eventId)
    if (found.length === 0) return undefined
    const { shown, payloads } = await readPayloads(found.sort(byAcceptance).slice(-MAX_EVENTS), webhooks)
    const events = await Promise.all(
      shown.map(({ id, deliveries, unwanted }) =>
        deliveries
          ? wantedEvent(deliveries, { webhooks, lineage, source, payload: payloads.get(id) })
          : unwantedEvent(unwanted!, webhooks, lineage),
      ),
    )
    const isTruncated =
      isPart ||
      legs.length > MAX_LEGS ||
      shown.length < found.length ||
      pages.some(({ cursor }) => cursor !== undefined) ||
      shown.some(({ deliveries = [] }) => deliveries.length > MAX_SHOWN)
    return { accountId: eventAccountId, callId, events, isTruncated }
  }

  /** The payloads of events, by id, as far as webhooks choose by them. Where they are too large, the older events are left out. */
  async function readPayloads(rows: readonly AcceptedRow[], webhooks: readonly Webhook[]) {
    const payloads = new Map<string, Payload>()
    const chooses = webhooks.some(
      ({ settings }) => settings.filter || !settings.includeInternalLegs || settings.hook === OBJECT_HOOK,
    )
    if (!chooses) return { shown: rows, payloads }
    let start = rows.length
    while (start > 0 && (start === rows.length || charactersLeft.bodies > 0)) {
      const end = start
      start = Math.max(0, end - BODIES_AT_ONCE)
      const keys = rows
        .slice(start, end)
        .flatMap(({ id, deliveries }) => (deliveries ? { eventId: id, variant: deliveries[0]!.variant } : []))
      const bodies = keys.length === 0 ? [] : await store.deliveries.eventBodies(keys)
      for (const [index, body = ''] of bodies.entries()) {
        if (body === '') continue
        charactersLeft.bodies -= body.length
        payloads.set(keys[index]!.eventId, fieldsOf(body))
      }
    }
    return { shown: rows.slice(start), payloads }
  }

  async function wantedEvent(
    deliveries: readonly StoredDelivery[],
    { webhooks, lineage, source, payload }: Context,
  ): Promise<WhyEvent> {
    const [first] = deliveries as readonly [StoredDelivery]
    const { eventId: id, eventAccountId, callId = '', hook, sequence, eventTimestampMs, acceptedMs } = first
    const received = new Set(deliveries.map(({ webhookId }) => webhookId))
    const others = webhooks.filter((webhook) => !received.has(webhook.id))
    await yieldingOf(clock).whenDue(accountId ?? eventAccountId)
    return {
      id,
      accountId: eventAccountId,
      callId,
      hook,
      sequence,
      timestampMs: eventTimestampMs,
      acceptedMs,
      ...(source !== undefined && { source }),
      isWanted: true,
      deliveries: await Promise.all(deliveries.slice(0, MAX_SHOWN).map(explained)),
      unmatched: unmatchedOf(
        others,
        {
          hook,
          accountId: eventAccountId,
          acceptedMs,
          payload,
          ...(payload && matchableOf(payload)),
        },
        lineage,
      ),
    }
  }

  async function unwantedEvent(
    event: UnwantedEvent,
    webhooks: readonly Webhook[],
    lineage: readonly Account[],
  ): Promise<WhyEvent> {
    const { isInternalLeg: _, ...shown } = event
    await yieldingOf(clock).whenDue(accountId ?? event.accountId)
    return { ...shown, isWanted: false, deliveries: [], unmatched: unmatchedOf(webhooks, event, lineage) }
  }

  async function readWebhook(webhook: Webhook): Promise<WhyWebhook> {
    const { id: webhookId, accountId: owner } = webhook
    const [deliveries, unwanted, lineage] = await Promise.all([
      store.deliveries.deliveries({ accountId: owner, webhookId, limit: MAX_SHOWN }),
      store.callIndex.events({ accountId: owner, limit: MAX_SHOWN }),
      auth.lineages.lineage(owner),
    ])
    return {
      webhook,
      deliveries: await Promise.all(deliveries.map(explained)),
      unwanted: unwanted.map((event) => ({ event, why: unmatchedReason(webhook, event, lineage) })),
    }
  }

  return { readCall, readWebhook, explained }
}

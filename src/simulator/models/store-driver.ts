/** Executes the calls of the store model on a real store, and reduces the results to the form of the reference. */

import type { Acceptance, DeliveryContent, Settlement } from '../../delivery/delivery-store.js'
import { laneKey } from '../../delivery/lane-key.js'
import type {
  AcceptanceResult,
  DeliveryKey,
  Group,
  NodeLease,
  QueueStore,
  WaitingDeliveries,
} from '../../delivery/queue-store.js'
import { errorCode } from '../../errors.js'
import type { Store } from '../../store/contract.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../testkit/conformance/sample-data.js'
import type { Webhook } from '../../webhooks/webhook.js'
import {
  type AcceptanceCall,
  type GroupCall,
  type LeaseRow,
  type LoadResult,
  type RevisionRow,
  type SettlementCall,
  type StoreCall,
  shardSet,
  shardsIn,
  type WaitingRow,
  type WebhookRow,
} from './store-calls.js'

const ACCOUNT = 'account'
/** More than a run has. */
const MAX_ROWS = 1_000

/** What the driver remembers between calls. */
export interface StoreDriverState {
  readonly leaseMs: number
  /** Keys of all deliveries, by id. */
  readonly keys: Map<string, DeliveryKey>
  /** Names of lanes, by webhook and key. */
  readonly lanes: Map<string, string>
}

/** Executes a call. An expected error is a result: its code. */
export async function execute(store: Store, call: StoreCall, state: StoreDriverState): Promise<unknown> {
  try {
    return (await executeCall(store, call, state)) ?? null
  } catch (thrown) {
    const code = errorCode(thrown)
    if (code === undefined) throw thrown
    return code
  }
}

async function executeCall(store: Store, call: StoreCall, state: StoreDriverState): Promise<unknown> {
  const { leaseMs } = state
  const { deliveries, webhooks } = store
  const { now } = call
  switch (call.do) {
    case 'own':
    case 'renew':
      return toLeaseResult(await deliveries[call.do](call.owner, leaseMs))
    case 'own too early': {
      const { shards } = toLeaseResult(await deliveries.own(call.owner, leaseMs))
      await deliveries.release(call.owner)
      return shards
    }
    case 'release':
      return deliveries.release(call.owner)
    case 'hand over':
      return deliveries.handOver(call.lease, shardsIn(call.shards))
    case 'commit': {
      const result = await deliveries.commit(toGroup(call, state))
      if (result.kind !== 'committed') return result.kind
      const starts = call.starting?.deliveries ?? []
      return {
        accepted: result.accepted.map(toAcceptanceResult),
        ended: result.ended.map((end) =>
          end.kind === 'settled' && end.disabled ? 'settled and disabled' : end.kind,
        ),
        notStarted: result.notStarted.map((index) => starts[index]?.id ?? `start ${index}`),
        version: result.version,
      }
    }
    case 'inspect':
    case 'load':
      return loadAll(deliveries, call.lease, shardsIn(call.shards), state)
    case 'complete the takeover':
      return deliveries.completeTakeover(call.lease, shardsIn(call.shards))
    case 'poll': {
      const polled = await deliveries.poll(call.lease)
      if (!polled) return null
      const { version } = polled
      return {
        version,
        lanes: toLanes(polled.waiting, state),
        webhooks: toRevisions(polled.webhooks),
        interrupted: [],
      }
    }
    case 'changes': {
      const changes = await deliveries.changes(call.lease, call.since)
      if (!changes) return null
      const { version, mustReload } = changes
      const removed = changes.removed.map((key) => deliveryAt(state, key)).sort()
      return { version, mustReload, webhooks: toRevisions(changes.webhooks), removed }
    }
    case 'bodies': {
      // Without a key, the group that accepts the delivery is not executed yet.
      const known = call.ids.filter((id) => state.keys.has(id))
      const contents = await deliveries.bodies(known.map((id) => state.keys.get(id)!))
      return call.ids.map((id) => {
        const content = contents[known.indexOf(id)]
        return content && toBodyRow(content)
      })
    }
    case 'insert':
      return webhooks.insert(toWebhook(call.webhook))
    case 'replace':
      return webhooks.replace(toWebhook(call.webhook), call.revision)
    case 'read': {
      const webhook = await webhooks.read(call.accountId, call.id)
      return webhook && toRow(webhook)
    }
    case 'list':
      return (await webhooks.list([ACCOUNT])).map(({ id }) => id)
    case 'deliveries':
      return readDeliveries(deliveries, call.webhookId)
    case 'attempts': {
      const rows = await deliveries.attempts({ accountId: ACCOUNT, ascending: true, limit: MAX_ROWS })
      return rows.map(({ id }) => id)
    }
    case 'prune':
      return repeatUntilNone(() =>
        deliveries.prune({ attemptsPerWebhook: call.keep, beforeMs: call.beforeMs, limit: 3 }, now),
      )
    case 'erase':
      return repeatUntilNone(() => deliveries.erase({ accountId: ACCOUNT, callIds: [call.callId] }, 2))
  }
}

function toGroup(call: GroupCall, state: StoreDriverState): Group {
  const { now, lease, version, starting, finished, isRepeat } = call
  return {
    lease,
    version,
    now,
    accepted: call.accepted.map((result) => toAcceptance(result, state)),
    ended: call.ended.map((end) => toSettlement(end, now)),
    ...(starting && {
      starting: {
        key: starting.key,
        deliveries: starting.deliveries.map(({ id: _, ...start }) => start),
      },
    }),
    finished,
    pending: 0,
    isRepeat,
  }
}

function toAcceptance(call: AcceptanceCall, state: StoreDriverState): Acceptance {
  const events = call.events.map(({ id, position, callId, key, hash, untilMs }) => ({
    ...newEvent({ id, position, callId, accountId: ACCOUNT }),
    ...(key === undefined ? {} : { idempotency: { key, bodyHash: hash!, untilMs: untilMs! } }),
  }))
  const deliveries = call.deliveries.map(
    ({ id, position, eventId, callId, webhookId, epoch, lane, replayOf, originalPosition }) => {
      state.keys.set(id, { webhookId, position })
      state.lanes.set(`${webhookId} ${laneKey(lane)}`, lane)
      const event =
        events.find((event) => event.id === eventId) ?? newEvent({ id: eventId, callId, accountId: ACCOUNT })
      const source = replayOf === undefined ? {} : { replayOf, originalPosition }
      return newDelivery(newWebhook({ id: webhookId }), event, { id, position, epoch, lane, ...source })
    },
  )
  return { events, deliveries }
}

function toAcceptanceResult(result: AcceptanceResult) {
  if (result.kind === 'refused') return result.error.code
  const events = result.events.map(({ id, sequence, duplicate }) => ({ id, number: sequence, duplicate }))
  return { events, mayHaveGap: result.mayHaveGap }
}

function toSettlement(s: SettlementCall, now: number): Settlement {
  const { id: deliveryId, webhookId, position, attempts, interruptions, epoch, health } = s
  const event = newEvent({ id: 'any', callId: s.callId })
  const delivery = newDelivery(newWebhook({ id: webhookId }), event, { id: deliveryId, position })
  const before = { ...delivery, attempts: attempts - 1 } as Parameters<typeof newRecord>[0]
  const record = newRecord(before, { id: s.record ?? '', atMs: now })
  const { attempt: _none, ...unsent } = record
  const isSent = attempts > s.from
  return {
    deliveryId,
    webhookId,
    position,
    expect: { attempts: s.from },
    next: {
      state: s.to,
      attempts,
      tries: attempts,
      interruptions,
      ...(s.dueMs !== undefined && { dueMs: s.dueMs }),
      ...(s.failedMs !== undefined && { failedMs: s.failedMs }),
      ...(s.reason !== undefined && { reason: s.reason }),
    },
    ...(s.record !== undefined && { record: isSent ? record : unsent }),
    endpoint: {
      epoch,
      ...(health !== undefined && { health }),
      ...(s.disable && { disable: { reason: 'gone', atMs: now } }),
    },
  }
}

/** All parts of a load. */
async function loadAll(
  store: QueueStore,
  lease: LeaseRow,
  shards: readonly number[],
  state: StoreDriverState,
): Promise<LoadResult | null> {
  const lanes: Record<string, readonly WaitingRow[]> = {}
  const webhooks: Webhook[] = []
  let version: number | undefined
  let cursor: string | undefined
  for (let parts = 0; parts < MAX_ROWS; parts += 1) {
    const part = await store.load(lease, shards, cursor)
    if (!part) return null
    version ??= part.version
    for (const [lane, rows] of Object.entries(toLanes(part.waiting, state)))
      lanes[lane] = [...(lanes[lane] ?? []), ...rows]
    webhooks.push(...part.webhooks)
    cursor = part.cursor
    if (cursor !== undefined) continue
    const interrupted = part.interrupted.map(
      (start) => `${deliveryAt(state, start)} attempt ${start.attempt}`,
    )
    return { version, lanes, webhooks: toRevisions(webhooks), interrupted: interrupted.sort() }
  }
  throw new Error(`a load has more than ${MAX_ROWS} parts`)
}

const deliveryAt = ({ keys }: StoreDriverState, { webhookId, position }: DeliveryKey): string => {
  for (const [id, key] of keys) if (key.webhookId === webhookId && key.position === position) return id
  return `position ${position} of ${webhookId}`
}

function toLanes(waiting: WaitingDeliveries, state: StoreDriverState): Record<string, WaitingRow[]> {
  const lanes: Record<string, WaitingRow[]> = {}
  for (let row = 0; row < waiting.count; row += 1) {
    const webhookId = waiting.webhookIds[waiting.webhook[row]!]!
    const key = `${webhookId} ${waiting.lane[row]}`
    const id = deliveryAt(state, { webhookId, position: waiting.position[row]! })
    const lane = `${webhookId} ${waiting.lane[row] === 0 ? `-/${id}` : (state.lanes.get(key) ?? key)}`
    lanes[lane] ??= []
    lanes[lane].push({
      id,
      number: waiting.sequence[row]!,
      dueMs: waiting.dueMs[row]!,
      epoch: waiting.epoch[row]!,
      attempts: waiting.attempts[row]!,
      interruptions: waiting.interruptions[row]!,
      failedMs: waiting.failedMs[row]!,
    })
  }
  return lanes
}

const toRevisions = (webhooks: readonly Webhook[]): RevisionRow[] =>
  webhooks.map(({ id, revision }) => ({ id, revision })).sort((a, b) => (a.id < b.id ? -1 : 1))

function toBodyRow({ delivery, body }: DeliveryContent) {
  const { id, lane, attempts, epoch } = delivery
  const { event_id: eventId, sequence: number } = JSON.parse(body)
  return { id, eventId, number, lane: lane.startsWith('replay/') ? 'replay' : lane, attempts, epoch }
}

function toWebhook({ name, uri, ordering, enabled, deleted, ...row }: WebhookRow): Webhook {
  const settings = { name, uri, ordering, enabled }
  return newWebhook({ ...row, accountId: ACCOUNT, settings, ...(deleted && { deletedMs: 1 }) })
}

function toRow({ id, settings, revision, epoch, health }: Webhook): WebhookRow {
  const { name, uri, ordering, enabled } = settings
  return { id, name, uri, ordering, enabled, revision, epoch, ...(health && { health }) }
}

const toLeaseResult = ({ fence, position, shards, leaving }: NodeLease) => ({
  fence,
  position,
  shards: shardSet(shards),
  leaving: shardSet(leaving),
})

async function repeatUntilNone(remove: () => Promise<number>): Promise<void> {
  for (let rounds = 0; (await remove()) > 0; rounds += 1) {
    if (rounds > 1_000) throw new Error('the store reports removed rows without end')
  }
}

async function readDeliveries(store: QueueStore, webhookId: string): Promise<unknown> {
  const query = { accountId: ACCOUNT, webhookId, ascending: true, limit: MAX_ROWS }
  const rows = await store.deliveries(query)
  return rows.map(({ id, state, reason, attempts, dueMs, ahead, originalPosition, replays }) => ({
    id,
    state,
    reason,
    attempts,
    dueMs,
    ahead,
    originalPosition,
    replays,
  }))
}

/** A node as the rules need one: forms groups, knows what it has loaded, sends nothing. */

import assert from 'node:assert/strict'
import type { Acceptance, AcceptedEvent, NewEvent, Settlement } from '../../delivery/delivery-store.js'
import type { Delivery, DeliveryState } from '../../delivery/lifecycle.js'
import { createPositions } from '../../delivery/positions.js'
import type {
  AcceptanceResult,
  Changes,
  DeliveryKey,
  EndedResult,
  Group,
  GroupResult,
  NodeLease,
  Polled,
  Start,
  WaitingDeliveries,
} from '../../delivery/queue-store.js'
import type { Store } from '../../store/contract.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { newDelivery, newEvent, newRecord } from './sample-data.js'

/** A waiting delivery as a node knows it. */
export interface Queued extends Delivery {
  readonly position: number
}

/** One row of `WaitingDeliveries`. */
export interface WaitingRow extends DeliveryKey {
  readonly lane: number
  readonly sequence: number
  readonly dueMs: number
  readonly epoch: number
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly failedMs: number
}

/** All parts of a load. */
interface Loaded {
  readonly rows: readonly WaitingRow[]
  readonly webhooks: ReadonlyMap<string, Webhook>
  /** By position, then webhook. */
  readonly interrupted: readonly Start[]
}

type Committed = Extract<GroupResult, { kind: 'committed' }>
type Settled = Extract<EndedResult, { kind: 'settled' }>

type SettlementOverrides = Omit<Partial<Settlement>, 'next'> & {
  readonly next?: Partial<Settlement['next']>
}

/** A node with its lease, its version and its positions. Calls of `commit`, `load` and `poll` run one after the other. */
export interface StoreNode {
  readonly owner: string
  readonly store: Store
  /** The last lease that `own` or `renew` returned. */
  readonly lease: NodeLease
  /** The version that the node has applied. */
  readonly version: number
  /** The last load. */
  readonly loaded: Loaded
  own(): Promise<NodeLease>
  renew(): Promise<NodeLease>
  /** Its next positions are above this one, as after a time in which the clock was ahead. */
  raise(position: number): void
  /** Loads all shards of the lease, or these, and applies the version. */
  load(shards?: readonly number[]): Promise<Loaded>
  /** What waits for a webhook, or for all, as a load finds it, with the bodies; by position, then webhook. */
  waiting(webhook?: Webhook): Promise<readonly (Queued & { readonly body: string })[]>
  /** The only delivery that waits for a webhook. */
  waitingOne(webhook: Webhook): Promise<Queued & { readonly body: string }>
  poll(): Promise<Polled & { readonly rows: readonly WaitingRow[] }>
  /** Reads and applies what others did. */
  applyChanges(): Promise<Changes>
  /** A group of this node. Gives positions to the acceptances that have none of a node yet. */
  group(parts?: Partial<Group>): Group
  /** Commits a group once. */
  tryCommit(parts?: Partial<Group>): Promise<GroupResult>
  /** Commits a group, after it applied changes where the group is outdated, and expects that it is committed. */
  commit(parts?: Partial<Group>): Promise<Committed>
  /** An acceptance of one event with a delivery for each webhook, and these deliveries once it is committed. */
  prepare(
    webhooks: Webhook | readonly Webhook[],
    overrides?: Partial<NewEvent>,
  ): { readonly acceptance: Acceptance; readonly deliveries: Queued[] }
  /** Accepts one event with a delivery for each webhook. */
  accept(webhooks: Webhook | readonly Webhook[], overrides?: Partial<NewEvent>): Promise<Queued[]>
  /** Accepts events, of different calls or of that in `event`, each with a delivery for the webhook, in one group. */
  acceptMany(webhook: Webhook, count: number, event?: Partial<NewEvent>): Promise<Queued[]>
  /** Accepts events without deliveries, in one acceptance. */
  acceptEvents(...events: NewEvent[]): Promise<readonly AcceptedEvent[]>
  /** Commits one acceptance. */
  acceptOne(acceptance: Acceptance): Promise<AcceptanceResult>
  /** A settlement: of an attempt with its record for `delivered`, `exhausted` and `waiting`, otherwise of a delivery that ends unsent. */
  settlement(delivery: Queued, state: DeliveryState, changes?: SettlementOverrides): Settlement
  /** Settles a delivery and expects that it is not fenced. */
  settle(delivery: Queued, state: DeliveryState, changes?: SettlementOverrides): Promise<Settled>
  /** Settles a failed attempt and returns the delivery as it waits afterwards. */
  retry(delivery: Queued, next?: Partial<Settlement['next']>): Promise<Queued>
  /** Commits the starts of these deliveries, under a new key. */
  start(...deliveries: Queued[]): Promise<{ readonly key: number; readonly notStarted: readonly number[] }>
}

/** Delay of a retry unless a rule gives another one, ms. */
const SHORT_RETRY_MS = 1_000

/** Acceptances that have their positions. */
const placed = new WeakSet<Acceptance>()

/** An acceptance. */
export function acceptanceOf(
  events: NewEvent | readonly NewEvent[],
  deliveries: Acceptance['deliveries'] = [],
  inboxIds?: readonly string[],
): Acceptance {
  return {
    events: 'id' in events ? [events] : events,
    deliveries,
    ...(inboxIds && { inboxIds }),
  }
}

/** An acceptance whose only event has this position. */
export function acceptanceAt(position: number, event: NewEvent, webhooks: readonly Webhook[]): Acceptance {
  event.position = position
  const acceptance = acceptanceOf(
    event,
    webhooks.map((webhook) => newDelivery(webhook, event)),
  )
  placed.add(acceptance)
  return acceptance
}

/** Expects that an acceptance was refused with this code, and field if any. */
export function assertRefused(result: AcceptanceResult | undefined, code: string, field?: string): void {
  assert.ok(result?.kind === 'refused')
  assert.deepEqual([result.error.code, result.error.field], [code, field ?? result.error.field])
}

/** The start of the next attempt of a delivery. */
export function startOf({ webhookId, position, attempts, epoch }: Queued | WaitingRow): Start {
  return { webhookId, position, attempt: attempts + 1, epoch }
}

export const keyOf = ({ webhookId, position }: DeliveryKey): DeliveryKey => ({ webhookId, position })

const byPosition = (first: DeliveryKey, second: DeliveryKey) =>
  first.position - second.position || (first.webhookId < second.webhookId ? -1 : 1)

/** Their keys, by position, then webhook. */
export function keysOf(rows: readonly DeliveryKey[]): DeliveryKey[] {
  return rows.map(keyOf).sort(byPosition)
}

/** The starts of their next attempts, by position, then webhook. */
export function startsOf(rows: readonly (Queued | WaitingRow)[]): Start[] {
  return rows.map(startOf).sort(byPosition)
}

export function rowsOf(waiting: WaitingDeliveries): WaitingRow[] {
  return Array.from({ length: waiting.count }, (_, row) => ({
    webhookId: waiting.webhookIds[waiting.webhook[row]!]!,
    position: waiting.position[row]!,
    lane: waiting.lane[row]!,
    sequence: waiting.sequence[row]!,
    dueMs: waiting.dueMs[row]!,
    epoch: waiting.epoch[row]!,
    attempts: waiting.attempts[row]!,
    tries: waiting.tries[row]!,
    interruptions: waiting.interruptions[row]!,
    failedMs: waiting.failedMs[row]!,
  }))
}

/** The accepted deliveries as they wait. */
export function queuedOf({ deliveries }: Acceptance, now: number): Queued[] {
  return deliveries.map((delivery) => ({
    ...delivery,
    position: delivery.position!,
    state: 'waiting',
    attempts: 0,
    tries: 0,
    interruptions: 0,
    acceptedMs: now,
  }))
}

const NO_ROWS: Loaded = { rows: [], webhooks: new Map(), interrupted: [] }

export function createNode(
  owner: string,
  leaseMs: number,
  currentStore: () => Store,
  now: () => number,
): StoreNode {
  let lease: NodeLease | undefined
  let version = 0
  let loaded = NO_ROWS
  let lastKey = 0
  let positions = createPositions(0)
  let turn: Promise<unknown> = Promise.resolve()

  const deps = () => currentStore().deliveries
  const toArray = (webhooks: Webhook | readonly Webhook[]) => ('id' in webhooks ? [webhooks] : webhooks)
  const currentLease = () => {
    assert.ok(lease, 'the node has called `own`')
    return lease
  }

  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  async function takeLease(method: 'own' | 'renew'): Promise<NodeLease> {
    const before = lease
    lease = await deps()[method](owner, leaseMs)
    if (before?.node !== lease.node) positions = createPositions(lease.node)
    positions.raise(lease.position)
    return lease
  }

  function place(acceptance: Acceptance): void {
    if (placed.has(acceptance)) return
    placed.add(acceptance)
    const byId = new Map(acceptance.events.map((event) => [event.id, event]))
    for (const event of acceptance.events) event.position = positions.next(now())
    for (const delivery of acceptance.deliveries) {
      const event = delivery.replayOf === undefined ? byId.get(delivery.eventId) : undefined
      delivery.position = event?.position ?? positions.next(now())
    }
  }

  async function loadAll(shards: readonly number[]): Promise<Loaded> {
    const rows: WaitingRow[] = []
    const webhooks = new Map<string, Webhook>()
    let cursor: string | undefined
    for (let part = 0; ; part += 1) {
      assert.ok(part < 10_000, 'the parts of a load end')
      const found = await deps().load(currentLease(), shards, cursor)
      assert.ok(found, 'the lease holds')
      // Later parts may be newer: changes after the first one are still to be applied.
      if (part === 0) version = found.version
      rows.push(...rowsOf(found.waiting))
      for (const webhook of found.webhooks) webhooks.set(webhook.id, webhook)
      cursor = found.cursor
      if (cursor === undefined) {
        loaded = { rows, webhooks, interrupted: found.interrupted.toSorted(byPosition) }
        return loaded
      }
      assert.deepEqual(found.interrupted, [], 'only the last part has interrupted starts')
    }
  }

  async function applyChanges(): Promise<Changes> {
    const found = await deps().changes(currentLease(), version)
    assert.ok(found, 'the lease holds')
    if (found.mustReload) await loadAll(currentLease().shards)
    version = Math.max(version, found.version)
    return found
  }

  async function commitOnce(group: Group): Promise<GroupResult> {
    const result = await deps().commit(group)
    if (result.kind === 'committed' && group.lease) version = result.version
    return result
  }

  const node: StoreNode = {
    owner,
    get store() {
      return currentStore()
    },
    get lease() {
      return currentLease()
    },
    get version() {
      return version
    },
    get loaded() {
      return loaded
    },
    own: () => takeLease('own'),
    renew: () => takeLease('renew'),
    raise: (position) => positions.raise(position),
    load: (shards = currentLease().shards) => inTurn(() => loadAll(shards)),
    async waiting(webhook) {
      const { rows } = await node.load()
      const keys = keysOf(rows.filter(({ webhookId }) => !webhook || webhookId === webhook.id))
      const contents = await deps().bodies(keys)
      assert.equal(contents.length, keys.length)
      return contents.map((content, index) => {
        assert.ok(content, 'a loaded delivery has a body')
        return { ...content.delivery, position: keys[index]!.position, body: content.body }
      })
    },
    async waitingOne(webhook) {
      const waiting = await node.waiting(webhook)
      assert.equal(waiting.length, 1, 'exactly one delivery waits')
      return waiting[0]!
    },
    poll: () =>
      inTurn(async () => {
        const polled = await deps().poll(currentLease())
        assert.ok(polled, 'the lease holds')
        return { ...polled, rows: rowsOf(polled.waiting) }
      }),
    applyChanges: () => inTurn(applyChanges),
    group(parts = {}) {
      parts.accepted?.forEach(place)
      const { owner, fence } = lease ?? { owner: '', fence: 0 }
      return {
        lease: { owner, fence },
        version,
        now: now(),
        accepted: [],
        ended: [],
        finished: [],
        pending: 0,
        isRepeat: false,
        ...parts,
      }
    },
    tryCommit: (parts) => inTurn(() => commitOnce(node.group(parts))),
    commit: (parts) =>
      inTurn(async () => {
        // Others may change something again while the changes are applied.
        for (let round = 0; round < 99; round += 1) {
          const result = await commitOnce(node.group(parts))
          if (result.kind === 'committed') return result
          assert.equal(result.kind, 'outdated', 'the lease holds')
          await applyChanges()
        }
        throw new assert.AssertionError({ message: 'a group with the version of `changes` is not outdated' })
      }),
    prepare(webhooks, overrides) {
      const list = toArray(webhooks)
      const event = newEvent({ accountId: list[0]?.accountId ?? 'account', ...overrides })
      const acceptance = acceptanceOf(
        event,
        list.map((webhook) => newDelivery(webhook, event)),
      )
      place(acceptance)
      return { acceptance, deliveries: queuedOf(acceptance, now()) }
    },
    async accept(webhooks, overrides) {
      const { acceptance, deliveries } = node.prepare(webhooks, overrides)
      const result = await node.acceptOne(acceptance)
      assert.equal(result.kind, 'accepted')
      return deliveries
    },
    async acceptMany(webhook, count, event) {
      const prepared = Array.from({ length: count }, () => node.prepare(webhook, event))
      const { accepted } = await node.commit({ accepted: prepared.map(({ acceptance }) => acceptance) })
      assert.ok(accepted.every(({ kind }) => kind === 'accepted'))
      return prepared.flatMap(({ deliveries }) => deliveries)
    },
    async acceptEvents(...events) {
      const result = await node.acceptOne(acceptanceOf(events))
      assert.equal(result.kind, 'accepted')
      return result.events
    },
    async acceptOne(acceptance) {
      const { accepted } = await node.commit({ accepted: [acceptance] })
      assert.equal(accepted.length, 1)
      return accepted[0]!
    },
    settlement(delivery, state, { next, ...changes } = {}) {
      const isAttempt = state === 'delivered' || state === 'exhausted' || state === 'waiting'
      const sent = isAttempt ? 1 : 0
      const record = newRecord(delivery, { atMs: now(), ...(state === 'delivered' && { result: 'success' }) })
      const { attempt: _none, ...skipped } = record
      return {
        owner,
        deliveryId: delivery.id,
        webhookId: delivery.webhookId,
        position: delivery.position,
        expect: { attempts: delivery.attempts },
        next: {
          state,
          attempts: delivery.attempts + sent,
          tries: delivery.tries + sent,
          interruptions: 0,
          ...(state === 'waiting' && { dueMs: now() + SHORT_RETRY_MS }),
          ...next,
        },
        record: isAttempt ? record : { ...skipped, reason: state },
        ...changes,
      }
    },
    async settle(delivery, state, changes) {
      const { ended } = await node.commit({ ended: [node.settlement(delivery, state, changes)] })
      assert.equal(ended.length, 1)
      const [settled] = ended
      assert.ok(settled?.kind === 'settled', 'this settlement is not fenced')
      return settled
    },
    async retry(delivery, changes = {}) {
      const { next } = node.settlement(delivery, 'waiting', { next: changes })
      await node.settle(delivery, 'waiting', { next: changes })
      const { reason: _old, failedMs: _before, ...rest } = delivery
      return { ...rest, ...next }
    },
    async start(...deliveries) {
      lastKey += 1
      const key = lastKey
      const { notStarted } = await node.commit({ starting: { key, deliveries: deliveries.map(startOf) } })
      return { key, notStarted }
    },
  }
  return node
}

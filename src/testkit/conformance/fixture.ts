/** The fixture of each conformance test: a store with one node, and methods that drive it. */

import assert from 'node:assert/strict'
import type {
  AcceptedEvent,
  Claim,
  NewEvent,
  Settlement,
  SettlementResult,
} from '../../delivery/delivery-store.js'
import type { Delivery, DeliveryState } from '../../delivery/lifecycle.js'
import { errorCode } from '../../errors.js'
import type { Clock } from '../../ports.js'
import type { Store, StoreSupports } from '../../store/contract.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { newDelivery, newEvent, newRecord, newWebhook, WALL_MS } from './sample-data.js'

/** Opens and closes the stores under test. */
export interface StoreHarness {
  /** Name of the suite, for instance "the memory store". */
  readonly name: string
  /** The store's expected `supports`; selects the rules that apply. */
  readonly supports: StoreSupports
  /** Returns an empty store, opened with this clock. */
  open(deps: { readonly clock: Clock }): Promise<Store>
  /** Required for durable stores: closes the store and opens another one on the same data. */
  reopen?(store: Store): Promise<Store>
  /** Called after each test, also for a closed store. Default: `store.close()`. */
  close?(store: Store): Promise<void>
  /** Advances the store's own clock by `ms`. Not needed if the store uses the clock given to `open`. */
  advance?(ms: number): Promise<void>
  /**
   * Required with `supports.transactions`: runs `work` in a transaction on a separate connection of the host, then
   * commits it or rolls it back.
   */
  transaction?(store: Store, end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>): Promise<void>
  /** How long a test waits for a notification of `subscribe`, in real milliseconds. Default 5,000. */
  readonly notificationTimeoutMs?: number
}

/** A store with one node, `owner`, that owns all shards, and methods that drive it. */
export interface Fixture {
  readonly store: Store
  readonly harness: StoreHarness
  readonly owner: string
  /** Store time, ms. */
  now(): number
  /** Advances store time. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock given to `open` by `ms` milliseconds, forward or (negative) back; no time passes. */
  jumpWall(ms: number): void
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>
  /** Inserts a webhook. */
  webhook(overrides?: Parameters<typeof newWebhook>[0]): Promise<Webhook>
  /** Accepts one event with a delivery for each webhook. Returns the deliveries' ids. */
  accept(webhooks: Webhook | readonly Webhook[], overrides?: Partial<NewEvent>): Promise<string[]>
  /** Accepts events without deliveries. */
  acceptEvents(...events: NewEvent[]): Promise<readonly AcceptedEvent[]>
  /** Claims due deliveries of these webhooks. */
  claim(webhooks: Webhook | readonly Webhook[], slots?: number, limit?: number): Promise<readonly Claim[]>
  /** Claims the due deliveries of a webhook and expects exactly one. */
  claimOne(webhook: Webhook): Promise<Claim>
  /** A settlement of this delivery to `state`; of one in flight with one more attempt and its record. */
  settlement(delivery: Delivery, state: DeliveryState, changes?: SettlementOverrides): Settlement
  /** Settles a delivery and expects that it is not fenced. */
  settle(
    delivery: Delivery,
    state: DeliveryState,
    changes?: SettlementOverrides,
  ): Promise<Extract<SettlementResult, { kind: 'settled' }>>
  /** Reads the state of a delivery. */
  state(webhook: Webhook, deliveryId: string): Promise<DeliveryState | undefined>
}

export type SettlementOverrides = Omit<Partial<Settlement>, 'next'> & {
  readonly next?: Partial<Settlement['next']>
}

/** Registers one rule of the contract: a sentence and the check of it. */
export type DefineRule = (sentence: string, check: (fixture: Fixture) => Promise<void>) => void

export const LEASE_MS = 600_000
/** Delay of a retry. */
export const RETRY_MS = 120_000
/** Longest time by which store time may be late after a jump of the wall clock. */
export const LATE_MS = 2_000

/** A delivery that failed once and waits for `RETRY_MS`. */
export async function waitingDelivery(
  fixture: Fixture,
): Promise<{ readonly webhook: Webhook; readonly delivery: Delivery }> {
  const webhook = await fixture.webhook()
  await fixture.accept(webhook)
  const { delivery } = await fixture.claimOne(webhook)
  const dueMs = fixture.now() + RETRY_MS
  await fixture.settle(delivery, 'waiting', { next: { dueMs } })
  return { webhook, delivery: { ...delivery, state: 'waiting', dueMs } }
}

/** Opens a store whose shards all belong to one node. */
export async function openFixture(harness: StoreHarness, owner = 'node-1'): Promise<Fixture> {
  const clock = createStoppedClock()
  let store = await harness.open({ clock })
  let { storeMs } = await store.deliveries.own(owner, LEASE_MS)
  const toArray = (webhooks: Webhook | readonly Webhook[]) => ('id' in webhooks ? [webhooks] : webhooks)

  const fixture: Fixture = {
    get store() {
      return store
    },
    harness,
    owner,
    now: () => storeMs,
    async advance(ms) {
      storeMs += ms
      clock.move(ms)
      await harness.advance?.(ms)
    },
    jumpWall: clock.jumpWall,
    async reopen() {
      assert.ok(harness.reopen, 'the harness of a durable store has `reopen`')
      store = await harness.reopen(store)
      return store
    },
    async webhook(overrides) {
      const webhook = newWebhook(overrides)
      await store.webhooks.insert(webhook)
      return webhook
    },
    async accept(webhooks, overrides) {
      const event = newEvent({ accountId: toArray(webhooks)[0]?.accountId ?? 'account', ...overrides })
      const deliveries = toArray(webhooks).map((webhook) => newDelivery(webhook, event))
      await store.deliveries.accept({ events: [event], deliveries, maxPending: 1_000_000 }, storeMs)
      return deliveries.map((delivery) => delivery.id)
    },
    acceptEvents: (...events) =>
      store.deliveries.accept({ events, deliveries: [], maxPending: 1_000_000 }, storeMs),
    async claim(webhooks, slots = 1_000, limit = 1_000) {
      const endpoints = toArray(webhooks).map((webhook) => ({ webhookId: webhook.id, slots }))
      return (await store.deliveries.claim({ owner, endpoints, limit, now: storeMs })).claims
    },
    async claimOne(webhook) {
      const claims = await fixture.claim(webhook)
      assert.equal(claims.length, 1, 'exactly one delivery is due')
      return claims[0]!
    },
    settlement(delivery, state, { next, ...changes } = {}) {
      const sent = delivery.state === 'in_flight' ? 1 : 0
      return {
        owner,
        deliveryId: delivery.id,
        webhookId: delivery.webhookId,
        expect: { state: delivery.state === 'in_flight' ? 'in_flight' : 'waiting', fence: delivery.fence },
        next: {
          state,
          attempts: delivery.attempts + sent,
          tries: delivery.tries + sent,
          interruptions: 0,
          ...(state === 'waiting' ? { dueMs: storeMs + 1_000 } : {}),
          ...next,
        },
        ...(sent === 1 ? { record: newRecord(delivery, { atMs: storeMs }) } : {}),
        ...changes,
      }
    },
    async settle(delivery, state, changes) {
      const [settled] = await store.deliveries.settle([fixture.settlement(delivery, state, changes)], storeMs)
      assert.ok(settled?.kind === 'settled', 'this settlement is not fenced')
      return settled
    },
    state: async (webhook, deliveryId) =>
      (await store.deliveries.delivery(webhook.accountId, deliveryId))?.state,
  }
  return fixture
}

/** A clock that only `move` advances, and whose wall clock `jumpWall` sets. */
function createStoppedClock(): Clock & { move(ms: number): void; jumpWall(ms: number): void } {
  let passedMs = 0
  let jumpedMs = 0
  return {
    now: () => WALL_MS + passedMs + jumpedMs,
    monotonic: () => passedMs,
    sleep: () => Promise.resolve(),
    yield: () => Promise.resolve(),
    move(ms) {
      passedMs += ms
    },
    jumpWall(ms) {
      jumpedMs += ms
    },
  }
}

/** The code of the error that a promise rejects with; `undefined` if it resolves. */
export async function errorCodeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (thrown) {
    return errorCode(thrown) ?? String(thrown)
  }
}

export function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map((row) => row.id)
}

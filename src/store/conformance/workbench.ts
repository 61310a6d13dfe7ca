import assert from 'node:assert/strict'
import type { AcceptedEvent, Claim, NewEvent, Settled, Settlement } from '../../delivery/delivery-store.js'
import type { Delivery, DeliveryState } from '../../delivery/lifecycle.js'
import { errorCode } from '../../errors.js'
import type { Clock } from '../../ports.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { Store, StoreSupports } from '../contract.js'
import { newDelivery, newEvent, newRecord, newWebhook, WALL_MS } from './fixtures.js'

/** How the suite comes by stores of the kind under test. */
export interface StoreHarness {
  /** Names the suite: "the memory store". */
  readonly name: string
  /** What the store says of itself in `supports`; decides which promises are checked. */
  readonly supports: StoreSupports
  /** An opened store with nothing in it. */
  open(doors: { readonly clock: Clock }): Promise<Store>
  /** For durable stores: closes this one and opens another on the same data. */
  reopen?(store: Store): Promise<Store>
  /** After each test; `store.close()` when absent. May be called on a closed store. */
  close?(store: Store): Promise<void>
  /** For stores with a clock of their own: moves it on. When absent, moving the clock given to `open` is enough. */
  advance?(ms: number): Promise<void>
  /**
   * For stores with `supports.transactions`: runs `work` in a transaction of the host's own, on a connection of its
   * own, then commits it or rolls it back.
   */
  transaction?(store: Store, end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>): Promise<void>
  /** After how many real milliseconds without a wake-up a test of wake-ups fails. Default 5,000. */
  readonly wakeWithinMs?: number
}

/** What every test gets: a store with one node, `owner`, that owns all shards. */
export interface Workbench {
  readonly store: Store
  readonly harness: StoreHarness
  readonly owner: string
  /** Store time, ms. */
  now(): number
  /** Moves store time on. */
  advance(ms: number): Promise<void>
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>
  /** Inserts a webhook. */
  webhook(overrides?: Parameters<typeof newWebhook>[0]): Promise<Webhook>
  /** Accepts one event with a delivery for each of these webhooks; the deliveries' ids. */
  accept(webhooks: Webhook | readonly Webhook[], overrides?: Partial<NewEvent>): Promise<string[]>
  /** Accepts events that make no delivery. */
  acceptEvents(...events: NewEvent[]): Promise<readonly AcceptedEvent[]>
  /** Claims what is due of these webhooks. */
  claim(webhooks: Webhook | readonly Webhook[], room?: number, limit?: number): Promise<readonly Claim[]>
  /** Claims what is due of this webhook and expects exactly one. */
  claimOne(webhook: Webhook): Promise<Claim>
  /** How this delivery is told to go on: `state`, one try more, with a record where a request was sent. */
  settlement(delivery: Delivery, state: DeliveryState, changes?: SettlementChanges): Settlement
  /** Settles one, expecting success. */
  settle(
    delivery: Delivery,
    state: DeliveryState,
    changes?: SettlementChanges,
  ): Promise<Extract<Settled, { kind: 'settled' }>>
  /** The state of a delivery as read back. */
  state(webhook: Webhook, deliveryId: string): Promise<DeliveryState | undefined>
}

export type SettlementChanges = Omit<Partial<Settlement>, 'next'> & {
  readonly next?: Partial<Settlement['next']>
}

/** Registers one promise of the contract, in words, with its proof. */
export type Promised = (sentence: string, proof: (bench: Workbench) => Promise<void>) => void

export const LEASE_MS = 600_000

/** Opens a store and lays out the tools. */
export async function openWorkbench(harness: StoreHarness, owner = 'node-1'): Promise<Workbench> {
  const clock = standingClock()
  let store = await harness.open({ clock })
  let { storeMs } = await store.deliveries.own(owner, LEASE_MS)
  const many = (webhooks: Webhook | readonly Webhook[]) => ('id' in webhooks ? [webhooks] : webhooks)

  const bench: Workbench = {
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
      const event = newEvent({ accountId: many(webhooks)[0]?.accountId ?? 'account', ...overrides })
      const deliveries = many(webhooks).map((webhook) => newDelivery(webhook, event))
      await store.deliveries.accept({ events: [event], deliveries, maxPending: 1_000_000 }, storeMs)
      return deliveries.map((delivery) => delivery.id)
    },
    acceptEvents: (...events) =>
      store.deliveries.accept({ events, deliveries: [], maxPending: 1_000_000 }, storeMs),
    async claim(webhooks, room = 1_000, limit = 1_000) {
      const endpoints = many(webhooks).map((webhook) => ({ webhookId: webhook.id, room }))
      return (await store.deliveries.claim({ owner, endpoints, limit, now: storeMs })).claims
    },
    async claimOne(webhook) {
      const claims = await bench.claim(webhook)
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
      const [settled] = await store.deliveries.settle([bench.settlement(delivery, state, changes)], storeMs)
      assert.ok(settled?.kind === 'settled', 'this settlement is not fenced')
      return settled
    },
    state: async (webhook, deliveryId) =>
      (await store.deliveries.delivery(webhook.accountId, deliveryId))?.state,
  }
  return bench
}

/** A clock that moves only when told to. */
function standingClock(): Clock & { move(ms: number): void } {
  let passedMs = 0
  return {
    now: () => WALL_MS + passedMs,
    monotonic: () => passedMs,
    sleep: () => Promise.resolve(),
    yield: () => Promise.resolve(),
    move(ms) {
      passedMs += ms
    },
  }
}

/** The error's code, or `undefined` when it resolved. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (thrown) {
    return errorCode(thrown) ?? String(thrown)
  }
}

/** Ids of rows, for comparing lists at a glance. */
export function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map((row) => row.id)
}

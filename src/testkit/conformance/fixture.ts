/** The fixture of each conformance test: a store with one node, and more nodes on request. */

import assert from 'node:assert/strict'
import type { Clock } from 'hookswitch'
import type { DeliveryState, Store, StoreSupports, Webhook } from 'hookswitch/store'
import type { Account } from '../../accounts/account.js'
import type { StoredAttempt } from '../../delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../../delivery/delivery-queries.js'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { Erasure } from '../../delivery/erasure-store.js'
import { errorCode } from '../../errors.js'
import { deleteWebhook } from '../../webhooks/webhook.js'
import { createNode, type Queued, type StoreNode } from './node.js'
import { newAccount, newApiKey, newWebhook, WALL_MS } from './sample-data.js'

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
  /**
   * Opens another store on the data of `store`, for another node. Only with `supports.sharedBetweenNodes`. Default: all
   * nodes use one store object.
   */
  join?(store: Store): Promise<Store>
  /** Called after each test for each store, also for a closed one. Default: `store.close()`. */
  close?(store: Store): Promise<void>
  /** Advances the store's own clock by `ms`. Not needed if the store uses the clock given to `open`. */
  advance?(ms: number): Promise<void>
  /**
   * Required with `supports.transactions`: runs `work` in a transaction on a separate connection of the host, then
   * commits it or rolls it back.
   */
  transaction?(store: Store, end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>): Promise<void>
  /**
   * Lets the store find that the process of a node has crashed, and returns once the next `renew` of another node can know it.
   * Absent: the store does not look for crashes.
   */
  crash?(store: Store, owner: string): Promise<void>
  /** How long a test waits for a notification of `subscribe`, in real milliseconds. Default 5,000. */
  readonly notificationTimeoutMs?: number
}

/** The methods of its node that a fixture has too. */
const NODE_METHODS = [
  ...(['prepare', 'accept', 'acceptMany', 'acceptEvents', 'acceptOne'] as const),
  ...(['waiting', 'waitingOne', 'settlement', 'settle', 'retry'] as const),
]

type NodeMethods = Pick<StoreNode, (typeof NODE_METHODS)[number]>

/** A store with one node that owns all shards, and the methods of that node. */
export interface Fixture extends NodeMethods {
  readonly store: Store
  readonly harness: StoreHarness
  /** The node that owns all shards: it has loaded them. */
  readonly node: StoreNode
  /** Store time, ms. */
  now(): number
  /** Advances store time. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock given to `open` by `ms` milliseconds, forward or (negative) back; no time passes. */
  jumpWall(ms: number): void
  /** Closes the store and opens it again on the same data. */
  reopen(): Promise<Store>
  /** Another node that has called `own` and loaded its shards. */
  join(owner: string): Promise<StoreNode>
  /**
   * Another node that owns all shards because this one is dead: in a shared store, its lease has ended. The other node has
   * loaded its shards, and not yet completed the takeover.
   */
  takeOver(owner?: string): Promise<StoreNode>
  /** Inserts a webhook. */
  webhook(overrides?: Parameters<typeof newWebhook>[0]): Promise<Webhook>
  /** Inserts a webhook, and accepts events for it, of different calls or of that in `event`, in one group. */
  webhookWith(count: number, event?: Partial<NewEvent>): Promise<readonly [Webhook, Queued, ...Queued[]]>
  /** Replaces a webhook by its next revision, with these changes. Returns the new row. */
  edit(webhook: Webhook, changes: WebhookChanges): Promise<Webhook>
  /** Disables a webhook as the API does: with a higher revision and epoch. */
  disable(webhook: Webhook): Promise<Webhook>
  /** Enables a webhook that was disabled. */
  enable(webhook: Webhook): Promise<Webhook>
  /** Deletes a webhook as the API does. */
  remove(webhook: Webhook): Promise<Webhook>
  /** Inserts an account with an API key and no users. */
  account(overrides?: Parameters<typeof newAccount>[0]): Promise<Account>
  /** Reads a delivery of the account `account`. */
  delivery(deliveryId: string): Promise<StoredDelivery | undefined>
  /** Lists the deliveries of a webhook, newest first unless `query` says otherwise. */
  deliveriesOf(webhook: Webhook, query?: Partial<DeliveryQuery>): Promise<readonly StoredDelivery[]>
  /** Lists attempts, of the account `account` unless `query` names another, newest first. */
  attempts(query?: Partial<AttemptQuery>): Promise<readonly StoredAttempt[]>
  /** Reads the state of a delivery. */
  state(webhook: Webhook, deliveryId: string): Promise<DeliveryState | undefined>
  /** Erases, `limit` rows (default 2) at a time, until nothing is left. Returns the number of rows. */
  erase(erasure: Erasure, limit?: number): Promise<number>
  /** Closes all stores. */
  close(): Promise<void>
}

/** Registers one rule of the contract: a sentence and the check of it. */
export type DefineRule = (sentence: string, check: (fixture: Fixture) => Promise<void>) => void

export const LEASE_MS = 600_000
/** Delay of a retry. */
export const RETRY_MS = 120_000
/** Longest time by which store time may be late after a jump of the wall clock. */
export const LATE_MS = 2_000

/** Changes of a webhook; its other settings stay. */
type WebhookChanges = Omit<Partial<Webhook>, 'settings' | 'revision'> & {
  readonly settings?: Partial<Webhook['settings']>
}

/** A delivery that failed once and waits for `RETRY_MS`. */
export async function waitingDelivery(
  fixture: Fixture,
): Promise<{ readonly webhook: Webhook; readonly delivery: Queued }> {
  const [webhook, accepted] = await fixture.webhookWith(1)
  const delivery = await fixture.retry(accepted, { dueMs: fixture.now() + RETRY_MS })
  return { webhook, delivery }
}

/** Opens a store whose shards all belong to one node. */
export async function openFixture(harness: StoreHarness, owner = 'node-1'): Promise<Fixture> {
  const clock = createStoppedClock()
  let store = await harness.open({ clock })
  const joined: Store[] = []
  let storeMs = WALL_MS
  const now = () => storeMs
  const node = createNode(owner, LEASE_MS, () => store, now)
  storeMs = (await node.own()).storeMs
  await node.load()

  const methods = Object.fromEntries(NODE_METHODS.map((name) => [name, node[name]])) as unknown as NodeMethods
  const fixture: Fixture = {
    ...methods,
    get store() {
      return store
    },
    harness,
    node,
    now,
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
    async join(name) {
      const own = harness.join && (await harness.join(store))
      if (own) joined.push(own)
      const other = createNode(name, LEASE_MS, () => own ?? store, now)
      await other.own()
      await other.load()
      return other
    },
    async takeOver(name = 'node-2') {
      if (harness.supports.sharedBetweenNodes) await fixture.advance(LEASE_MS)
      return fixture.join(name)
    },
    async webhook(overrides) {
      const webhook = newWebhook(overrides)
      await store.webhooks.insert(webhook)
      return webhook
    },
    async webhookWith(count, event) {
      const webhook = await fixture.webhook()
      const [first, ...others] = await node.acceptMany(webhook, count, event)
      return [webhook, first!, ...others]
    },
    async edit(webhook, { settings, ...changes }) {
      const { revision } = webhook
      const row = {
        ...webhook,
        ...changes,
        settings: { ...webhook.settings, ...settings },
        revision: revision + 1,
      }
      assert.equal(await store.webhooks.replace(row, revision), true)
      return row
    },
    disable: (webhook) =>
      fixture.edit(webhook, { settings: { enabled: false }, disabledMs: WALL_MS, epoch: webhook.epoch + 1 }),
    enable: (webhook) => fixture.edit(webhook, { settings: { enabled: true } }),
    async remove(webhook) {
      const row = deleteWebhook(webhook, WALL_MS)
      assert.equal(await store.webhooks.replace(row, webhook.revision), true)
      return row
    },
    async account(overrides) {
      const account = newAccount(overrides)
      await store.accounts.insert(account, newApiKey(account.id), [])
      return account
    },
    delivery: (id) => store.deliveries.delivery('account', id),
    deliveriesOf: ({ accountId, id: webhookId }, query) =>
      store.deliveries.deliveries({ accountId, webhookId, limit: 99, ...query }),
    attempts: (query) => store.deliveries.attempts({ accountId: 'account', limit: 99, ...query }),
    state: async (webhook, deliveryId) =>
      (await store.deliveries.delivery(webhook.accountId, deliveryId))?.state,
    async erase(erasure, limit = 2) {
      for (let erased = 0; ; ) {
        const count = await store.deliveries.erase(erasure, limit)
        if (count === 0) return erased
        erased += count
      }
    },
    async close() {
      for (const each of [...joined, store]) await (harness.close ? harness.close(each) : each.close())
    },
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

/** The values of one field of rows. */
export function valuesOf<Row extends object, Name extends keyof Row>(
  rows: readonly Row[],
  name: Name,
): readonly Row[Name][] {
  return rows.map((row) => row[name])
}

/** Reads all pages of a list, of at most two rows each; `read` gets the last row of the page before. */
export async function readPages<Row>(
  read: (last: Row | undefined, limit: number) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const all: Row[] = []
  for (;;) {
    const page = await read(all.at(-1), 2)
    assert.ok(page.length <= 2, 'a page has at most `limit` rows')
    if (page.length === 0) return all
    all.push(...page)
    assert.ok(all.length < 100, 'the pages end')
  }
}

export function idsOf(rows: readonly { readonly id: string }[]): string[] {
  return rows.map((row) => row.id)
}

import { type PostgresPool, type PostgresQuery, postgresStore } from 'hookswitch/postgres'
import type { Claim, Log, NewEvent, Settled, Settlement, Store, Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { expect } from 'vitest'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { manualClock } from '../../../src/testkit/clock.js'
import type { PgServer } from './pg-cluster.js'

export const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** What may come between a store and its server; each is told the text of the statement. */
export interface Interference {
  before?(text: string, query: PostgresQuery): Promise<void> | void
  /** The server has answered: what is thrown here is all that the store hears. */
  after?(text: string): Promise<void> | void
}

/** A pool like a host's own, with somebody between its connections and the server. */
export function interferedPool(url: string, interference: Interference): pg.Pool & PostgresPool {
  const pool = new pg.Pool({ connectionString: url, max: 8 })
  const connect = pool.connect.bind(pool)
  const known = new WeakSet<pg.PoolClient>()
  const interfered = async () => {
    const client = await connect()
    if (known.has(client)) return client
    known.add(client)
    const ask = client.query.bind(client) as (query: PostgresQuery) => Promise<unknown>
    const query = async (given: PostgresQuery) => {
      await interference.before?.(given.text, given)
      const answer = await ask(given)
      await interference.after?.(given.text)
      return answer
    }
    return Object.assign(client, { query })
  }
  return Object.assign(pool, { connect: interfered }) as unknown as pg.Pool & PostgresPool
}

export const LEASE_MS = 30_000

/** A node on a store of its own, with the few doings that these tests are made of. */
export interface QueueNode {
  readonly store: Store
  readonly schema: string
  readonly owner: string
  /** Store time, ms. */
  now(): number
  own(): Promise<readonly number[]>
  webhook(overrides?: Parameters<typeof newWebhook>[0]): Promise<Webhook>
  /** Accepts an event of this call for these webhooks; the deliveries' ids. */
  accept(webhooks: readonly Webhook[], event?: Partial<NewEvent>): Promise<string[]>
  claim(webhooks: readonly Webhook[], room?: number): Promise<readonly Claim[]>
  /** How a claim is settled: as delivered, unless it is said otherwise. */
  settlement(claim: Claim, next?: Partial<Settlement['next']>): Settlement
  settle(claims: readonly Claim[], next?: Partial<Settlement['next']>): Promise<readonly Settled[]>
  close(): Promise<void>
}

export interface NodeOptions {
  readonly schema: string
  readonly owner?: string
  readonly clock?: ManualClock
  readonly interference?: Interference
}

export async function openNode(server: PgServer, options: NodeOptions): Promise<QueueNode> {
  const { schema, owner = 'node-1', clock = manualClock(), interference } = options
  const pool = interference && interferedPool(server.url, interference)
  const store = postgresStore(
    pool ? { pool, schema, clock } : { connectionString: server.url, schema, clock, maxConnections: 6 },
  )
  await store.open({ clock, log })
  const { deliveries } = store
  const now = () => clock.now()

  const node: QueueNode = {
    store,
    schema,
    owner,
    now,
    own: async () => (await deliveries.own(owner, LEASE_MS)).shards,
    async webhook(overrides) {
      const webhook = newWebhook(overrides)
      await store.webhooks.insert(webhook)
      return webhook
    },
    async accept(webhooks, given) {
      const event = newEvent({ accountId: webhooks[0]!.accountId, ...given })
      const list = webhooks.map((webhook) => newDelivery(webhook, event))
      await deliveries.accept({ events: [event], deliveries: list, maxPending: 1_000_000 }, now())
      return list.map(({ id }) => id)
    },
    async claim(webhooks, room = 100) {
      const endpoints = webhooks.map(({ id }) => ({ webhookId: id, room }))
      return (await deliveries.claim({ owner, endpoints, limit: 1_000, now: now() })).claims
    },
    settlement({ delivery }, next) {
      return {
        owner,
        deliveryId: delivery.id,
        webhookId: delivery.webhookId,
        expect: { state: 'in_flight', fence: delivery.fence },
        next: {
          state: 'delivered',
          attempts: delivery.attempts + 1,
          tries: delivery.tries + 1,
          interruptions: 0,
          ...next,
        },
        record: newRecord(delivery, { atMs: now() }),
      }
    },
    settle: (claims, next) =>
      deliveries.settle(
        claims.map((claim) => node.settlement(claim, next)),
        now(),
      ),
    async close() {
      await store.close()
      await pool?.end()
    },
  }
  return node
}

/**
 * Waits until so many sessions of the server wait for a lock that another one holds.
 *
 * @param schema with a statement that is about it; default any
 */
export async function waitingForLocks(server: PgServer, count = 1, schema = ''): Promise<void> {
  await expect
    .poll(async () => {
      const [row] = await server.sql(
        `select count(*)::int as count from pg_stat_activity
          where wait_event_type = 'Lock' and strpos(query, $1) > 0`,
        [schema],
      )
      return row!.count as number
    })
    .toBeGreaterThanOrEqual(count)
}

/** A gate that is passed when it is opened. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

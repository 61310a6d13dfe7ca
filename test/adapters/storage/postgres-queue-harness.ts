/** Nodes on the PostgreSQL store, for tests of its queue. */
import { type PostgresPool, type PostgresQuery, postgresStore } from 'hookswitch/postgres'
import type { Log, Store, Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { expect } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { createNode, type StoreNode } from '../../../src/testkit/conformance/node.js'
import { newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { deferred } from '../../support/deferred.js'
import type { PgServer } from './pg-cluster.js'

export const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Functions that run before and after each statement of a store. */
export interface QueryHooks {
  /** Replaces a statement on its way to the server. */
  rewrite?(query: PostgresQuery): PostgresQuery
  /** Runs when the server has refused a statement. */
  failed?(thrown: unknown): void
  before?(text: string, query: PostgresQuery): Promise<void> | void
  /** Runs when the server has answered. An error thrown here replaces the answer. */
  after?(text: string): Promise<void> | void
}

/** A host's pool that runs the hooks around each statement. `name`: the `application_name` of its connections. */
export function hookedPool(url: string, hooks: QueryHooks, name = ''): pg.Pool & PostgresPool {
  const pool = new pg.Pool({ connectionString: url, max: 8, application_name: name })
  const connect = pool.connect.bind(pool)
  const hooked = new WeakSet<pg.PoolClient>()
  const connectWithHooks = async () => {
    const client = await connect()
    if (hooked.has(client)) return client
    hooked.add(client)
    const send = client.query.bind(client) as (query: PostgresQuery) => Promise<unknown>
    const query = async (given: PostgresQuery) => {
      await hooks.before?.(given.text, given)
      const answer = await send(hooks.rewrite?.(given) ?? given).catch((thrown: unknown) => {
        hooks.failed?.(thrown)
        throw thrown
      })
      await hooks.after?.(given.text)
      return answer
    }
    return Object.assign(client, { query })
  }
  return Object.assign(pool, { connect: connectWithHooks }) as unknown as pg.Pool & PostgresPool
}

export const LEASE_MS = 30_000

/** A node with a store of its own. */
export interface QueueNode extends StoreNode {
  readonly store: Store
  webhook(overrides?: Parameters<typeof newWebhook>[0]): Promise<Webhook>
  /** Ends the connections of this node, which has hooks. Resolves when its pool has noticed. */
  endConnections(): Promise<void>
  close(): Promise<void>
}

export interface NodeOptions {
  readonly schema: string
  readonly owner?: string
  readonly clock?: ManualClock
  readonly hooks?: QueryHooks
}

/** The number of pools that were created. It is part of the name of each pool, so that names are unique. */
let pools = 0

export async function openNode(server: PgServer, options: NodeOptions): Promise<QueueNode> {
  const { schema, owner = 'node-1', clock = manualClock(), hooks } = options
  pools += 1
  const name = `${schema} ${pools}`
  const pool = hooks && hookedPool(server.url, hooks, name)
  const store = postgresStore(
    pool ? { pool, schema, clock } : { connectionString: server.url, schema, clock, maxConnections: 6 },
  )
  await store.open({ clock, log })
  const node = createNode(
    owner,
    LEASE_MS,
    () => store,
    () => clock.now(),
  )
  return Object.create(node, {
    webhook: {
      async value(overrides?: Parameters<typeof newWebhook>[0]) {
        const webhook = newWebhook(overrides)
        await store.webhooks.insert(webhook)
        return webhook
      },
    },
    endConnections: {
      async value() {
        let removed = 0
        const onRemove = () => {
          removed += 1
        }
        pool!.on('remove', onRemove)
        const ended = await server.sql(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = $1`,
          [name],
        )
        await expect.poll(() => removed).toBeGreaterThanOrEqual(ended.length)
        pool!.off('remove', onRemove)
      },
    },
    close: {
      async value() {
        await store.close()
        await pool?.end()
      },
    },
  }) as QueueNode
}

/**
 * How many sessions of the database wait for a lock.
 *
 * @param schema counts only sessions whose statement contains this name; default all
 */
export async function blockedSessions(server: PgServer, schema = ''): Promise<number> {
  const [row] = await server.sql(
    `select count(*)::int as count from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database() and strpos(query, $1) > 0`,
    [schema],
  )
  return row!.count as number
}

/** Waits until at least `count` sessions wait for a lock. */
export async function waitForBlockedSessions(server: PgServer, count = 1, schema = ''): Promise<void> {
  await expect.poll(() => blockedSessions(server, schema)).toBeGreaterThanOrEqual(count)
}

/** `passed` resolves when `open` is called. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  const { promise: passed, resolve: open } = deferred()
  return { passed, open }
}

/**
 * Sets hooks that hold the next COMMIT back. `reached` resolves when everything before it is written; `release` lets it
 * commit.
 */
export function holdNextCommit(hooks: QueryHooks): { readonly reached: Promise<void>; release(): void } {
  const arrival = gate()
  const departure = gate()
  hooks.before = (text) => {
    if (text !== 'COMMIT') return
    delete hooks.before
    arrival.open()
    return departure.passed
  }
  return { reached: arrival.passed, release: departure.open }
}

/** Whether a statement writes a group on the fast path. */
export const isGroup = (text: string) => text.startsWith('with f as')

/** Sets hooks that lose the answer of the next group, which the server has written. */
export function loseNextAnswer(hooks: QueryHooks): void {
  hooks.after = (text) => {
    if (!isGroup(text)) return
    delete hooks.after
    throw new Error('Connection terminated unexpectedly')
  }
}

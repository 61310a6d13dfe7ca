/**
 * Runs a race between real sessions twice: with the statements of the store, and with simpler ones in their place. The first
 * must end well, and the second must go wrong in the way that the race describes: otherwise it proves nothing.
 */
import type { PostgresQuery } from 'hookswitch/postgres'
import { type Store, shardOf, type Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import pg from 'pg'
import { expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import type { PgServer } from './pg-cluster.js'
import {
  blockedSessions,
  openNode,
  type QueryHooks,
  type QueueNode,
  waitForBlockedSessions,
} from './postgres-queue-harness.js'
import { emptyTables } from './postgres-truncate.js'

/** A simpler statement in place of those whose name begins with `name`. */
export interface Simpler {
  /** Prefix of the names of statements. */
  readonly name: string
  /** Only statements of this node. Default: all. */
  readonly owner?: string
  readonly rewrite: (text: string) => string
}

export interface Race<Outcome> {
  readonly name: string
  /** What the simpler statements do not do, as the end of "goes wrong …". */
  readonly without: string
  readonly simpler: readonly Simpler[]
  /** Replacements of both runs. */
  readonly always?: readonly Simpler[]
  /** Runs the race and returns what can be seen afterwards. */
  run(arena: Arena): Promise<Outcome>
  readonly good: Outcome
  /** The outcome with the simpler statements. */
  readonly bad: Outcome
}

/** Defines two tests. */
export function race<Outcome>(
  server: PgServer,
  { name, without, simpler, always = [], run, good, bad }: Race<Outcome>,
) {
  const runOnce = async (statements: readonly Simpler[]) => {
    const arena = new Arena(server, statements)
    try {
      await arena.open()
      const outcome = await run(arena)
      expect(arena.unused(), 'simpler statements that never took part').toEqual([])
      return outcome
    } finally {
      await arena.close()
    }
  }
  it(name, async () => {
    expect(await runOnce(always)).toEqual(good)
  })
  it(`${name}: goes wrong ${without}`, async () => {
    expect(await runOnce([...always, ...simpler])).toEqual(bad)
  })
}

/** `text` with each match of `pattern` replaced; throws where there is none, so that no race is run with the real statement. */
export function replacing(name: string, pattern: RegExp, replacement: string, owner?: string): Simpler {
  return {
    name,
    ...(owner !== undefined && { owner }),
    rewrite(text) {
      if (!pattern.test(text)) throw new Error(`${name} does not contain ${pattern}: ${text}`)
      return text.replace(pattern, replacement)
    },
  }
}

/** The schema of all arenas on a server, one after the other. */
const schemas = new WeakMap<PgServer, string>()

/** A schema with nodes and other sessions. The node `node-1` owns and has loaded all shards. */
export class Arena {
  readonly clock: ManualClock = manualClock()
  readonly schema: string
  /** SQLSTATEs that statements of nodes failed with. */
  readonly sqlStates: string[] = []
  node!: QueueNode
  readonly #nodes: QueueNode[] = []
  readonly #sessions: pg.Client[] = []
  readonly #used = new Set<Simpler>()
  /** Names of the statements that were sent, with the node. */
  readonly #sent: string[] = []

  constructor(
    readonly server: PgServer,
    private readonly simpler: readonly Simpler[] = [],
  ) {
    this.schema = schemas.get(server) ?? server.freshSchema()
    schemas.set(server, this.schema)
  }

  async open(hooks: QueryHooks = {}): Promise<void> {
    await emptyTables(this.server, this.schema)
    this.node = await this.openNode('node-1', hooks)
    await this.node.own()
    await this.node.load()
  }

  async openNode(owner: string, hooks: QueryHooks = {}): Promise<QueueNode> {
    const all: QueryHooks = Object.assign(hooks, {
      rewrite: (query: PostgresQuery) => this.#rewrite(owner, query),
      failed: (thrown: unknown) => {
        const { code } = thrown as { code?: unknown }
        if (typeof code === 'string') this.sqlStates.push(code)
      },
    })
    const opened = await openNode(this.server, { schema: this.schema, clock: this.clock, owner, hooks: all })
    this.#nodes.push(opened)
    return opened
  }

  #rewrite(node: string, query: PostgresQuery): PostgresQuery {
    let { name, text } = query
    this.#sent.push(`${node} ${name}`)
    for (const statement of this.simpler) {
      const { owner = node } = statement
      if (owner !== node || !query.name?.startsWith(statement.name)) continue
      this.#used.add(statement)
      text = statement.rewrite(text)
      // Prepared statements are cached by name.
      name = `x_${query.name}`
    }
    return { ...query, text, ...(name !== undefined && { name }) }
  }

  /** How many statements with this prefix of a name a node has sent. */
  statements(name: string, owner: string): number {
    return this.#sent.filter((sent) => sent.startsWith(`${owner} ${name}`)).length
  }

  unused(): readonly string[] {
    return this.simpler.filter((statement) => !this.#used.has(statement)).map(({ name }) => name)
  }

  /** A session of somebody else, with an open transaction. `$schema` stands for the schema. */
  async transaction(): Promise<(sql: string, values?: unknown[]) => Promise<pg.QueryResult>> {
    const client = new pg.Client({ connectionString: this.server.url })
    await client.connect()
    this.#sessions.push(client)
    await client.query('begin')
    return (sql, values) => client.query(sql.replaceAll('$schema', `"${this.schema}"`), values)
  }

  /** Takes the first number of a call, in a transaction: whoever accepts an event of the call waits for its end. */
  async holdNumber(callId: string) {
    const query = await this.transaction()
    await query(
      `insert into $schema.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
        values (1, 0, 0, 1, 'held', 'account', $1, 'channel_create')`,
      [callId],
    )
    return query
  }

  /** Listens to the notifications of the nodes. `received` returns those that were sent until then. */
  async listen(): Promise<{ received(): Promise<readonly string[]> }> {
    const client = new pg.Client({ connectionString: this.server.url })
    const messages: string[] = []
    client.on('notification', ({ payload }) => messages.push(payload ?? ''))
    await client.connect()
    this.#sessions.push(client)
    await client.query(`listen "${this.schema}"`)
    return {
      received: async () => {
        await this.sql('select pg_notify($1, $2)', [this.schema, 'last'])
        await expect.poll(() => messages).toContain('last')
        return messages.filter((text) => text !== 'last')
      },
    }
  }

  sql(text: string, values?: unknown[]) {
    return this.server.sql(text.replaceAll('$schema', `"${this.schema}"`), values)
  }

  async count(table: string): Promise<number> {
    return (await this.sql(`select count(*)::int as count from $schema.${table}`))[0]!.count as number
  }

  blocked(count: number): Promise<void> {
    return waitForBlockedSessions(this.server, count, this.schema)
  }

  /** Resolves when `work` is done, or when so many sessions wait for a lock. Says which. */
  async doneOrBlocked(work: Promise<unknown>, count: number): Promise<'done' | 'blocked'> {
    let isDone = false
    const end = () => {
      isDone = true
    }
    work.then(end, end)
    for (;;) {
      const blocked = await blockedSessions(this.server, this.schema)
      if (isDone) return 'done'
      if (blocked >= count) return 'blocked'
    }
  }

  /** Two nodes with half of the shards each; returns the other one, and a webhook of each. */
  async pair() {
    const { node } = this
    const other = await this.openNode('node-2')
    await other.own()
    const { leaving } = await node.renew()
    await node.store.deliveries.handOver(node.lease, leaving)
    await node.renew()
    await other.renew()
    await other.load()
    await node.load()
    const webhookOf = async (queueNode: QueueNode) => {
      for (;;) {
        const webhook = await queueNode.webhook()
        if (queueNode.lease.shards.includes(shardOf(webhook.id))) return webhook
      }
    }
    return { other, own: await webhookOf(node), theirs: await webhookOf(other) }
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.end()
    for (const node of this.#nodes) await node.close()
  }
}

/** Disables a webhook that is as it was created. */
export const disable = (store: Store, webhook: Webhook): Promise<boolean> =>
  store.webhooks.replace(
    { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 },
    1,
  )

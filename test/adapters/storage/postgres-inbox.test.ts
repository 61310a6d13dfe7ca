import type { InboxEntry } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { acceptanceOf } from '../../../src/testkit/conformance/node.js'
import { freshId, newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { openNode, type QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

function newEntry(overrides: Partial<InboxEntry> = {}): InboxEntry {
  const id = freshId('event')
  return { id, accountId: 'account', callId: 'call', event: `{"id":"${id}"}`, ...overrides }
}

describe.skipIf(!server)("the inbox in the host's transaction", () => {
  const direct = server!
  let node: QueueNode
  let schema: string
  let host: pg.Client
  beforeEach(async () => {
    schema = direct.freshSchema()
    node = await openNode(direct, { schema })
    await node.own()
    await node.load()
    host = new pg.Client({ connectionString: direct.url })
    await host.connect()
    await host.query('begin')
  })
  afterEach(async () => {
    await host.end()
    await node.close()
  })

  const staged = async () => {
    const entries = await node.store.inbox!.staged(node.owner, 99)
    return entries.map(({ id }) => id)
  }
  const put = (entry: InboxEntry) => node.store.inbox!.put(host, [entry])

  it('refuses a client without an open transaction, and writes nothing', async () => {
    await host.query('commit')
    await expect(put(newEntry())).rejects.toMatchObject({ code: 'InvalidOption', field: 'tx' })
    await expect(put(newEntry())).rejects.toThrow(
      'tx has no open transaction: send BEGIN first, and await it',
    )
    expect(await staged()).toEqual([])
    await host.query('begin')
    const entry = newEntry()
    await put(entry)
    await host.query('commit')
    expect(await staged()).toEqual([entry.id])
  })

  it("writes several in their order with one statement: the connection is the host's", async () => {
    const entries = Array.from({ length: 1_000 }, () => newEntry({ callId: 'call' }))
    const query = vi.spyOn(host, 'query')
    await node.store.inbox!.put(host, entries)
    expect(query).toHaveBeenCalledTimes(1)
    await host.query('commit')
    expect(await staged()).toEqual(entries.slice(0, 99).map(({ id }) => id))
    const last = await direct.sql(`select event_id from "${schema}".inbox order by position desc limit 1`)
    expect(last).toEqual([{ event_id: entries.at(-1)!.id }])
  })

  it('drops entries that are rolled back to a savepoint', async () => {
    const [remaining, undone] = [newEntry(), newEntry()]
    await put(remaining)
    await host.query('savepoint before')
    await put(undone)
    await host.query('rollback to savepoint before')
    await host.query('commit')
    expect(await staged()).toEqual([remaining.id])
  })

  it('blocks nothing while it is open: events of the same call are accepted, started, settled and relayed', async () => {
    const webhook = await node.webhook()
    const before = newEntry()
    await put(before)
    await host.query('commit; begin')
    await put(newEntry())
    const [delivery] = await node.accept([webhook], { callId: 'call' })
    await node.start(delivery!)
    await node.settle(delivery!, 'delivered')
    const event = newEvent({ id: before.id, callId: 'call' })
    expect(await node.acceptOne(acceptanceOf(event, [], [before.id]))).toMatchObject({
      events: [{ id: before.id, sequence: 2, duplicate: false }],
    })
    expect(await staged()).toEqual([])
  })

  it('locks the inbox and no other table of the store', async () => {
    await put(newEntry())
    const { rows } = await host.query(
      `select distinct coalesce(i.relname, c.relname) as name
      from pg_locks l join pg_class c on c.oid = l.relation
      left join pg_index x on x.indexrelid = c.oid left join pg_class i on i.oid = x.indrelid
      where l.pid = pg_backend_pid() and c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'i')`,
      [`"${schema}"`],
    )
    expect(rows.map(({ name }) => name)).toEqual(['inbox'])
  })

  it('rejects a pool, a client of another database and other objects, naming tx', async () => {
    const pool = new pg.Pool({ connectionString: direct.url })
    const [{ name }] = (await direct.sql("select 'other_' || pg_backend_pid() as name")) as [{ name: string }]
    await direct.sql(`create database ${name}`)
    const other = new pg.Client({ connectionString: direct.urlOf({ database: name }) })
    await other.connect()
    const rejection = { code: 'InvalidOption', field: 'tx' }
    for (const tx of [pool, other, {}, undefined]) {
      await expect(node.store.inbox!.put(tx, [newEntry()])).rejects.toMatchObject(rejection)
    }
    await pool.end()
    await other.end()
    await direct.sql(`drop database ${name}`)
  })

  it('rejects with the error of PostgreSQL when the entry cannot be written', async () => {
    const entry = newEntry()
    await put(entry)
    await expect(put(entry)).rejects.toMatchObject({ code: '23505' })
    await host.query('rollback')
    expect(await staged()).toEqual([])
  })
})

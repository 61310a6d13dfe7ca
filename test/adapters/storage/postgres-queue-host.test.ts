import type { InboxEntry } from 'hookswitch/store'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freshId, newEvent } from '../../../src/store/conformance/fixtures.js'
import { postgresForTests } from './pg-cluster.js'
import { openNode, type QueueNode } from './postgres-queue-world.js'

const server = await postgresForTests()
afterAll(() => server?.end())

function newEntry(overrides: Partial<InboxEntry> = {}): InboxEntry {
  const id = freshId('event')
  return { id, accountId: 'account', callId: 'call', event: `{"id":"${id}"}`, ...overrides }
}

describe.skipIf(!server)("the host's own transaction", () => {
  const direct = server!
  let node: QueueNode
  let host: pg.Client
  beforeEach(async () => {
    node = await openNode(direct, { schema: direct.freshSchema() })
    await node.own()
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
  const put = (entry: InboxEntry) => node.store.inbox!.put(host, entry)

  it('is accepted when it commits, as a whole, and is nothing when it rolls back', async () => {
    const [one, two, three] = [newEntry(), newEntry(), newEntry()]
    await put(one)
    await put(two)
    expect(await staged()).toEqual([])
    await host.query('commit')
    expect(await staged()).toEqual([one.id, two.id])
    await host.query('begin')
    await put(three)
    await host.query('rollback')
    expect(await staged()).toEqual([one.id, two.id])
  })

  it('is rolled back to a savepoint like anything else in it', async () => {
    const [kept, undone] = [newEntry(), newEntry()]
    await put(kept)
    await host.query('savepoint before')
    await put(undone)
    await host.query('rollback to savepoint before')
    await host.query('commit')
    expect(await staged()).toEqual([kept.id])
  })

  it('holds up nobody while it is open: the same call is accepted, sent and settled, and others admit', async () => {
    const webhook = await node.webhook()
    const before = newEntry()
    await put(before)
    await host.query('commit; begin')
    await put(newEntry())
    const [id] = await node.accept([webhook], { callId: 'call' })
    const claims = await node.claim([webhook])
    expect(claims.map(({ delivery }) => delivery.id)).toEqual([id])
    expect(await node.settle(claims)).toMatchObject([{ kind: 'settled' }])
    const event = newEvent({ id: before.id, callId: 'call' })
    const admission = { events: [event], deliveries: [], maxPending: 9, admits: [before.id] }
    const [admitted] = await node.store.deliveries.accept(admission, node.now())
    expect(admitted).toEqual({ id: before.id, sequence: 2, duplicate: false })
    expect(await staged()).toEqual([])
  })

  it('gets locks on the inbox and on nothing else of ours', async () => {
    await put(newEntry())
    const { rows } = await host.query(
      `select distinct coalesce(i.relname, c.relname) as name
      from pg_locks l join pg_class c on c.oid = l.relation
      left join pg_index x on x.indexrelid = c.oid left join pg_class i on i.oid = x.indrelid
      where l.pid = pg_backend_pid() and c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'i')`,
      [`"${node.schema}"`],
    )
    expect(rows.map(({ name }) => name)).toEqual(['inbox'])
  })

  it('is refused by name where it is none: a pool, a client of another database, a thing', async () => {
    const pool = new pg.Pool({ connectionString: direct.url })
    const [{ name }] = (await direct.sql("select 'other_' || pg_backend_pid() as name")) as [{ name: string }]
    await direct.sql(`create database ${name}`)
    const other = new pg.Client({ connectionString: direct.urlOf({ database: name }) })
    await other.connect()
    const refusal = { code: 'InvalidOption', field: 'tx' }
    for (const tx of [pool, other, {}, undefined]) {
      await expect(node.store.inbox!.put(tx, newEntry())).rejects.toMatchObject(refusal)
    }
    await pool.end()
    await other.end()
    await direct.sql(`drop database ${name}`)
  })

  it('hears from PostgreSQL itself why a row cannot be written', async () => {
    const entry = newEntry()
    await put(entry)
    await expect(put(entry)).rejects.toMatchObject({ code: '23505' })
    await host.query('rollback')
    expect(await staged()).toEqual([])
  })
})

/** Streams of two nodes on one PostgreSQL database, in real time. */
import { createHookswitch, type Hookswitch, type StreamItem, type StreamRequest } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { until } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { liveStatements } from '../../adapters/storage/postgres/sql/live.js'
import { localPostgres } from '../adapters/storage/pg-cluster.js'
import { collectItems } from './harness.js'

// This file has its own server, because one test ends all connections to it.
const server = await localPostgres()
afterAll(() => server?.end())

async function startNode(schema: string): Promise<Hookswitch> {
  const hs = createHookswitch({
    store: postgresStore({ connectionString: server!.url, schema, maxConnections: 4 }),
    secret: 'the secret of these tests',
    pauses: false,
    sender: {
      send: async () => ({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' }),
      close: async () => {},
    },
  }) as Hookswitch
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  return hs
}

async function startNodes() {
  const schema = server!.freshSchema()
  const nodeA = await startNode(schema)
  await nodeA.accounts.ensure([
    { id: 'top', name: 'top', realm: 'top.example' },
    { id: 'below', name: 'below', realm: 'below.example', parentId: 'top' },
    { id: 'other', name: 'other', realm: 'other.example' },
  ])
  return { schema, nodeA, nodeB: await startNode(schema) }
}

const publish = (hs: Hookswitch, callId: string, accountId = 'top', fields: object = {}) =>
  hs.publish({ hook: 'channel_create', accountId, callId, ...fields })

/** Reads a stream of `hs` until the test ends. Resolves when it has items of the node `other`. */
async function follow(hs: Hookswitch, other: Hookswitch, request: StreamRequest) {
  const { items, stop } = collectItems(hs, request)
  const { accountId } = request
  let probes = 0
  await until(
    async () => {
      probes += 1
      if (probes % 20 === 1) {
        await publish(other, 'probe', accountId)
        await other.webhooks.create(accountId, { name: 'probe', uri: 'https://r.example/', hook: 'parking' })
      }
      return items.length > 0
    },
    { description: 'an item of the other node' },
  )
  return { items, stop }
}

/** Whether a statement waits for a lock of the table of live items. */
const isWaiting = async (schema: string) =>
  (
    await server!.sql('select from pg_locks where not granted and relation = $1::regclass', [
      `"${schema}".live`,
    ])
  ).length > 0

/** Calls of events, in order, without those of `follow`. */
const callsOf = (items: readonly StreamItem[]) =>
  items.flatMap(({ type, data }) => {
    const callId = type === 'event' ? (data as { readonly call_id: string }).call_id : 'probe'
    return callId === 'probe' ? [] : [callId]
  })

describe.skipIf(!server)('streams of two nodes on PostgreSQL', () => {
  it('have the events of both, each once, with every field, without a webhook too', async () => {
    const { nodeA, nodeB } = await startNodes()
    const request = { accountId: 'top', types: ['event'], descendants: true } as const
    const readers = [await follow(nodeA, nodeB, request), await follow(nodeB, nodeA, request)]
    const fields = { customChannelVars: { text: 'Zoë "\u{1f4de}" \\', deep: { n: [1, null] } }, from: 'a@b' }
    for (let n = 0; n < 30; n += 1) {
      await publish(n % 2 ? nodeA : nodeB, `c${n}`, n % 3 ? 'top' : 'below', fields)
      await publish(n % 2 ? nodeB : nodeA, `o${n}`, 'other', fields)
    }
    const wanted = Array.from({ length: 30 }, (_, n) => `c${n}`).toSorted()
    for (const { items } of readers) {
      await until(() => callsOf(items).length >= 30)
      expect(callsOf(items).toSorted()).toEqual(wanted)
      expect(
        items.find(({ type, data }) => type === 'event' && 'call_id' in data && data.call_id === 'c1'),
      ).toMatchObject({
        data: { account_id: 'top', from: 'a@b', custom_channel_vars: fields.customChannelVars, sequence: 1 },
      })
      expect(items.some(({ type }) => type === 'gap')).toBe(false)
    }
    const documents = readers.map(({ items }) =>
      Object.fromEntries(items.map(({ data }) => [(data as { call_id: string }).call_id, data])),
    )
    for (const id of wanted) expect(documents[0]![id]).toEqual(documents[1]![id])
  })

  it('have the changes of webhooks by both', async () => {
    const { nodeA, nodeB } = await startNodes()
    const { items } = await follow(nodeA, nodeB, { accountId: 'top', types: ['webhook'] })
    const { id } = await nodeB.webhooks.create('top', { name: 'w', uri: 'https://r.example/', hook: 'all' })
    await nodeB.webhooks.patch('top', id, { enabled: false })
    await nodeA.webhooks.patch('top', id, { enabled: true })
    await nodeB.webhooks.remove('top', id)
    const changes = () =>
      items.flatMap(({ data }) =>
        'id' in data && data.id === id ? [(data as { change: string }).change] : [],
      )
    await until(() => changes().length >= 4)
    expect(changes().toSorted()).toEqual(['changed', 'created', 'deleted', 'disabled'])
  })

  it('are not watched any more when nobody reads', async () => {
    const { nodeA, nodeB, schema } = await startNodes()
    const { stop } = await follow(nodeA, nodeB, { accountId: 'top', types: ['event'] })
    const watches = () => server!.sql(`select from "${schema}".live_watch`)
    expect(await watches()).toHaveLength(1)
    stop()
    await until(async () => (await watches()).length === 0)
  })

  it('show no item that was erased before it was read, however erasure and writing overlap', async () => {
    const { nodeA, nodeB, schema } = await startNodes()
    const { items } = await follow(nodeA, nodeB, { accountId: 'top', types: ['event'] })
    const client = new pg.Client({ connectionString: server!.url })
    await client.connect()
    onTestFinished(() => client.end())
    // An erasure has removed the event and the items, and is not yet committed, when the item is written.
    await client.query('begin')
    await client.query(liveStatements(`"${schema}"`).lock.text)
    await publish(nodeB, 'gone')
    await until(() => isWaiting(schema), { description: 'the item waits for the erasure' })
    await client.query(`delete from "${schema}".event where call_id = 'gone'`)
    await client.query('commit')
    await publish(nodeB, 'kept')
    await until(() => callsOf(items).includes('kept'))
    expect(callsOf(items)).toEqual(['kept'])
    expect(items.some(({ type }) => type === 'gap')).toBe(false)
    const stored = await server!.sql(`select from "${schema}".live where items::text like '%gone%'`)
    expect(stored).toEqual([])

    // The item of another event is being written when an erasure begins.
    await client.query('begin')
    await client.query(
      `insert into "${schema}".live (writer, number, account_ids, call_ids, items)
        values ('a writer', 1, '{top,top}', '{kept,later}', array['{"type":"-","of":"kept"}', '{"type":"-"}'])`,
    )
    const erased = nodeB.erase({ accountId: 'top', callId: 'kept' })
    await until(() => isWaiting(schema), { description: 'the erasure waits for the item' })
    await client.query('commit')
    await erased
    expect(await server!.sql(`select from "${schema}".live where items::text like '%kept%'`)).toEqual([])
    expect(
      await server!.sql(`select items[2] as item from "${schema}".live where writer = 'a writer'`),
    ).toEqual([{ item: '{"type":"-"}' }])
  })

  it('go on after all connections were lost', async () => {
    const { nodeA, nodeB } = await startNodes()
    const { items } = await follow(nodeA, nodeB, { accountId: 'top', types: ['event'] })
    await server!.sql(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await until(
      async () => {
        await publish(nodeB, 'after').catch(() => {})
        return callsOf(items).includes('after')
      },
      { timeoutMs: 30_000 },
    )
  })
})

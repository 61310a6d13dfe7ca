/** Streams over stores that outlive the process, in real time. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constant, createHookswitch, type Hookswitch, type StreamItem, type StreamRequest } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import { until } from 'hookswitch/testkit'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { collectItems } from './harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

type Store = Parameters<typeof createHookswitch>[0]['store']

async function startNode(store: Store): Promise<Hookswitch> {
  const hs = createHookswitch({
    store,
    retryPolicy: constant(1, { jitter: 0 }),
    defaultRetries: 0,
    pauses: false,
    autoDisable: false,
    secret: 'the secret of these tests',
    sender: {
      send: async ({ url }) => ({
        kind: 'response',
        status: url.endsWith('/fails') ? 500 : 200,
        headers: [],
        body: '',
        bodyEnd: 'complete',
      }),
      close: async () => {},
    },
  }) as Hookswitch
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  return hs
}

async function createAccounts(hs: Hookswitch): Promise<void> {
  await hs.accounts.ensure([
    { id: 'top', name: 'top', realm: 'top.example' },
    { id: 'below', name: 'below', realm: 'below.example', parentId: 'top' },
    { id: 'other', name: 'other', realm: 'other.example' },
  ])
}

const webhook = async (hs: Hookswitch, accountId: string, path = '') =>
  (await hs.webhooks.create(accountId, { name: 'w', uri: `https://r.example/${path}`, hook: 'all' })).id

/** Reads a stream until it is stopped. Resolves when it is open. */
async function follow(hs: Hookswitch, request: StreamRequest) {
  const { items, stop } = collectItems(hs, request)
  // Changes of webhooks are announced as soon as the stream is open.
  const probe = await webhook(hs, request.accountId, 'probe')
  const isOpen = () => items.some(({ data }) => 'id' in data && data.id === probe)
  let changes = 0
  await until(
    async () => {
      changes += 1
      await hs.webhooks.patch(request.accountId, probe, { name: `probe ${changes}` })
      return isOpen()
    },
    { description: 'the stream is open' },
  )
  await hs.webhooks.remove(request.accountId, probe)
  return { items, stop }
}

const attemptIds = (items: readonly StreamItem[]) =>
  items.flatMap(({ type, data }) => (type === 'attempt' ? [String((data as { id: unknown }).id)] : []))
const lastIdOf = (items: readonly StreamItem[]) => {
  const last = items.findLast(({ type }) => type === 'attempt') as { readonly id: string }
  return last.id
}

describe('a stream over SQLite', () => {
  it('continues after a restart of the process, without a gap and without a repeat', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stream-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'hookswitch.db')
    const first = await startNode(sqliteStore({ path, inThread: true }))
    await createAccounts(first)
    await webhook(first, 'top')
    const reader = await follow(first, { accountId: 'top' })
    for (let n = 0; n < 5; n += 1)
      await first.publish({ hook: 'channel_create', accountId: 'top', callId: `a${n}` })
    await until(() => attemptIds(reader.items).length === 5)
    const lastId = lastIdOf(reader.items)
    reader.stop()
    await first.publish({ hook: 'channel_create', accountId: 'top', callId: 'between' })
    await until(async () => (await first.webhooks.attempts('top')).length === 6)
    await first.close()

    const second = await startNode(sqliteStore({ path, inThread: true }))
    const next = await follow(second, { accountId: 'top', lastId })
    await second.publish({ hook: 'channel_create', accountId: 'top', callId: 'after' })
    await until(() => attemptIds(next.items).length >= 2)
    const calls = next.items.flatMap(({ type, data }) =>
      type === 'attempt' ? [(data as { call_id: string }).call_id] : [],
    )
    expect(calls).toEqual(['between', 'after'])
    expect(next.items.some(({ type }) => type === 'gap')).toBe(false)
  })
})

describe.skipIf(!server)('a stream over PostgreSQL', () => {
  const connectionString = server?.url ?? ''

  it('has the attempts of all nodes, each once, whichever node it is read from', async () => {
    const schema = server!.freshSchema()
    const node = await startNode(postgresStore({ connectionString, schema }))
    await createAccounts(node)
    // Enough webhooks that both nodes own some of their shards.
    for (let n = 0; n < 12; n += 1) await webhook(node, n % 2 ? 'top' : 'below', n % 3 ? '' : 'fails')
    await webhook(node, 'other')
    const two = await startNode(postgresStore({ connectionString, schema }))
    const request = { accountId: 'top', descendants: true } as const
    const readers = [await follow(node, request), await follow(two, request)]
    const publish = async (from: number, to: number) => {
      for (let n = from; n < to; n += 1) {
        const hs = n % 2 ? node : two
        for (const accountId of ['top', 'below', 'other'])
          await hs.publish({ hook: 'channel_create', accountId, callId: `c${n}` })
      }
    }
    const storedIds = async () =>
      (
        await Promise.all(
          ['top', 'below'].map((id) => node.webhooks.attempts(id, undefined, { limit: 1_000 })),
        )
      )
        .flat()
        .map(({ id }) => id)
    await publish(0, 10)
    await until(async () => (await storedIds()).length === 120)
    const stored = (await storedIds()).sort()
    for (const { items } of readers) {
      await until(() => attemptIds(items).length >= 120)
      expect(attemptIds(items).sort()).toEqual(stored)
    }

    // The other node continues where the first one stopped.
    const { items, stop } = readers[0]!
    const lastId = lastIdOf(items)
    stop()
    await publish(10, 12)
    await until(async () => (await storedIds()).length === 144)
    const next = await follow(two, { ...request, lastId })
    const all = new Set(await storedIds())
    await until(() => new Set([...attemptIds(items), ...attemptIds(next.items)]).size === all.size)
    expect(new Set(attemptIds(next.items)).size).toBe(attemptIds(next.items).length)
    expect(next.items.some(({ type }) => type === 'gap')).toBe(false)
  })

  it('finds a record that becomes visible after one with a higher position', async () => {
    const schema = server!.freshSchema()
    const hs = await startNode(postgresStore({ connectionString, schema }))
    await createAccounts(hs)
    const webhookId = await webhook(hs, 'top')
    const reader = await follow(hs, { accountId: 'top' })
    await hs.publish({ hook: 'channel_create', accountId: 'top', callId: 'a' })
    await until(() => attemptIds(reader.items).length === 1)
    const client = new pg.Client({ connectionString })
    await client.connect()
    onTestFinished(() => client.end())
    // As another node writes it: its position is taken before, its commit comes after that of the next record.
    const copy = `insert into ${schema}.attempt
      select (jsonb_populate_record(a, jsonb_build_object('position', $1::bigint, 'doc', replace(a.doc, $2, $3)))).*
      from ${schema}.attempt a where webhook_key = (select key from ${schema}.webhook where id = $4) limit 1`
    const next = async () =>
      Number((await client.query(`select nextval('${schema}.position') as position`)).rows[0].position)
    const early = await next()
    await hs.publish({ hook: 'channel_create', accountId: 'top', callId: 'b' })
    await until(() => attemptIds(reader.items).length === 2)
    const id = attemptIds(reader.items)[0]!
    const late = `${id.slice(0, -4)}late`
    await client.query(copy, [early, id, late, webhookId])
    await until(() => attemptIds(reader.items).includes(late), { description: 'the late record' })
  })
})

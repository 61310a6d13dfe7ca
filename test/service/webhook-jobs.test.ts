/** Jobs of operators over the webhooks of all accounts, in each store, on one node and on several. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHookswitch, type HookswitchOptions, memoryStore } from 'hookswitch'
import type { Observation, Sender } from 'hookswitch/adapter'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toStoredJob } from '../../src/runtime/webhook-job.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { fakeSender, responseWith } from '../delivery/harness.js'

const server = await postgresForTests()

/** Stores that nodes open, one after the other or at the same time. */
const STORES: readonly (readonly [name: string, isShared: boolean, make: () => () => Store])[] = [
  [
    'memory',
    false,
    () => {
      const store = memoryStore()
      return () => store
    },
  ],
  [
    'SQLite',
    false,
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'jobs-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      return () => sqliteStore({ path: join(folder, 'calls.db'), inThread: true })
    },
  ],
  ...(server
    ? [
        [
          'PostgreSQL',
          true,
          () => {
            const schema = server.freshSchema()
            return () => postgresStore({ connectionString: server.url, schema, maxConnections: 3 })
          },
        ] as const,
      ]
    : []),
]

const refused: Observation = {
  kind: 'no_response',
  failure: 'connection',
  detail: 'refused',
  cause: 'refused',
}

async function startNode(store: Store, options: Partial<HookswitchOptions> = {}) {
  const sender = fakeSender()
  /** Hosts that take what is sent; the others refuse connections, or answer 410. */
  const healthy = new Set<string>()
  sender.script = ({ url }) => {
    const { hostname } = new URL(url)
    if (healthy.has(hostname)) return responseWith(200)
    return hostname.startsWith('gone') ? responseWith(410) : refused
  }
  const hs = createHookswitch({
    store,
    sender: sender as Sender,
    secret: 'a secret of all nodes',
    operators: ['ops'],
    ...options,
  } as HookswitchOptions)
  onTestFinished(() => hs.close({ drainMs: 0 }))
  await hs.start()
  return { hs, sender, healthy }
}

type Node = Awaited<ReturnType<typeof startNode>>

/** Webhooks by host; each account has one per host. */
async function createWebhooks({ hs }: Node, hosts: readonly string[]): Promise<readonly [string, string][]> {
  const created: [string, string][] = []
  for (const id of ['acme', 'beta']) {
    await hs.accounts.create({ id, name: id, realm: `${id}.example` })
    for (const host of hosts) {
      const settings = { name: host, uri: `https://${host}/${id}`, hook: 'channel_create' } as const
      created.push([id, (await hs.webhooks.create(id, settings)).id])
    }
  }
  return created
}

/** Publishes until all webhooks are in the state. */
async function failUntil({ hs }: Node, created: readonly [string, string][], state: string): Promise<void> {
  for (const accountId of ['acme', 'beta'])
    for (let call = 0; call < 4; call++)
      await hs.publish({ hook: 'channel_create', accountId, callId: `${accountId}-${call}` })
  await until(async () => {
    const states = await statesOf(hs, created)
    return states.every((found) => found === state)
  })
}

const statesOf = (hs: Node['hs'], created: readonly [string, string][]) =>
  Promise.all(created.map(async ([accountId, id]) => (await hs.webhooks.read(accountId, id)).health.state))

const completed = (hs: Node['hs'], id: string) =>
  until(async () => (await hs.operator.jobs.read(id)).state === 'completed')

describe.each(STORES)('a job in %s', (_, isShared, make) => {
  it('ends the pauses that are selected, after it has counted them', { timeout: 60_000 }, async () => {
    const node = await startNode(make()())
    const { hs, healthy } = node
    const created = await createWebhooks(node, ['a.example', 'b.example'])
    await failUntil(node, created, 'paused')
    const { jobs } = hs.operator
    // What is in flight when the pause begins waits after it.
    await until(async () => (await jobs.count({ action: 'resume' })).deliveries === 16)
    expect(await jobs.count({ action: 'resume' })).toEqual({ webhooks: 4, accounts: 2, deliveries: 16 })
    const selection = { host: 'A.example', accountId: 'acme', cause: 'refused', untilMs: Date.now() }
    expect(await jobs.count({ action: 'resume', ...selection })).toEqual({
      webhooks: 1,
      accounts: 1,
      deliveries: 4,
    })
    for (const none of [{ cause: '503' }, { host: 'a.example:81' }, { sinceMs: Date.now() + 60_000 }])
      expect(await jobs.count({ action: 'resume', ...none })).toMatchObject({ webhooks: 0 })
    expect(await jobs.count({ action: 'reenable' })).toMatchObject({ webhooks: 0 })
    expect(await jobs.count({ action: 'hold', accountId: 'beta' })).toEqual({
      webhooks: 2,
      accounts: 1,
      deliveries: 8,
    })
    expect(await jobs.count({ action: 'hold' })).toEqual({ webhooks: 4, accounts: 2, deliveries: 16 })

    healthy.add('a.example')
    const job = await jobs.start({ action: 'resume', host: 'a.example' })
    expect(job).toMatchObject({ action: 'resume', count: 2, changed: 0, state: 'running' })
    await completed(hs, job.id)
    expect(await jobs.read(job.id)).toMatchObject({ changed: 2, endedMs: expect.any(Number) })
    await until(async () => (await statesOf(hs, created)).join() === 'ok,paused,ok,paused')
    expect(await jobs.list()).toMatchObject([{ id: job.id, selection: { host: 'a.example' } }])
    expect(await hs.replays.list()).toEqual([])
    await expect(hs.replays.read(job.id)).rejects.toMatchObject({ code: 'NotFound', id: job.id })
    // Nothing is left to do: the same command ends at once.
    expect(await jobs.start({ action: 'resume', host: 'a.example' })).toMatchObject({
      count: 0,
      state: 'completed',
    })
  })

  it('enables what the service disabled, over a restart', { timeout: 60_000 }, async () => {
    const open = make()
    const first = await startNode(open())
    const created = await createWebhooks(first, ['gone.example'])
    await failUntil(first, created, 'disabled')
    const byOwner = await first.hs.webhooks.create('acme', {
      name: 'off',
      uri: 'https://off.example/',
      hook: 'channel_create',
      enabled: false,
    })
    const { jobs } = first.hs.operator
    expect(await jobs.count({ action: 'reenable', cause: '410' })).toMatchObject({ webhooks: 2, accounts: 2 })
    const job = await jobs.start({ action: 'reenable' })
    const again = await jobs.start({ action: 'reenable', host: undefined })
    // The same request returns the job, unless it has ended already.
    expect(again.id === job.id || again.state === 'completed').toBe(true)
    await first.hs.close()
    const second = await startNode(open())
    await completed(second.hs, job.id)
    expect(await second.hs.operator.jobs.read(job.id)).toMatchObject({ count: 2, changed: 2 })
    expect(await statesOf(second.hs, created)).toEqual(['ok', 'ok'])
    expect((await second.hs.webhooks.read('acme', byOwner.id)).enabled).toBe(false)
  })

  it.runIf(isShared)(
    'is worked on by one of several nodes, and seen by all',
    { timeout: 60_000 },
    async () => {
      const open = make()
      const nodes = [await startNode(open()), await startNode(open())]
      const [first, second] = nodes as [Node, Node]
      const created = await createWebhooks(first, ['a.example', 'b.example', 'c.example'])
      await failUntil(first, created, 'paused')
      const ids: string[] = []
      for (const { hs } of nodes) ids.push((await hs.operator.jobs.start({ action: 'resume' })).id)
      for (const { hs } of nodes) for (const id of ids) await completed(hs, id)
      const jobs = await Promise.all([...new Set(ids)].map((id) => second.hs.operator.jobs.read(id)))
      expect(jobs.reduce((sum, { changed }) => sum + changed, 0)).toBe(created.length)
    },
  )
})

const aJob = {
  id: 'f'.repeat(32),
  action: 'resume',
  selection: {},
  state: 'running',
  count: 2,
  changed: 0,
  revision: 1,
} as const

describe('a job', () => {
  it('is paused, continued and cancelled, and ends once', async () => {
    const store = memoryStore()
    const node = await startNode(store)
    const created = await createWebhooks(node, ['a.example'])
    await failUntil(node, created, 'paused')
    const { jobs } = node.hs.operator
    const paused = (digit: string) =>
      store.replays.create(
        toStoredJob({ ...aJob, id: digit.repeat(32), state: 'paused', createdMs: Date.now() + 1 }),
      )
    await paused('a')
    const id = 'a'.repeat(32)
    expect((await jobs.start({ action: 'resume' })).id).toBe(id)
    expect(await jobs.set(id, 'paused')).toMatchObject({ state: 'paused', revision: 1 })
    expect((await jobs.set(id, 'cancelled')).endedMs).toEqual(expect.any(Number))
    await expect(jobs.set(id, 'running')).rejects.toMatchObject({ code: 'Conflict', field: 'state' })
    await expect(jobs.set(id, 'done' as never)).rejects.toMatchObject({ field: 'state' })
    await expect(jobs.read('nope')).rejects.toMatchObject({ code: 'NotFound', id: 'nope' })
    await paused('b')
    await jobs.set('b'.repeat(32), 'running')
    await completed(node.hs, 'b'.repeat(32))
    expect(await jobs.read('b'.repeat(32))).toMatchObject({ changed: 2 })
  })

  it('ends no pause that began after it was requested, so that a node that takes it over repeats nothing', async () => {
    const store = memoryStore()
    const node = await startNode(store)
    const created = await createWebhooks(node, ['a.example', 'b.example'])
    const requestedMs = Date.now() - 1
    await failUntil(node, created, 'paused')
    const job = { ...aJob, createdMs: requestedMs }
    await store.replays.create(toStoredJob(job))
    node.hs.wake()
    await completed(node.hs, job.id)
    expect(await node.hs.operator.jobs.read(job.id)).toMatchObject({ changed: 0 })
    expect(new Set(await statesOf(node.hs, created))).toEqual(new Set(['paused']))
  })

  it.each<[object, string]>([
    [{}, 'action'],
    [{ action: 'delete' }, 'action'],
    [{ action: 'resume', states: ['paused'] }, 'states'],
    [{ action: 'resume', accountId: 5 }, 'accountId'],
    [{ action: 'resume', cause: 'refusd' }, 'cause'],
    [{ action: 'resume', cause: '999' }, 'cause'],
    [{ action: 'resume', host: 'https://a.example/' }, 'host'],
    [{ action: 'resume', host: 'a b' }, 'host'],
    [{ action: 'resume', sinceMs: '1h' }, 'sinceMs'],
    [{ action: 'resume', untilMs: Number.NaN }, 'untilMs'],
    [{ action: 'resume', sinceMs: 2, untilMs: 1 }, 'sinceMs'],
    [{ action: 'hold', host: 'a.example' }, 'host'],
  ])('with %j is refused and names %s', async (request, field) => {
    const { hs } = await startNode(memoryStore())
    const { jobs } = hs.operator
    const calls = 'action' in request && request.action === 'hold' ? [jobs.count] : [jobs.count, jobs.start]
    for (const call of calls)
      await expect(call(request as never)).rejects.toMatchObject({ code: 'InvalidInput', field })
    expect(await jobs.list()).toEqual([])
  })

  it('of an unknown account is refused by its id, and a misspelt cause suggests the right one', async () => {
    const { hs } = await startNode(memoryStore())
    const start = (request: object) => hs.operator.jobs.start({ action: 'resume', ...request })
    await expect(start({ accountId: 'nope' })).rejects.toMatchObject({ code: 'NotFound', id: 'nope' })
    await expect(start({ cause: 'refusd' })).rejects.toThrow("did you mean 'refused'?")
    await expect(hs.operator.jobs.list({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
    await expect(hs.operator.jobs.list({ after: 5 as never })).rejects.toMatchObject({ field: 'after' })
  })
})

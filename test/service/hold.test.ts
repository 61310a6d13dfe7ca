/** Deliveries that are held: accepted and not sent, over a restart and on all nodes, until an operator releases them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHookswitch, type HookswitchOptions, memoryStore } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHolds } from '../../src/runtime/holds.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { fakeSender } from '../delivery/harness.js'

const server = await postgresForTests()

/** Stores that nodes open one after the other, and at the same time where they are shared. */
const STORES: readonly (readonly [name: string, make: () => () => Store])[] = [
  [
    'memory',
    () => {
      const store = memoryStore()
      return () => store
    },
  ],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'hold-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      return () => sqliteStore({ path: join(folder, 'calls.db'), inThread: true })
    },
  ],
  ...(server
    ? [
        [
          'PostgreSQL',
          () => {
            const schema = server.freshSchema()
            return () => postgresStore({ connectionString: server.url, schema, maxConnections: 3 })
          },
        ] as const,
      ]
    : []),
]

async function startNode(store: Store, options: Partial<HookswitchOptions> = {}) {
  const sender = fakeSender()
  const hs = createHookswitch({
    store,
    sender: sender as Sender,
    secret: 'a secret of all nodes',
    ...options,
  } as HookswitchOptions)
  onTestFinished(() => hs.close())
  await hs.start()
  const sent = () => sender.requests.map(({ body }) => JSON.parse(body!).call_id)
  const publish = (accountId: string, callId: string) =>
    hs.publish({ hook: 'channel_create', accountId, callId })
  return { hs, sender, sent, publish }
}

type Node = Awaited<ReturnType<typeof startNode>>

async function createAccounts({ hs }: Node): Promise<Readonly<Record<string, string>>> {
  const webhooks: Record<string, string> = {}
  for (const id of ['acme', 'beta']) {
    await hs.accounts.create({ id, name: id, realm: `${id}.example` })
    const webhook = { name: 'w', uri: `https://${id}.example/`, hook: 'channel_create', retries: 1 } as const
    webhooks[id] = (await hs.webhooks.create(id, webhook)).id
  }
  return webhooks
}

describe.each(STORES)('a hold in %s', (_, make) => {
  it('keeps all deliveries from being sent, over a restart, until it is released', {
    timeout: 90_000,
  }, async () => {
    const open = make()
    const first = await startNode(open(), { hold: true })
    const { acme } = await createAccounts(first)
    expect(await first.hs.operator.holds()).toEqual({ all: true, accountIds: [] })
    await first.publish('acme', 'one')
    await first.publish('beta', 'two')
    const [waiting] = await first.hs.webhooks.deliveries('acme', acme!, { limit: 1 })
    expect(waiting).toMatchObject({ state: 'waiting', attempts: 0 })
    expect(await first.hs.webhooks.explain('acme', waiting!.id)).toBe(
      'Waits: an operator holds all deliveries of the account.',
    )
    await first.hs.close()
    expect(first.sent()).toEqual([])

    // The option is not needed again.
    const second = await startNode(open())
    expect(await second.hs.operator.holds()).toEqual({ all: true, accountIds: [] })
    await second.publish('acme', 'three')
    expect(await second.hs.operator.hold({ accountId: 'beta' })).toEqual({ all: true, accountIds: ['beta'] })
    expect(second.sent()).toEqual([])
    expect(await second.hs.operator.release()).toEqual({ all: false, accountIds: ['beta'] })
    await until(() => second.sent().length === 2)
    expect(second.sent().sort()).toEqual(['one', 'three'])
    expect(await second.hs.operator.release({ accountId: 'beta' })).toEqual({ all: false, accountIds: [] })
    await until(() => second.sent().length === 3)
    expect(second.sent()[2]).toBe('two')
  })

  it('of one account does not concern the others', async () => {
    const node = await startNode(make()())
    await createAccounts(node)
    await node.hs.operator.hold({ accountId: 'acme' })
    await node.publish('acme', 'held')
    await node.publish('beta', 'sent')
    await until(() => node.sent().length === 1)
    expect(node.sent()).toEqual(['sent'])
    await expect(node.hs.operator.hold({ accountId: 'unknown' })).rejects.toMatchObject({ code: 'NotFound' })
    await node.hs.operator.release({ accountId: 'acme' })
    await until(() => node.sent().length === 2)
  })
})

describe('a hold', () => {
  it('ends with its account, and a release of an unknown account names it', async () => {
    const node = await startNode(memoryStore())
    await createAccounts(node)
    const { operator, accounts } = node.hs
    await operator.hold({ accountId: 'acme' })
    expect(await operator.release({ accountId: 'beta' })).toEqual({ all: false, accountIds: ['acme'] })
    await expect(operator.release({ accountId: 'nope' })).rejects.toMatchObject({
      code: 'NotFound',
      id: 'nope',
    })
    await accounts.remove('acme')
    expect(await operator.holds()).toEqual({ all: false, accountIds: [] })
  })

  it('of all accounts is not ended by a release of what is no account', async () => {
    const { hs } = await startNode(memoryStore(), { hold: true })
    for (const accountId of [null, 5, '*'])
      for (const call of [hs.operator.release, hs.operator.hold])
        await expect(call({ accountId } as never)).rejects.toMatchObject({ code: 'NotFound' })
    expect(await hs.operator.holds()).toEqual({ all: true, accountIds: [] })
  })

  it('is not forgotten when an earlier read of the holds is answered later', async () => {
    const stored = new Set<string>()
    const answers: (() => void)[] = []
    const store = {
      list: () => {
        const scopes = [...stored]
        return new Promise<readonly string[]>((resolve) => answers.push(() => resolve(scopes)))
      },
      put: async (scope: string) => stored.size < stored.add(scope).size,
      remove: async (scope: string) => stored.delete(scope),
    }
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const holds = createHolds(store, { lineage: async () => [] }, log, () => {})
    const earlier = holds.read()
    const held = holds.set(true, undefined)
    await until(() => answers.length === 2)
    answers[1]!()
    await held
    answers[0]!()
    await earlier
    expect(holds.isHeld('acme')).toBe(true)
  })

  it('holds what is being committed', async () => {
    const store = memoryStore()
    const { commit } = store.deliveries
    let isCommitting = false
    let proceed = () => {}
    const deliveries: Store['deliveries'] = {
      ...store.deliveries,
      async commit(group) {
        const result = await commit(group)
        if (!isCommitting && group.starting) {
          isCommitting = true
          await new Promise<void>((resolve) => (proceed = resolve))
        }
        return result
      },
    }
    const node = await startNode({ ...store, deliveries })
    const { acme } = await createAccounts(node)
    const published = node.publish('acme', 'one')
    await until(() => isCommitting)
    await node.hs.operator.hold()
    proceed()
    await published
    const states = async () => (await node.hs.webhooks.deliveries('acme', acme!)).map(({ state }) => state)
    await until(async () => (await states())[0] === 'waiting')
    expect(node.sent()).toEqual([])
    await node.hs.operator.release()
    await until(async () => (await states())[0] === 'delivered')
    expect(node.sent()).toEqual(['one'])
  })

  it('lets requests in flight end, and holds their retries', async () => {
    const clock = manualClock()
    const node = await startNode(memoryStore(), { clock, pauses: false })
    await createAccounts(node)
    let respond = (_: unknown) => {}
    node.sender.script = () => new Promise((resolve) => (respond = resolve)) as never
    await node.publish('acme', 'one')
    await clock.settle()
    expect(node.sent()).toEqual(['one'])
    await node.hs.operator.hold()
    respond({ kind: 'response', status: 500, headers: [], body: '', bodyEnd: 'complete' })
    await clock.advance(3_600_000)
    expect(node.sent()).toEqual(['one'])
    node.sender.script = () =>
      ({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' }) as never
    await node.hs.operator.release()
    await clock.settle()
    expect(node.sent()).toEqual(['one', 'one'])
  })

  it('does not stop the clock: what is too old when it is released expires', async () => {
    const clock = manualClock()
    const node = await startNode(memoryStore(), { clock, hold: true, defaultMaxAgeSeconds: 3_600 })
    const { acme } = await createAccounts(node)
    await node.publish('acme', 'old')
    await clock.advance(2 * 3_600_000)
    await node.publish('acme', 'young')
    const states = async () =>
      (await node.hs.webhooks.deliveries('acme', acme!, { limit: 9 })).map(({ state }) => state)
    expect(await states()).toEqual(['waiting', 'waiting'])
    await node.hs.operator.release()
    await clock.settle()
    expect(node.sent()).toEqual(['young'])
    expect((await states()).sort()).toEqual(['delivered', 'expired'])
  })

  it('is followed by other nodes of a shared store, which one of them ends', async () => {
    const clock = manualClock()
    const store = memoryStore({ shared: true, clock })
    const nodes = [await startNode(store, { clock }), await startNode(store, { clock })] as const
    await createAccounts(nodes[0])
    // The nodes share the webhooks.
    await clock.advance(60_000)
    await nodes[0].hs.operator.hold()
    await clock.advance(10_000)
    for (const callId of ['a', 'b', 'c', 'd']) {
      await nodes[0].publish('acme', callId)
      await nodes[1].publish('beta', callId)
    }
    await clock.advance(60_000)
    expect(nodes.flatMap(({ sent }) => sent())).toEqual([])
    await nodes[1].hs.operator.release()
    await clock.advance(20_000)
    expect(nodes.flatMap(({ sent }) => sent())).toHaveLength(8)
  })
})

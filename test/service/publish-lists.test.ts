/** Lists of events that the host publishes, on every store: each for itself, all or none, and in the host's transaction. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import {
  type CustomHook,
  createHookswitch,
  errorCode,
  type Hookswitch,
  type HookswitchError,
  type HookswitchOptions,
  memoryStore,
} from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { withInbox } from '../support/inbox-store.js'
import { propertyRuns } from '../support/property-runs.js'

type Store = HookswitchOptions['store']

const server = await postgresForTests()
const folder = mkdtempSync(join(tmpdir(), 'publish-lists-'))
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})
afterAll(async () => {
  await server?.end()
  rmSync(folder, { recursive: true })
})

let files = 0
const STORES: readonly (readonly [string, (() => Store) | undefined])[] = [
  ['memory', memoryStore],
  ['SQLite', () => sqliteStore({ path: join(folder, `${++files}.db`), inThread: true })],
  [
    'PostgreSQL',
    server && (() => postgresStore({ connectionString: server.url, schema: server.freshSchema() })),
  ],
]

/** An instance with the accounts `acme` and `globex`, that counts what it commits. */
async function start(store: Store, options: Partial<HookswitchOptions> = {}) {
  const commits: number[] = []
  const { commit } = store.deliveries
  const deliveries: Store['deliveries'] = {
    ...store.deliveries,
    commit(group) {
      const count = group.accepted.flatMap(({ events }) => events).length
      if (count > 0) commits.push(count)
      return commit(group)
    },
  }
  const counted: Record<string, number> = {}
  const hs: Hookswitch<CustomHook> = createHookswitch({
    store: { ...store, deliveries },
    secret: 'the secret of these tests',
    metrics: {
      count(name, by, label) {
        const key = label === undefined ? name : `${name} ${label}`
        if (name.startsWith('hookswitch_events_')) counted[key] = (counted[key] ?? 0) + by
      },
      observe() {},
      watch() {},
    },
    hooks: [] as readonly CustomHook[],
    ...options,
  })
  await hs.start()
  cleanups.push(() => hs.close({ drainMs: 0 }))
  for (const id of ['acme', 'globex']) await hs.accounts.create({ id, name: id, realm: `${id}.example` })
  const heard: string[] = []
  hs.events.on('event', ({ eventId }) => void heard.push(eventId))
  return { hs, commits, counted, heard }
}

const call = (callId: string, changes: object = {}) => ({
  hook: 'channel_create',
  accountId: 'acme',
  callId,
  ...changes,
})

const refusal = (error: HookswitchError | undefined) => [error?.code, error?.field ?? error?.id]

describe.each(STORES)('a list of events on %s', (_, open) => {
  const run = it.skipIf(open === undefined)

  run('is accepted in its order by one commit, with a result for each event', async () => {
    const { hs, commits, counted, heard } = await start(open!())
    const list = [call('a'), call('b', { accountId: 'globex' }), call('a'), call('a'), call('b')]
    const results = await hs.publish(list)
    expect(results.map((result) => result.error ?? result.sequence)).toEqual([1, 1, 2, 3, 1])
    expect(results.map((result) => result.error ?? result.duplicate)).toEqual(list.map(() => false))
    const ids = results.map(({ eventId }) => eventId)
    expect(new Set(ids).size).toBe(5)
    expect([heard, commits, counted]).toEqual([ids, [5], { hookswitch_events_accepted_total: 5 }])
  })

  run('has an error for each event that is refused, and the others are accepted', async () => {
    const { hs, counted, heard } = await start(open!())
    await hs.publish(call('a', { idempotencyKey: 'used' }))
    const results = await hs.publish([
      call('a'),
      call('a', { hook: 'channel_creat' }),
      call('a', { accountId: 'unknown' }),
      call('other', { idempotencyKey: 'used' }),
      call('a', { idempotencyKey: 'used' }),
      null as never,
      call('a'),
    ])
    expect(results.map((result) => (result.error ? refusal(result.error) : result.sequence))).toEqual([
      2,
      ['InvalidInput', 'hook'],
      ['NotFound', 'unknown'],
      ['Conflict', 'idempotencyKey'],
      1,
      ['InvalidInput', 'event'],
      3,
    ])
    expect(results[4]).toMatchObject({ duplicate: true })
    expect(heard).toHaveLength(3)
    expect(counted).toEqual({
      hookswitch_events_accepted_total: 3,
      'hookswitch_events_refused_total invalid': 4,
    })
  })

  run('that is atomic is accepted whole or not at all, and the error names the place', async () => {
    const { hs, commits, heard } = await start(open!())
    await hs.publish(call('used', { idempotencyKey: 'used' }))
    const refused = async (...events: object[]) => {
      const list = [call('a'), ...events, call('a')] as Parameters<typeof hs.publish>[0]
      return refusal(await hs.publish(list, { atomic: true }).catch((thrown) => thrown))
    }
    expect(await refused(call('a', { hook: 'channel_creat' }))).toEqual(['InvalidInput', 'events[1].hook'])
    expect(await refused(call('a'), call('a', { direction: 'up' }))).toEqual([
      'InvalidInput',
      'events[2].direction',
    ])
    expect(await refused(call('a', { accountId: 'unknown' }))).toEqual(['NotFound', 'events[1].accountId'])
    expect(await refused(call('a', { idempotencyKey: 'used' }))).toEqual([
      'Conflict',
      'events[1].idempotencyKey',
    ])
    expect(heard).toHaveLength(1)
    const key = { idempotencyKey: 'new' }
    const list = [call('a', key), call('b'), call('a', key), call('a')]
    const results = await hs.publish(list, { atomic: true })
    expect(results.map(({ sequence, duplicate }) => [sequence, duplicate])).toEqual([
      [1, false],
      [1, false],
      [1, true],
      [2, false],
    ])
    expect(commits.at(-1)).toBe(4)
  })
})

describe('a list of events', () => {
  it('keeps its order, and atomic accepts all or none, whatever is in it', async () => {
    const { hs } = await start(memoryStore())
    const last = new Map<string, number>()
    let round = 0
    const item = fc.record({
      callId: fc.constantFrom('a', 'b', 'c'),
      accountId: fc.constantFrom('acme', 'acme', 'globex', 'unknown'),
      hook: fc.constantFrom('channel_create', 'channel_create', 'channel_answer', 'nothing'),
    })
    const lists = fc.array(item, { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(lists, fc.boolean(), async (items, atomic) => {
        round++
        const events = items.map((event) => ({ ...event, customChannelVars: { round } }))
        const isValid = ({ accountId, hook }: (typeof items)[number]) =>
          accountId !== 'unknown' && hook !== 'nothing'
        const next = (event: (typeof items)[number]) => {
          const lane = `${event.accountId}/${event.callId}`
          last.set(lane, (last.get(lane) ?? 0) + 1)
          return last.get(lane)
        }
        if (atomic) {
          const place = items.findIndex((event) => !isValid(event))
          const publishing = hs.publish(events, { atomic })
          if (place < 0) {
            const results = await publishing
            expect(results.map(({ sequence }) => sequence)).toEqual(items.map(next))
            return
          }
          // An invalid event is found before an unknown account.
          const invalid = items.findIndex(({ hook }) => hook === 'nothing')
          const field = invalid < 0 ? `events[${place}].accountId` : `events[${invalid}].hook`
          expect(refusal(await publishing.then(undefined, (thrown) => thrown))[1]).toBe(field)
          return
        }
        const results = await hs.publish(events)
        expect(results.map((result) => (result.error ? 'refused' : result.sequence))).toEqual(
          items.map((event) => (isValid(event) ? next(event) : 'refused')),
        )
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('is refused as a whole above the limits, and where an option is wrong', async () => {
    const { hs, counted } = await start(memoryStore(), { maxEventsPerRequest: 2, maxDeliveriesPerRequest: 2 })
    const three = [call('a'), call('b'), call('c')]
    for (const options of [{}, { atomic: true }])
      expect(refusal(await hs.publish(three, options).catch((thrown) => thrown))).toEqual([
        'TooLarge',
        'maxEventsPerRequest',
      ])
    expect(counted).toEqual({ 'hookswitch_events_refused_total invalid': 6 })
    for (const name of ['one', 'two'])
      await hs.webhooks.create('acme', { name, uri: 'https://hooks.example.com/', hook: 'all' })
    for (const options of [{}, { atomic: true }])
      expect(refusal(await hs.publish([call('a'), call('b')], options).catch((thrown) => thrown))).toEqual([
        'TooLarge',
        'maxDeliveriesPerRequest',
      ])
    const field = (options: object) => hs.publish([call('a')], options).catch((thrown) => thrown.field)
    expect(await field({ idempotencyKey: 'k' })).toBe('idempotencyKey')
    expect(await field({ atomic: 'yes' })).toBe('atomic')
    expect(await field({ traceparent: 'x' })).toBe('traceparent')
    expect(await hs.publish(call('a'))).toMatchObject({ sequence: 1 })
  })

  it('may be empty, and is refused by an instance that is not running', async () => {
    const { hs } = await start(memoryStore())
    expect(await hs.publish([])).toEqual([])
    expect(await hs.publish([], { atomic: true })).toEqual([])
    const stopped = createHookswitch({ store: memoryStore() })
    expect(await stopped.publish([]).catch(errorCode)).toBe('StoreUnavailable')
  })

  it('has an error for each event while the store is out', async () => {
    const store = memoryStore()
    let isOut = false
    const { commit } = store.deliveries
    const deliveries: Store['deliveries'] = {
      ...store.deliveries,
      commit: (group) => {
        if (!isOut || group.accepted.length === 0) return commit(group)
        const error = Object.assign(new Error('out'), { name: 'HookswitchError', code: 'QueueFull' })
        return Promise.reject(error)
      },
    }
    const { hs, counted } = await start({ ...store, deliveries })
    isOut = true
    const results = await hs.publish([call('a'), call('b')])
    expect(results.map(({ error }) => error?.code)).toEqual(['QueueFull', 'QueueFull'])
    expect(counted).toEqual({ 'hookswitch_events_refused_total queue_full': 2 })
    isOut = false
  })

  it('asks a store that does not answer once, and accepts nothing behind the event that it could not match', async () => {
    const store = memoryStore()
    const { candidates } = store.webhooks
    const asked: string[] = []
    const webhooks: Store['webhooks'] = {
      ...store.webhooks,
      candidates: async (accountIds, hook) => {
        asked.push(hook)
        if (hook === 'channel_answer')
          throw Object.assign(new Error('out'), { name: 'HookswitchError', code: 'StoreUnavailable' })
        return candidates(accountIds, hook)
      },
    }
    const { hs, heard } = await start({ ...store, webhooks })
    const hooks = [
      'channel_create',
      'channel_answer',
      'channel_answer',
      'channel_create',
      'channel_destroy',
    ] as const
    const results = await hs.publish(hooks.map((hook) => ({ hook, accountId: 'acme', callId: 'a' })))
    expect(results.map(({ error }) => error?.code)).toEqual([undefined, ...Array(4).fill('StoreUnavailable')])
    expect(asked).toEqual(['channel_create', 'channel_answer'])
    expect(heard).toEqual([results[0]!.eventId])
  })
})

describe('a list of events in a transaction of the host', () => {
  it('is written when publish returns, without the events that are refused', async () => {
    const inbox = withInbox(memoryStore())
    const { hs } = await start(inbox.store)
    const tx = inbox.begin()
    const publishing = hs.publish([call('a'), call('a', { hook: 'nothing' }), call('a')], { tx })
    expect(tx).toHaveLength(2)
    const results = await publishing
    expect(results.map(({ error }) => error?.field)).toEqual([undefined, 'hook', undefined])
    const accepted: string[] = []
    hs.events.on('event', ({ eventId, sequence }) => void accepted.push(`${sequence} ${eventId}`))
    inbox.commit(tx)
    await expect.poll(() => accepted).toEqual([`1 ${results[0]!.eventId}`, `2 ${results[2]!.eventId}`])
  })

  it('that is atomic is written whole or not at all', async () => {
    const inbox = withInbox(memoryStore())
    const { hs } = await start(inbox.store)
    const tx = inbox.begin()
    const refused = hs.publish([call('a'), call('a', { hook: 'nothing' })], { tx, atomic: true })
    expect(refusal(await refused.then(undefined, (thrown) => thrown))).toEqual([
      'InvalidInput',
      'events[1].hook',
    ])
    expect(tx).toEqual([])
    const many = Array.from({ length: 1_001 }, () => call('a'))
    expect(await hs.publish(many, { tx }).catch(errorCode)).toBe('TooLarge')
    await hs.publish([call('a'), call('b')], { tx, atomic: true })
    expect(tx).toHaveLength(2)
  })

  it.skipIf(!server)('on PostgreSQL is delivered after the commit, and never after a rollback', async () => {
    const pool = new pg.Pool({ connectionString: server!.url })
    cleanups.push(() => pool.end())
    const { hs } = await start(postgresStore({ pool, schema: server!.freshSchema() }))
    const accepted: string[] = []
    hs.events.on('event', ({ callId }) => void accepted.push(callId))
    const client = await pool.connect()
    try {
      await client.query('begin')
      await hs.publish([call('never')], { tx: client })
      await client.query('rollback')
      await client.query('begin')
      const results = await hs.publish([call('a'), call('b'), call('c')], { tx: client, atomic: true })
      expect(results.every(({ error }) => error === undefined)).toBe(true)
      await client.query('commit')
    } finally {
      client.release()
    }
    hs.wake()
    await expect.poll(() => [...accepted].sort()).toEqual(['a', 'b', 'c'])
  })
})

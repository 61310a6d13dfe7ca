/** Retries, pauses, leases and keys on PostgreSQL while the clock of the server jumps. Nodes use monotonic time. */
import { constant, createHookswitch } from 'hookswitch'
import type { Observation, Sender } from 'hookswitch/adapter'
import { postgresStore } from 'hookswitch/postgres'
import type { Clock } from 'hookswitch/store'
import { manualClock } from 'hookswitch/testkit'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { advanceStoreTime, expectedTime } from '../../../adapters/storage/postgres/store-time.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { hookedPool, LEASE_MS, log, type QueryHooks } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const RETRY_MS = 120_000
const PAUSE_MS = 150_000
const JUMP_MS = 300_000

const response = (status: number, headers: readonly string[] = []): Observation => ({
  kind: 'response',
  status,
  headers,
  body: '',
  bodyEnd: 'complete',
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Nodes in manual time that send real statements to one schema; the test sets the clock of the server. */
function createNodes() {
  const clock = manualClock()
  const schema = server!.freshSchema()
  const requests: { readonly path: string; readonly atMs: number }[] = []
  /** Requests to `/hang…` that wait for an answer. */
  const hanging = new Set<(observation: Observation) => void>()
  let shiftMs = 0
  let waiting = 0
  const serverClock: Clock = { ...clock, now: () => clock.now() + shiftMs }

  const sender = (): Sender => ({
    async send(request) {
      const { pathname: path } = new URL(String(request.url))
      const at = request.headers.findIndex((text, index) => index % 2 === 0 && /^x-hook-attempt$/i.test(text))
      requests.push({ path, atMs: clock.monotonic() })
      if (path.startsWith('/hang')) return new Promise((resolve) => hanging.add(resolve))
      if (Number(request.headers[at + 1]) > 1) return response(200)
      if (path === '/pause') return response(429, ['retry-after', String(PAUSE_MS / 1_000)])
      return response(path === '/retry' ? 500 : 200)
    },
    async close() {
      for (const answer of hanging) answer({ kind: 'no_response', failure: 'connection', detail: 'closed' })
    },
  })

  /** Counts what waits for the server: connections and statements. */
  function countingPool(pool: ReturnType<typeof hookedPool>) {
    const counted = new WeakSet<object>()
    const count = async <Result>(work: Promise<Result>) => {
      waiting += 1
      return work.finally(() => {
        waiting -= 1
      })
    }
    const connect = pool.connect.bind(pool) as () => Promise<{ query(...given: unknown[]): Promise<unknown> }>
    const countedConnect = async () => {
      const client = await count(connect())
      if (!counted.has(client)) {
        counted.add(client)
        const query = client.query.bind(client)
        client.query = (...given) => count(query(...given))
      }
      return client
    }
    return Object.assign(pool, { connect: countedConnect }) as unknown as typeof pool
  }

  async function start() {
    let isDead = false
    const hooks: QueryHooks = {
      before() {
        if (isDead) throw new Error('this node is dead')
      },
    }
    const pool = countingPool(hookedPool(server!.url, hooks))
    const hs = createHookswitch({
      store: postgresStore({ pool, schema, clock: serverClock }),
      secret: 'a secret of thirty-two characters',
      clock,
      sender: sender(),
      retryPolicy: constant(RETRY_MS, { jitter: 0 }),
    })
    await hs.start()
    closing.push(async () => {
      await hs.close({ drainMs: 0 })
      await pool.end()
    })
    /** From now on no statement of this node reaches the server: its lease stays. */
    const crash = () => {
      isDead = true
    }
    return { hs, crash }
  }

  /** Waits until nothing waits for the server and no work is ready. */
  async function idle() {
    for (let quiet = 0; quiet < 4; quiet += 1) {
      await clock.settle()
      if (waiting > 0) quiet = 0
      await new Promise((resolve) => setTimeout(resolve, waiting > 0 ? 1 : 0))
    }
  }
  async function pass(ms: number) {
    await idle()
    for (let passed = 0; passed < ms; passed += 1_000) {
      await clock.advance(1_000)
      await idle()
    }
  }
  return {
    requests,
    hanging,
    start,
    pass,
    jump(ms: number) {
      shiftMs += ms
    },
    timesOf: (path: string) => requests.filter((request) => request.path === path).map(({ atMs }) => atMs),
    now: () => clock.monotonic(),
  }
}

type Nodes = ReturnType<typeof createNodes>
type Service = Awaited<ReturnType<Nodes['start']>>['hs']

async function createWebhooks(hs: Service, paths: readonly string[]) {
  await hs.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
  for (const path of paths) {
    await hs.webhooks.create('acc', {
      name: path,
      uri: `https://receiver.example${path}`,
      hook: 'channel_create',
    })
  }
}
const publish = (hs: Service, callId: string) =>
  hs.publish({ hook: 'channel_create', accountId: 'acc', callId })

/** Publishes an event that fails at one webhook; another one asks for a pause. */
async function publishFailing(nodes: Nodes, hs: Service) {
  await createWebhooks(hs, ['/retry', '/pause'])
  await publish(hs, 'call')
  await nodes.pass(15_000)
  expect(nodes.requests.map(({ path }) => path).sort()).toEqual(['/pause', '/retry'])
}

/** @param jumpMs by how much the server's clock may have shortened a delay */
function expectInTime(nodes: Nodes, jumpMs: number) {
  for (const [path, delayMs] of [
    ['/retry', RETRY_MS],
    ['/pause', PAUSE_MS],
  ] as const) {
    const [first, second] = nodes.timesOf(path)
    expect(second! - first!).toBeLessThanOrEqual(delayMs + LEASE_MS)
    expect(second! - first!).toBeGreaterThanOrEqual(delayMs - jumpMs)
  }
}

describe.skipIf(!server)('store time of PostgreSQL', () => {
  describe.each([
    ['behind', -JUMP_MS, 0],
    ['ahead', JUMP_MS, JUMP_MS],
  ])('after a failover to a server five minutes %s', (_, jumpMs, shortenedMs) => {
    it('delays nothing by more than a lease on a node that was there before', async () => {
      const nodes = createNodes()
      const { hs } = await nodes.start()
      await publishFailing(nodes, hs)
      nodes.jump(jumpMs)
      await nodes.pass(PAUSE_MS + LEASE_MS)
      expectInTime(nodes, shortenedMs)
    }, 120_000)

    it('delays nothing by more than a lease on a node that starts after the only one has crashed', async () => {
      const nodes = createNodes()
      const one = await nodes.start()
      await publishFailing(nodes, one.hs)
      one.crash()
      nodes.jump(jumpMs)
      const two = await nodes.start()
      const startMs = nodes.now()
      const hook = 'channel_destroy'
      await two.hs.webhooks.create('acc', { name: 'new', uri: 'https://receiver.example/new', hook })
      await two.hs.publish({ hook, accountId: 'acc', callId: 'new' })
      await nodes.pass(PAUSE_MS + LEASE_MS)
      expect(nodes.timesOf('/new')[0]! - startMs).toBeLessThanOrEqual(LEASE_MS)
      expectInTime(nodes, shortenedMs)
    }, 120_000)
  })

  it('ends no lease of a live node when the clock jumps forward, and delays nothing when it jumps back', async () => {
    const nodes = createNodes()
    const one = await nodes.start()
    const two = await nodes.start()
    await nodes.pass(LEASE_MS)
    const paths = Array.from({ length: 8 }, (_, index) => `/hang-${index}`)
    await createWebhooks(one.hs, [...paths, '/retry', '/pause'])
    await publish(one.hs, 'first')
    // The other node learns of its deliveries in real time.
    for (let count = 0; count < 40 && nodes.hanging.size < 8; count++) await nodes.pass(100)
    expect(nodes.hanging.size).toBe(8)
    nodes.jump(JUMP_MS)
    await nodes.pass(12_000)
    for (const answer of nodes.hanging) answer(response(200))
    nodes.hanging.clear()
    await nodes.pass(2_000)
    const attempts = await two.hs.webhooks.attempts('acc')
    expect(attempts.filter(({ reason }) => reason === 'interrupted')).toEqual([])
    nodes.jump(-JUMP_MS)
    await nodes.pass(PAUSE_MS + LEASE_MS)
    for (const path of paths) expect(nodes.timesOf(path)).toHaveLength(1)
    expectInTime(nodes, JUMP_MS)
  }, 120_000)

  it('forgets no idempotency key more than the jump too early', async () => {
    const nodes = createNodes()
    const { hs } = await nodes.start()
    await createWebhooks(hs, [])
    const again = () =>
      hs.publish({ hook: 'channel_create', accountId: 'acc', callId: 'call' }, { idempotencyKey: 'key' })
    const { eventId } = await again()
    nodes.jump(JUMP_MS)
    await nodes.pass(20_000)
    nodes.jump(-JUMP_MS)
    await nodes.pass(20_000)
    expect(await again()).toMatchObject({ eventId, duplicate: true })
  })

  it('uses the clock of the server, whose jumps neither end a lease nor hide deliveries', async () => {
    const schema = server!.freshSchema()
    const shift = server!.freshSchema()
    await server!.sql(`create schema ${shift}; create table ${shift}.shift (by interval);
      insert into ${shift}.shift values ('0'); create function ${shift}.clock_timestamp() returns timestamptz
      language sql volatile as $$ select pg_catalog.clock_timestamp() + by from ${shift}.shift $$`)
    const url = new URL(server!.url)
    url.searchParams.set('options', `-c search_path=${shift},pg_catalog`)
    const open = async () => {
      const store = postgresStore({ connectionString: url.href, schema, maxConnections: 4 })
      await store.open({ clock: systemClock(), log })
      closing.push(() => store.close())
      return store
    }
    const setShift = (minutes: number) =>
      server!.sql(`update ${shift}.shift set by = interval '1 minute' * ${minutes}`)
    const [one, two] = [await open(), await open()]
    const first = await one.deliveries.own('one', LEASE_MS)
    expect(Math.abs(first.storeMs - Date.now())).toBeLessThan(60_000)
    const webhook = newWebhook()
    await one.webhooks.insert(webhook)
    const event = newEvent({ position: first.position + 1 })
    const delivery = { ...newDelivery(webhook, event), position: event.position! }
    const acceptance = { events: [event], deliveries: [delivery] }
    await one.deliveries.commit({
      lease: first,
      version: 0,
      now: first.storeMs,
      accepted: [acceptance],
      ended: [],
      finished: [],
      pending: 1,
      isRepeat: false,
    })
    let latestMs = first.storeMs
    for (const minutes of [-5, 0, 5, 0, -5]) {
      await setShift(minutes)
      const joined = await two.deliveries.own('two', LEASE_MS)
      expect(joined.storeMs).toBeGreaterThanOrEqual(latestMs)
      const renewed = await one.deliveries.own('one', LEASE_MS)
      expect(renewed.storeMs).toBeGreaterThanOrEqual(joined.storeMs)
      expect(renewed.aliveUntilMs).toBe(renewed.storeMs + LEASE_MS)
      latestMs = renewed.storeMs
      // Receivers compare with the right clock: what is stored with store time is not their time of day.
      const serverMs = Date.now() + minutes * 60_000
      for (const { clockMs } of [joined, renewed]) expect(Math.abs(clockMs! - serverMs)).toBeLessThan(60_000)
      expect(renewed.shards.length + joined.shards.length).toBe(64)
      const loaded = [
        await one.deliveries.load(renewed, renewed.shards),
        await two.deliveries.load(joined, joined.shards),
      ]
      expect(loaded.flatMap((part) => part!.waiting.webhookIds)).toEqual([webhook.id])
    }
    expect(latestMs - first.storeMs).toBeLessThan(6 * 60_000)
  })
})

describe('advanceStoreTime', () => {
  const row = { serverMs: 1_000_000, offsetMs: 0, lastMs: 990_000 }
  const expecting = (ms: number) => ({ earliestMs: ms - 5, latestMs: ms + 5 })

  it('is the clock of the server plus the offset', () => {
    expect(advanceStoreTime(row)).toEqual({ nowMs: 1_000_000, offsetMs: 0, jumpedFromMs: 1_000_000 })
    expect(advanceStoreTime({ ...row, offsetMs: 7 }, expecting(1_000_500)).nowMs).toBe(1_000_007)
  })

  it('goes on from the last grant where a node starts after the clock went back', () => {
    const later = advanceStoreTime({ ...row, lastMs: 1_300_000 })
    expect(later).toEqual({ nowMs: 1_300_000, offsetMs: 300_000, jumpedFromMs: 1_300_000 })
  })

  it('goes on from what a node expects, however long the server was away', () => {
    const later = advanceStoreTime({ ...row, lastMs: 1_300_000 }, expecting(1_400_000))
    expect(later).toEqual({ nowMs: 1_399_995, offsetMs: 399_995, jumpedFromMs: 1_399_995 })
  })

  it('uses the offset up when the clock jumps forward, without a jump of store time', () => {
    const later = advanceStoreTime(
      { serverMs: 1_300_000, offsetMs: 300_000, lastMs: 1_290_000 },
      expecting(1_300_000),
    )
    expect(later).toEqual({ nowMs: 1_300_005, offsetMs: 5, jumpedFromMs: 1_300_005 })
  })

  it('reports where a jump began: what a node expects, or a later grant', () => {
    const jumped = { serverMs: 1_300_000, offsetMs: 0, lastMs: 990_000 }
    expect(advanceStoreTime(jumped, expecting(1_000_000)).jumpedFromMs).toBe(1_000_005)
    expect(advanceStoreTime({ ...jumped, lastMs: 1_200_000 }, expecting(1_000_000)).jumpedFromMs).toBe(
      1_200_000,
    )
    expect(advanceStoreTime(jumped)).toEqual({ nowMs: 1_300_000, offsetMs: 0, jumpedFromMs: 1_300_000 })
  })

  it('never goes back behind a grant to another node', () => {
    const suspended = { serverMs: 1_300_000, offsetMs: 300_000, lastMs: 1_590_000 }
    expect(advanceStoreTime(suspended, expecting(1_000_000)).nowMs).toBe(1_590_000)
  })

  it('expects the time since the last answer, as uncertain as both requests were long', () => {
    const last = { storeMs: 1_000, requestedMs: 10, answeredMs: 30 }
    expect(expectedTime(last, 100, 150)).toEqual({ earliestMs: 1_070, latestMs: 1_140 })
  })
})

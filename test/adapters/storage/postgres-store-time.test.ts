/** Retries, pauses and leases on the PostgreSQL store while the clock of the server jumps; nodes keep monotonic time. */
import { constant, createHookswitch, type HookswitchOptions, type Sender } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type { Clock, Store } from 'hookswitch/store'
import { type ManualClock, manualClock, until } from 'hookswitch/testkit'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { postgresForTests } from './pg-cluster.js'
import { hookedPool, LEASE_MS, log, openNode, type QueryHooks } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const RETRY_MS = 120_000
const JUMP_MS = 300_000
const FAILED = 'failed'

describe.skipIf(!server)('store time of PostgreSQL', () => {
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  /** A server whose clock the test sets, the nodes that use it, and the requests that they send. */
  async function world() {
    const clock = manualClock()
    const schema = server!.freshSchema()
    let shiftMs = 0
    let open = 0
    const hooks: QueryHooks = {
      before: () => void open++,
      after: () => void open--,
    }
    const serverClock: Clock = { ...clock, now: () => clock.now() + shiftMs }
    const requests: { node: string; url: string; atMs: number; attempt: string }[] = []
    const answers = new Map<string, (attempt: number) => Awaited<ReturnType<Sender['send']>> | undefined>()

    function senderOf(node: string): Sender {
      const hanging = new Set<() => void>()
      return {
        async send(request) {
          const url = String(request.url)
          const at = request.headers.findIndex(
            (text, index) => index % 2 === 0 && /^x-hook-attempt$/i.test(text),
          )
          const attempt = request.headers[at + 1]!
          requests.push({ node, url, atMs: clock.monotonic(), attempt })
          const answer = answers.get(new URL(url).pathname)?.(Number(attempt))
          if (answer) return answer
          return new Promise((resolve) =>
            hanging.add(() => resolve({ kind: 'no_response', failure: 'connection', detail: 'closed' })),
          )
        },
        async close() {
          for (const end of hanging) end()
        },
      }
    }

    async function start(node: string, options: { readonly maxPending?: number } = {}) {
      const pool = hookedPool(server!.url, hooks)
      const hs = createHookswitch({
        store: postgresStore({ pool, schema, clock: serverClock }),
        secret: 'a secret of thirty-two characters',
        clock,
        sender: senderOf(node),
        retryPolicy: constant(RETRY_MS, { jitter: 0 }),
        ...options,
      })
      await hs.start()
      let isClosed = false
      const close = async () => {
        if (isClosed) return
        isClosed = true
        await hs.close({ drainMs: 0 })
        await pool.end()
      }
      closing.push(close)
      return { hs, close }
    }

    /** Waits until no statement runs and no work is ready. */
    async function idle() {
      for (let quiet = 0; quiet < 4; quiet++) {
        await clock.settle()
        if (open > 0) quiet = 0
        await new Promise((resolve) => setTimeout(resolve, open > 0 ? 1 : 0))
      }
    }
    /** Lets time pass for all nodes and the server. */
    async function pass(ms: number) {
      await idle()
      for (let passed = 0; passed < ms; passed += 1_000) {
        await clock.advance(Math.min(1_000, ms - passed))
        await idle()
      }
    }
    return {
      clock,
      schema,
      requests,
      answers,
      start,
      pass,
      jump: (ms: number) => void (shiftMs += ms),
      timesOf: (path: string) => requests.filter(({ url }) => url.endsWith(path)).map(({ atMs }) => atMs),
    }
  }
  void FAILED
  void until
  void log
  void LEASE_MS
  void openNode

  const response = (status: number, headers: readonly string[] = []) =>
    ({ kind: 'response', status, headers, body: '', bodyEnd: 'complete' }) as const

  /** A webhook that fails once, and one that asks for a pause. */
  async function publishBoth(
    given: Awaited<ReturnType<typeof world>>,
    hs: Awaited<ReturnType<typeof given.start>>['hs'],
  ) {
    given.answers.set('/retry', (attempt) => response(attempt === 1 ? 500 : 200))
    given.answers.set('/pause', (attempt) =>
      attempt === 1 ? response(429, ['retry-after', '150']) : response(200),
    )
    await hs.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
    for (const path of ['retry', 'pause'])
      await hs.webhooks.create('acc', {
        name: path,
        uri: `https://receiver.example/${path}`,
        hook: 'channel_create',
      })
    await hs.publish({ hook: 'channel_create', accountId: 'acc', callId: 'call' })
    await given.pass(15_000)
    expect(given.requests).toHaveLength(2)
  }

  for (const [name, ms] of [
    ['behind', -JUMP_MS],
    ['ahead', JUMP_MS],
  ] as const) {
    it(`sends retries and ends pauses in time on a live node after a failover to a server five minutes ${name}`, async () => {
      const given = await world()
      const { hs } = await given.start('one')
      await publishBoth(given, hs)
      given.jump(ms)
      await given.pass(200_000)
      const [first, second] = given.timesOf('/retry')
      expect(second! - first!).toBeLessThanOrEqual(RETRY_MS + LEASE_MS)
      const [paused, resumed] = given.timesOf('/pause')
      expect(resumed! - paused!).toBeLessThanOrEqual(150_000 + LEASE_MS)
    })

    it(`does the same on a node that crashed and starts after it (${name})`, async () => {
      const given = await world()
      const { hs } = await given.start('one')
      await publishBoth(given, hs)
      await hs.close()
      given.jump(ms)
      await given.start('two')
      await given.pass(200_000)
      const [first, second] = given.timesOf('/retry')
      expect(second! - first!).toBeLessThanOrEqual(RETRY_MS + LEASE_MS)
      const [paused, resumed] = given.timesOf('/pause')
      expect(resumed! - paused!).toBeLessThanOrEqual(150_000 + LEASE_MS)
    })
  }
})

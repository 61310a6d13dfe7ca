/** Retries and pauses on the SQLite store when the machine's clock was wrong, or is set back. */
import { join } from 'node:path'
import { constant, createHookswitch } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { sqliteStore } from 'hookswitch/sqlite'
import { type ManualClock, manualClock } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from './sqlite-harness.js'

const HOUR_MS = 3_600_000
const RETRY_MS = 120_000
const PAUSE_SECONDS = 150
const NOW = 1_800_000_000_000

const response = (status: number, headers: readonly string[] = []) =>
  ({ kind: 'response', status, headers, body: '', bodyEnd: 'complete' }) as const

/** A sender whose first attempt fails at `/retry`, and is answered with `Retry-After` at `/pause`. */
function failingSender(clock: ManualClock) {
  const sent: { readonly path: string; readonly atMs: number }[] = []
  const sender: Sender = {
    async send(request) {
      const { pathname: path } = new URL(String(request.url))
      const at = request.headers.findIndex((text, index) => index % 2 === 0 && /^x-hook-attempt$/i.test(text))
      sent.push({ path, atMs: clock.monotonic() })
      if (Number(request.headers[at + 1]) > 1) return response(200)
      return path === '/pause' ? response(429, ['retry-after', `${PAUSE_SECONDS}`]) : response(500)
    },
    async close() {},
  }
  return { sender, sent }
}

async function start(path: string, clock: ManualClock) {
  const { sender, sent } = failingSender(clock)
  const hs = createHookswitch({
    store: sqliteStore({ path, inThread: true }),
    clock,
    sender,
    retryPolicy: constant(RETRY_MS, { jitter: 0 }),
  })
  await hs.start()
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await hs.close({ drainMs: 0 })
  }
  onTestFinished(close)
  return { hs, sent, close }
}

/** Publishes an event, the delivery of which fails at `/retry` and `/pause`. Returns the waiting deliveries by path. */
async function publishFailing({ hs }: Awaited<ReturnType<typeof start>>, clock: ManualClock) {
  await hs.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
  const ids: Record<string, string> = {}
  const hooks = await Promise.all(
    ['/retry', '/pause'].map((path) =>
      hs.webhooks.create('acc', {
        name: path,
        uri: `https://receiver.example${path}`,
        hook: 'channel_create',
      }),
    ),
  )
  await hs.publish({ hook: 'channel_create', accountId: 'acc', callId: 'call' })
  await clock.advance(1_000)
  for (const { id, name } of hooks) {
    const [delivery] = await hs.webhooks.deliveries('acc', id)
    ids[name] = delivery!.id
  }
  return ids
}

/** Expects that both are sent again no later than their delay after now, and that the API says so. */
async function expectInTime(
  { hs, sent }: Awaited<ReturnType<typeof start>>,
  clock: ManualClock,
  ids: Readonly<Record<string, string>>,
) {
  const startMs = clock.monotonic()
  const { dueMs } = await hs.webhooks.delivery('acc', ids['/retry']!)
  expect(dueMs! - clock.now()).toBeGreaterThan(0)
  expect(dueMs! - clock.now()).toBeLessThanOrEqual(RETRY_MS)
  const [, seconds] = /^Retry in (\d+) seconds/.exec(await hs.webhooks.explain('acc', ids['/retry']!))!
  expect(Number(seconds)).toBeLessThanOrEqual(RETRY_MS / 1_000)
  const before = sent.length
  await clock.advance(PAUSE_SECONDS * 1_000)
  const again = sent.slice(before)
  expect(again.map(({ path }) => path)).toEqual(['/retry', '/pause'])
  expect(again[0]!.atMs - startMs).toBeLessThanOrEqual(RETRY_MS)
  expect(again[0]!.atMs - startMs).toBeGreaterThan(RETRY_MS - 10_000)
}

describe('store time of SQLite', () => {
  it('goes on in a file whose last writer had a clock one hour ahead', async () => {
    const path = join(temporaryFolder(), 'data.db')
    const fast = manualClock({ nowMs: NOW + HOUR_MS })
    const first = await start(path, fast)
    const ids = await publishFailing(first, fast)
    await first.close()
    const clock = manualClock({ nowMs: NOW })
    await expectInTime(await start(path, clock), clock, ids)
  })

  it('goes on while the clock is set back, and after a restart then', async () => {
    const path = join(temporaryFolder(), 'data.db')
    const clock = manualClock({ nowMs: NOW })
    const first = await start(path, clock)
    const ids = await publishFailing(first, clock)
    clock.jumpWall(-HOUR_MS)
    await expectInTime(first, clock, ids)
    await first.hs.publish({ hook: 'channel_create', accountId: 'acc', callId: 'other' })
    // After its 429 the receiver gets a request every 6 s at most.
    await clock.advance(10_000)
    await first.close()
    const second = await start(path, clock)
    await clock.advance(PAUSE_SECONDS * 1_000)
    expect(second.sent.map(({ path }) => path)).toEqual(['/retry', '/pause'])
  })

  it('returns to the clock of the machine without hiding what is accepted then, also from a replay', async () => {
    const path = join(temporaryFolder(), 'data.db')
    const fast = manualClock({ nowMs: NOW + 24 * HOUR_MS })
    const first = await start(path, fast)
    await first.hs.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
    const webhook = {
      name: '/lost',
      uri: 'https://receiver.example/lost',
      hook: 'channel_create',
      retries: 0,
    }
    const { id } = await first.hs.webhooks.create('acc', webhook)
    const publish = async ({ hs }: typeof first, clock: ManualClock) => {
      await hs.publish({ hook: 'channel_create', accountId: 'acc', callId: 'call' })
      await clock.advance(60_000)
    }
    await publish(first, fast)
    await first.close()
    const clock = manualClock({ nowMs: NOW })
    const second = await start(path, clock)
    await publish(second, clock)
    const range = { fromMs: NOW - HOUR_MS, toMs: clock.now() }
    const listed = await second.hs.webhooks.deliveries('acc', id, range)
    expect(listed.map(({ acceptedMs, state }) => [Math.round((acceptedMs - NOW) / HOUR_MS), state])).toEqual([
      [0, 'exhausted'],
    ])
    expect((await second.hs.operator.search(range)).deliveries.map(({ id }) => id)).toEqual([listed[0]!.id])
    const selection = { accountId: 'acc', createdFromMs: range.fromMs, createdToMs: range.toMs }
    expect((await second.hs.replays.count(selection)).count).toBe(1)
    const { id: job } = await second.hs.replays.start(selection)
    await clock.advance(60_000)
    expect(await second.hs.replays.read(job, 'acc')).toMatchObject({ state: 'completed', replayed: 1 })
  })
})

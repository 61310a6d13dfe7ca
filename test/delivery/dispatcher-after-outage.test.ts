import { describe, expect, it, vi } from 'vitest'
import { Heads } from '../../src/delivery/queue/heads.js'
import { aWebhook } from './fixtures.js'
import { createHarness, headerOf, type NodeOptions, responseWith } from './harness.js'

const BUCKET_MS = 10_000
const MINUTE_MS = 60_000

/**
 * Receivers that do not answer until `heal`, then answer after `latencyMs`; records the requests from then
 * on.
 */
async function createOutageHarness(
  webhooks: Parameters<typeof createHarness>[0],
  latencyMs: number,
  options: NodeOptions = {},
) {
  const harness = await createHarness(webhooks)
  const { clock } = harness
  const sent: { readonly atMs: number; readonly delivery: string; readonly inFlight: number }[] = []
  let healedMs: number | undefined
  let inFlight = 0
  harness.sender.send = async (request) => {
    const isHealed = healedMs !== undefined
    inFlight++
    if (isHealed) sent.push({ atMs: clock.monotonic(), delivery: headerOf(request, 'webhook-id'), inFlight })
    await clock.sleep(isHealed ? latencyMs : 10_000)
    inFlight--
    return isHealed ? responseWith(200) : { kind: 'no_response', failure: 'timeout', detail: '' }
  }
  const node = harness.node(options)
  await node.start()
  return {
    ...harness,
    node,
    sent,
    heal() {
      healedMs = clock.monotonic()
    },
    async finish() {
      await clock.runUntil(async () => (await harness.pending()) === 0)
      await clock.settle()
    },
    /**
     * Requests per ten seconds from `fromMs`, until 98 % are sent: the rest waits for its own retries, up to
     * ten minutes, and is no backlog.
     */
    curve(fromMs: number): number[] {
      const gone = sent.slice(0, Math.ceil(sent.length * 0.98))
      const last = Math.floor((gone.at(-1)!.atMs - fromMs) / BUCKET_MS)
      const counts = new Array<number>(last + 1).fill(0)
      for (const { atMs } of gone) counts[Math.floor((atMs - fromMs) / BUCKET_MS)]!++
      return counts
    },
    healedMs: () => healedMs!,
  }
}

const peakToMean = (curve: readonly number[]) =>
  (Math.max(...curve) * curve.length) / curve.reduce((sum, value) => sum + value, 0)

describe('the dispatcher after an outage of twenty minutes', () => {
  const CAPS = { perEndpoint: 5, perAccount: 40, perOrigin: 5, total: 60, probes: 10 }
  const hooks = Array.from({ length: 40 }, (_, index) =>
    aWebhook(
      { uri: `https://host-${index}.example/`, retries: 10, includeSubaccounts: true },
      { id: `w${index}`, accountId: index % 2 ? 'acc' : 'sub' },
    ),
  )

  it('sends the backlog evenly at the capped rate, disables no webhook, and loses or repeats nothing', async () => {
    const harness = await createOutageHarness(hooks, 1000, { caps: CAPS })
    for (let minute = 0; minute < 20; minute++) {
      // Two deliveries a second in total: less than what is sent during the outage (a quarter of all slots
      // every ten seconds). More would wait for the end of the outage and be sent at the capped rate.
      for (let call = 0; call < 3; call++) {
        await harness.publish(`call-${minute}-${call}`, { accountId: 'sub' })
        await harness.clock.advance(MINUTE_MS / 3)
      }
    }
    harness.heal()
    await harness.finish()

    const all = (
      await Promise.all(hooks.map(({ id, accountId }) => harness.deliveries(id, accountId)))
    ).flat()
    expect(all).toHaveLength(20 * 3 * 40)
    expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['delivered']))
    expect(harness.emitted.filter(({ name }) => name === 'webhook_disabled')).toEqual([])
    expect(new Set(harness.sent.map(({ delivery }) => delivery)).size).toBe(harness.sent.length)
    expect(Math.max(...harness.sent.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(
      CAPS.total + CAPS.probes,
    )
    const curve = harness.curve(harness.healedMs())
    expect(curve.length).toBeGreaterThan(4)
    expect(peakToMean(curve)).toBeLessThanOrEqual(3)
    // At most one request a second per slot.
    expect(Math.max(...curve)).toBeLessThanOrEqual((CAPS.total * BUCKET_MS) / 1000)
    await harness.node.close(0)
  })

  it('does not charge failures during the outage: everything is delivered, with all attempts counted', async () => {
    const few = hooks.slice(0, 12).map((hook) => ({ ...hook, settings: { ...hook.settings, retries: 1 } }))
    const harness = await createOutageHarness(few, 1000, { caps: CAPS })
    for (let minute = 0; minute < 20; minute++) {
      await harness.publish(`call-${minute}`, { accountId: 'sub' })
      await harness.clock.advance(MINUTE_MS)
    }
    harness.heal()
    await harness.finish()
    const all = (await Promise.all(few.map(({ id, accountId }) => harness.deliveries(id, accountId)))).flat()
    // The first failures come before the outage is detected.
    const givenUp = all.filter(({ state }) => state !== 'delivered').length
    expect(all).toHaveLength(20 * 12)
    expect(givenUp).toBeLessThanOrEqual(12)
    expect(Math.max(...all.map(({ attempts }) => attempts))).toBeGreaterThan(3)
    await harness.node.close(0)
  })

  it('sends no endpoint more than its own cap, however long its backlog has waited', async () => {
    const harness = await createOutageHarness(hooks.slice(0, 8), 1000, { caps: CAPS })
    for (let call = 0; call < 120; call++) {
      await harness.publish(`call-${call}`, { accountId: 'sub' })
      await harness.clock.advance(10_000)
    }
    harness.heal()
    await harness.finish()
    const perEndpoint = Math.max(...harness.curve(harness.healedMs())) / 8
    expect(perEndpoint).toBeLessThanOrEqual((CAPS.perEndpoint * BUCKET_MS) / 1000)
    await harness.node.close(0)
  })
})

describe('the dispatcher after one receiver was down for an hour, with 2,000 calls waiting', () => {
  it('probes it within the longest pause, then sends the backlog at its cap; nothing is lost or disabled', async () => {
    const harness = await createOutageHarness([aWebhook({ retries: 2 })], 1000)
    for (let call = 0; call < 2000; call++) {
      await harness.publish(`call-${call}`)
      await harness.clock.advance((60 * MINUTE_MS) / 2000)
    }
    expect(await harness.store.webhooks.read('acc', 'w1')).toMatchObject({ settings: { enabled: true } })
    expect(harness.sent).toEqual([])
    harness.heal()
    await harness.finish()

    const [probe] = harness.sent
    // Ten minutes ± 20 %, plus the timeout of a probe that was sent before the receiver recovered.
    expect(probe!.atMs - harness.healedMs()).toBeLessThanOrEqual(12 * MINUTE_MS + 10_000)
    expect(harness.sent.slice(0, 2).map(({ inFlight }) => inFlight)).toEqual([1, 1])
    expect(Math.max(...harness.sent.map(({ inFlight }) => inFlight))).toBe(10)
    const curve = harness.curve(probe!.atMs)
    expect(peakToMean(curve)).toBeLessThanOrEqual(3)
    expect(Math.max(...curve)).toBeLessThanOrEqual(100)

    const ended = (state: string) => harness.emitted.filter(({ name }) => name === state).length
    expect(ended('delivered') + ended('exhausted')).toBe(2000)
    // Only deliveries that failed three times before the breaker opened are exhausted: all others waited.
    expect(ended('exhausted')).toBeLessThan(20)
    expect(harness.emitted.filter(({ name }) => name === 'webhook_disabled')).toEqual([])
    await harness.node.close(0)
  })
})

describe('the dispatcher after many pauses have ended', () => {
  it('sends at most a thousand older deliveries a second, probes among them', async () => {
    const hooks = Array.from({ length: 220 }, (_, index) =>
      aWebhook({ uri: `https://host-${index}.example/` }, { id: `w${index}` }),
    )
    const early = new Set(hooks.slice(0, 20).map(({ settings }) => settings.uri))
    const harness = await createHarness(hooks)
    const { clock, sender } = harness
    const isBack = (uri: string) => clock.monotonic() >= (early.has(uri) ? 1 : 1.25) * MINUTE_MS
    const taken: number[] = []
    sender.script = ({ url }) => {
      if (!isBack(url)) return responseWith(503)
      taken.push(clock.monotonic())
      return responseWith(200)
    }
    // Without jitter the probes of all are as close as they may be.
    const node = harness.node({}, { random: { ...harness.random, fraction: () => 0 } })
    await node.start()
    for (let call = 0; call < 16; call++) await harness.publish(`call-${call}`)
    await clock.advance(2 * MINUTE_MS)
    expect(taken).toHaveLength(220 * 16)
    const most = Math.max(
      ...taken.map((from, index) => taken.findLastIndex((at) => at < from + 1_000) - index + 1),
    )
    expect(most).toBeLessThanOrEqual(1_000)
    expect(most).toBeGreaterThan(900)
    await node.close(0)
  })

  it('looks at an endpoint when it may send, not at all that wait, and lets all take turns', async () => {
    const COUNT = 400
    const CALLS = 15
    const hooks = Array.from({ length: COUNT }, (_, index) =>
      aWebhook({ uri: `https://host-${index}.example/` }, { id: `w${index}` }),
    )
    const harness = await createHarness(hooks)
    const { clock, sender } = harness
    const taken: string[] = []
    sender.script = ({ url }) => {
      if (clock.monotonic() < MINUTE_MS) return responseWith(503)
      taken.push(url)
      return responseWith(200)
    }
    const node = harness.node({}, { random: { ...harness.random, fraction: () => 0 } })
    await node.start()
    for (let call = 0; call < CALLS; call++) await harness.publish(`call-${call}`)
    await clock.advance(MINUTE_MS)
    const looks = vi.spyOn(Heads.prototype, 'nextDueMs')
    await clock.advance(MINUTE_MS)
    expect(taken).toHaveLength(COUNT * CALLS)
    expect(looks.mock.calls.length / taken.length).toBeLessThan(20)
    looks.mockRestore()
    // Once all are found to be back, each gets its next delivery before any gets many.
    const back = new Set<string>()
    const from = taken.findIndex((url) => back.add(url).size === COUNT) + 1
    const counts = new Map<string, number>()
    for (const url of taken.slice(from, from + COUNT)) counts.set(url, (counts.get(url) ?? 0) + 1)
    expect(counts.size).toBeGreaterThan(0.9 * COUNT)
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(3)
    await node.close(0)
  })
})

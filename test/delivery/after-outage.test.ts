import { describe, expect, it } from 'vitest'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf, type NodeOptions } from './world.js'

const BUCKET_MS = 10_000
const MINUTE_MS = 60_000

/** Receivers that never answer until they are healed, then after `latencyMs`; when each request was sent since. */
async function outage(
  webhooks: Parameters<typeof deliveryWorld>[0],
  latencyMs: number,
  options: NodeOptions = {},
) {
  const world = await deliveryWorld(webhooks)
  const { clock } = world
  const sent: { readonly atMs: number; readonly delivery: string; readonly inFlight: number }[] = []
  let healedMs: number | undefined
  let inFlight = 0
  world.sender.send = async (request) => {
    const isHealed = healedMs !== undefined
    inFlight++
    if (isHealed) sent.push({ atMs: clock.monotonic(), delivery: headerOf(request, 'webhook-id'), inFlight })
    await clock.sleep(isHealed ? latencyMs : 10_000)
    inFlight--
    return isHealed ? answered(200) : { kind: 'no_response', failure: 'timeout', detail: '' }
  }
  const node = world.node(options)
  await node.start()
  return {
    ...world,
    node,
    sent,
    heal() {
      healedMs = clock.monotonic()
    },
    async finish() {
      await clock.runUntil(async () => (await world.store.deliveries.pending()) === 0)
      await clock.settle()
    },
    /**
     * Requests in each ten seconds from this moment on, until 98 % are gone: the rest waits for its own retries, up to
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
  (Math.max(...curve) * curve.length) / curve.reduce((sum, one) => sum + one, 0)

describe('when everybody was silent for twenty minutes', () => {
  const CAPS = { perEndpoint: 5, perAccount: 40, perOrigin: 5, inAll: 60 }
  const hooks = Array.from({ length: 40 }, (_, index) =>
    aWebhook(
      { uri: `https://host-${index}.example/`, retries: 10, includeSubaccounts: true },
      { id: `w${index}`, accountId: index % 2 ? 'acc' : 'sub' },
    ),
  )

  it('the backlog leaves at the capped rate, evenly; nobody is disabled, nothing is lost or sent twice', async () => {
    const world = await outage(hooks, 1000, { caps: CAPS })
    for (let minute = 0; minute < 20; minute++) {
      // Two a second for all webhooks together: less than what leaves while nobody answers, half of all places each
      // ten seconds. Of more, the rest would wait for the end of the outage and leave at the capped rate.
      for (let call = 0; call < 3; call++) {
        await world.publish(`call-${minute}-${call}`, { accountId: 'sub' })
        await world.clock.advance(MINUTE_MS / 3)
      }
    }
    const health = await Promise.all(hooks.map(({ id }) => world.store.deliveries.webhookOf(id)))
    // Nobody was blamed but for the first failures, before it was clear that it was all of them.
    for (const row of health) expect(row!.health?.failuresInRow ?? 0).toBeLessThanOrEqual(CAPS.perEndpoint)
    world.heal()
    await world.finish()

    const all = (await Promise.all(hooks.map(({ id, accountId }) => world.deliveries(id, accountId)))).flat()
    expect(all).toHaveLength(20 * 3 * 40)
    expect(new Set(all.map(({ state }) => state))).toEqual(new Set(['delivered']))
    expect(world.told.filter(({ name }) => name === 'webhook_disabled')).toEqual([])
    expect(new Set(world.sent.map(({ delivery }) => delivery)).size).toBe(world.sent.length)
    expect(Math.max(...world.sent.map(({ inFlight }) => inFlight))).toBeLessThanOrEqual(CAPS.inAll)
    const curve = world.curve(world.healedMs())
    expect(curve.length).toBeGreaterThan(5)
    expect(peakToMean(curve)).toBeLessThanOrEqual(3)
    // One request a second for each place, no more.
    expect(Math.max(...curve)).toBeLessThanOrEqual((CAPS.inAll * BUCKET_MS) / 1000)
    await world.node.close(0)
  })

  it('what nobody could answer is not charged to its budget: all of it is delivered, and says how often it was tried', async () => {
    const few = hooks.slice(0, 12).map((hook) => ({ ...hook, settings: { ...hook.settings, retries: 1 } }))
    const world = await outage(few, 1000, { caps: CAPS })
    for (let minute = 0; minute < 20; minute++) {
      await world.publish(`call-${minute}`, { accountId: 'sub' })
      await world.clock.advance(MINUTE_MS)
    }
    world.heal()
    await world.finish()
    const all = (await Promise.all(few.map(({ id, accountId }) => world.deliveries(id, accountId)))).flat()
    // The first failures came before it was clear that nobody answers.
    const given = all.filter(({ state }) => state !== 'delivered').length
    expect(all).toHaveLength(20 * 12)
    expect(given).toBeLessThanOrEqual(12)
    expect(Math.max(...all.map(({ attempts }) => attempts))).toBeGreaterThan(3)
    await world.node.close(0)
  })

  it('no endpoint is given more than its own cap, however long it has waited', async () => {
    const world = await outage(hooks.slice(0, 8), 1000, { caps: CAPS })
    for (let call = 0; call < 120; call++) {
      await world.publish(`call-${call}`, { accountId: 'sub' })
      await world.clock.advance(10_000)
    }
    world.heal()
    await world.finish()
    const perEndpoint = Math.max(...world.curve(world.healedMs())) / 8
    expect(perEndpoint).toBeLessThanOrEqual((CAPS.perEndpoint * BUCKET_MS) / 1000)
    await world.node.close(0)
  })
})

describe('when one receiver was dead for an hour, and 2,000 calls wait', () => {
  it('it is probed within its longest pause, then gets what waits at its cap; nothing is lost, nobody disabled', async () => {
    const world = await outage([aWebhook({ retries: 2 })], 1000)
    for (let call = 0; call < 2000; call++) {
      await world.publish(`call-${call}`)
      await world.clock.advance((60 * MINUTE_MS) / 2000)
    }
    expect(await world.store.webhooks.read('acc', 'w1')).toMatchObject({ settings: { enabled: true } })
    expect(world.sent).toEqual([])
    world.heal()
    await world.finish()

    const [probe] = world.sent
    // Ten minutes ± 20 %, and one more where the last probe of before was still waiting for its time-out.
    expect(probe!.atMs - world.healedMs()).toBeLessThanOrEqual(12 * MINUTE_MS + 10_000)
    expect(world.sent.slice(0, 2).map(({ inFlight }) => inFlight)).toEqual([1, 1])
    expect(Math.max(...world.sent.map(({ inFlight }) => inFlight))).toBe(10)
    const curve = world.curve(probe!.atMs)
    expect(peakToMean(curve)).toBeLessThanOrEqual(3)
    expect(Math.max(...curve)).toBeLessThanOrEqual(100)

    const ended = (state: string) => world.told.filter(({ name }) => name === state).length
    expect(ended('delivered') + ended('exhausted')).toBe(2000)
    // Only what was tried before, thrice in vain, was given up: the others waited.
    expect(ended('exhausted')).toBeLessThan(20)
    expect(world.told.filter(({ name }) => name === 'webhook_disabled')).toEqual([])
    await world.node.close(0)
  })
})

/** Work whose length one account decides lets the event loop turn, and what is refused is refused before it is done. */
import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import type { Acceptance } from '../../src/delivery/delivery-store.js'
import { reportMatches } from '../../src/delivery/match-report.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { busyClock } from '../support/busy-clock.js'
import { aWebhook } from './fixtures.js'
import { createHarness, headerOf, responseWith } from './harness.js'

const event = (callId: string) => ({ hook: 'channel_create', accountId: 'acc', callId })
const events = (count: number) => Array.from({ length: count }, (_, n) => event(`call ${n}`))
const webhooks = (count: number, settings: Partial<Webhook['settings']> = {}) =>
  Array.from({ length: count }, (_, n) => aWebhook(settings, { id: `w${n}` }))

/** Dependencies of `acceptEvents` whose work takes long. Nothing is stored. */
async function busyDeps(candidates: readonly Webhook[], limits = {}) {
  const { accept } = await createHarness([])
  const clock = busyClock()
  const acceptances: Acceptance[] = []
  let reads = 0
  const deps = {
    ...accept,
    clock,
    limits: { ...accept.limits, ...limits },
    webhooks: {
      async candidates() {
        reads += 1
        return candidates
      },
    },
    async accept(acceptance: Acceptance) {
      acceptances.push(acceptance)
      return acceptance.events.map(({ id }) => ({ id, sequence: 1, duplicate: false }))
    },
  }
  return { deps, clock, acceptances, reads: () => reads }
}

/** Webhooks that count how often what only a delivery needs is read. */
function countingWebhooks(count: number) {
  const counter = { built: 0 }
  const settings = {
    ...aWebhook().settings,
    get httpVerb() {
      counter.built += 1
      return 'post' as const
    },
  }
  return { counter, candidates: webhooks(count).map((webhook) => ({ ...webhook, settings })) }
}

describe('accepting', () => {
  it('one event for many webhooks yields, and makes one acceptance in the order of the webhooks', async () => {
    const { deps, clock, acceptances } = await busyDeps(webhooks(4_096))
    await acceptEvents(deps, [event('call')])
    // Matching and building have 16 checks each.
    expect(clock.yields).toBeGreaterThanOrEqual(31)
    expect(acceptances).toHaveLength(1)
    expect(acceptances[0]!.deliveries.map(({ webhookId }) => webhookId)).toEqual(
      webhooks(4_096).map(({ id }) => id),
    )
  })

  it('many webhooks that do not match yields', async () => {
    const { deps, clock } = await busyDeps(webhooks(4_096, { filter: { exact: { call_id: 'no' } } }))
    await acceptEvents(deps, [event('call')])
    expect(clock.yields).toBeGreaterThanOrEqual(15)
  })

  it('many events yields, and keeps the deliveries of each together, in order; webhooks are read once', async () => {
    const { deps, clock, acceptances, reads } = await busyDeps(webhooks(3))
    await acceptEvents(deps, events(320))
    expect(clock.yields).toBeGreaterThanOrEqual(24)
    expect(reads()).toBe(1)
    const ids = acceptances[0]!.events.map(({ id }) => id)
    expect(acceptances[0]!.deliveries.map(({ eventId }) => eventId)).toEqual(
      ids.flatMap((id) => [id, id, id]),
    )
    expect(acceptances[0]!.events.map(({ callId }) => callId)).toEqual(
      events(320).map(({ callId }) => callId),
    )
  })

  it('large bodies yields between them', async () => {
    const customData = { text: 'x'.repeat(40_000) }
    const all = webhooks(64).map((webhook, n) => ({
      ...webhook,
      settings: { ...webhook.settings, customData: { ...customData, n: `${n}` } },
    }))
    const { deps, clock } = await busyDeps(all)
    await acceptEvents(deps, [event('call')])
    expect(clock.yields).toBeGreaterThanOrEqual(63)
  })

  it('an ordinary event never yields', async () => {
    const { deps, clock } = await busyDeps(webhooks(100))
    await acceptEvents(deps, [event('call')])
    expect(clock.yields).toBe(0)
  })

  it.each([
    [{ maxEventsPerRequest: 5 }, events(6), 0],
    [{ maxEventsPerRequest: 5 }, events(50), 0],
    [{ maxDeliveriesPerRequest: 20 }, events(3), 1],
    [{ maxDeliveriesPerRequest: 20 }, events(200), 1],
  ])('above %o nothing is built, and the rest is not matched', async (limits, inputs, reads) => {
    const { counter, candidates } = countingWebhooks(10)
    const test = await busyDeps(candidates, limits)
    await expect(acceptEvents(test.deps, inputs)).rejects.toMatchObject({
      code: 'TooLarge',
      field: Object.keys(limits)[0],
    })
    expect([counter.built, test.acceptances, test.reads()]).toEqual([0, [], reads])
  })

  it.each([
    [{ maxEventsPerRequest: 5, maxDeliveriesPerRequest: 50 }, events(5)],
    [{ maxDeliveriesPerRequest: 1 }, events(1)],
  ])('at %o everything is accepted', async (limits, inputs) => {
    const { counter, candidates } = countingWebhooks(10)
    const { deps, acceptances } = await busyDeps(candidates, limits)
    await acceptEvents(deps, inputs)
    expect(acceptances[0]!.deliveries).toHaveLength(10 * inputs.length)
    expect(counter.built).toBeGreaterThan(0)
  })
})

/** Publishes one event for so many webhooks, whose receivers do not answer yet. */
async function publishFor(count: number) {
  const harness = await createHarness(webhooks(count))
  harness.sender.script = () => undefined
  let yields = 0
  const { yield: yieldOnce } = harness.clock
  harness.clock.yield = () => {
    yields += 1
    return yieldOnce()
  }
  const node = harness.node()
  await node.start()
  await harness.clock.settle()
  yields = 0
  await harness.publish('call')
  await harness.clock.settle()
  return { harness, node, yields }
}

describe('the deliveries of a large acceptance', () => {
  it('enter the queue in parts, one in a turn', async () => {
    const [few, many] = [await publishFor(1_900), await publishFor(4_100)]
    expect(many.yields - few.yields).toBeGreaterThanOrEqual(3)
    for (const { node } of [few, many]) await node.close(0)
  })

  it('are all sent, once each', async () => {
    const { harness, node } = await publishFor(4_100)
    harness.sender.script = () => responseWith(200)
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.advance(60_000)
    const sent = harness.sender.requests.map((request) => headerOf(request, 'webhook-id'))
    expect([sent.length, new Set(sent).size]).toEqual([4_100, 4_100])
    await node.close(0)
  })
})

it('a report of many matches yields', async () => {
  const { accept, store } = await createHarness(webhooks(2_048))
  const clock = busyClock()
  const reports = await reportMatches({ ...accept, clock, webhooks: store.webhooks }, 'acc', event('call'))
  expect(reports).toHaveLength(2_048)
  expect(clock.yields).toBeGreaterThanOrEqual(7)
})

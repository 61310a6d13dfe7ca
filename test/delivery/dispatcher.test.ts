import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf } from './world.js'

const sequenceOf = (body: string | undefined) => JSON.parse(body ?? '{}').sequence as number

describe('the dispatcher', () => {
  it('sends what was accepted before it started, and what is accepted after', async () => {
    const world = await deliveryWorld()
    await world.publish('early')
    const node = world.node()
    await node.start()
    await world.clock.settle()
    await world.publish('late')
    await world.clock.settle()
    expect(world.sent()).toEqual(['early', 'late'])
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect(world.told.map(({ name }) => name)).toEqual(['attempt', 'delivered', 'attempt', 'delivered'])
    await node.close(0)
  })

  it('sends the next event of a call when the one before it has ended, and other calls meanwhile', async () => {
    const world = await deliveryWorld()
    world.sender.script = (request, attempt) =>
      answered(JSON.parse(request.body!).call_id === 'a' && attempt < 3 ? 500 : 200)
    const node = world.node({ policy: constant(1000, { jitter: 0 }) })
    await node.start()
    for (const call of ['a', 'a', 'b', 'a', 'b']) await world.publish(call)
    await world.clock.settle()
    expect(world.sent()).toEqual(['a', 'b', 'b'])
    await world.clock.advance(10_000)
    const ofA = world.sender.requests.filter((request) => JSON.parse(request.body!).call_id === 'a')
    expect(ofA.map((request) => [sequenceOf(request.body), headerOf(request, 'x-hook-attempt')])).toEqual(
      [1, 2, 3].flatMap((sequence) => ['1', '2', '3'].map((attempt) => [sequence, attempt])),
    )
    await node.close(0)
  })

  it('does not wait within a call for a webhook that wants no order', async () => {
    const world = await deliveryWorld([aWebhook({ ordering: 'none' })])
    world.sender.script = () => undefined
    const node = world.node()
    await node.start()
    for (const call of ['a', 'a', 'a']) await world.publish(call)
    await world.clock.settle()
    expect(world.sender.open).toHaveLength(3)
    await node.close(0)
  })

  it('sends the same id and bytes with every attempt, and a timestamp that does not go back', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 4 })])
    world.sender.script = () => answered(500)
    const node = world.node({ policy: constant(1000) })
    await node.start()
    await world.publish('a')
    await world.clock.advance(60_000)
    const { requests } = world.sender
    expect(requests).toHaveLength(5)
    expect(new Set(requests.map((request) => headerOf(request, 'webhook-id'))).size).toBe(1)
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    const times = requests.map((request) => Number(headerOf(request, 'webhook-timestamp')))
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const [delivery] = await world.deliveries()
    expect(delivery).toMatchObject({ state: 'exhausted', attempts: 5, tries: 5, reason: 'status 500' })
    expect((await world.attempts()).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    await node.close(0)
  })

  it.each([
    ['an endpoint', { perEndpoint: 3 }, 3],
    ['an account', { perAccount: 4 }, 4],
    ['all', { inAll: 2 }, 2],
  ])(
    'has at most so many requests in flight to %s, and uses the room that one leaves',
    async (_, caps, most) => {
      const world = await deliveryWorld([aWebhook()])
      const node = world.node({ caps })
      await node.start()
      // One that has answered may have every place.
      await world.publish('first')
      await world.clock.settle()
      world.sender.script = () => undefined
      for (let call = 0; call < 10; call++) await world.publish(`call-${call}`)
      await world.clock.settle()
      expect(world.sender.open).toHaveLength(most)
      expect(node.inFlight('w1')).toBe(most)
      for (let ended = 0; ended < 10; ended++) {
        world.sender.open[0]!.answer(answered(200))
        await world.clock.settle()
      }
      expect(world.sender.mostOpen).toBe(most)
      expect((await world.deliveries()).map(({ state }) => state)).toEqual(new Array(11).fill('delivered'))
      await node.close(0)
    },
  )

  it('gives every account its turn while one has a backlog and nobody answers', async () => {
    const other = aWebhook({}, { id: 'w2', accountId: 'sub' })
    const world = await deliveryWorld([aWebhook(), other])
    world.sender.script = () => undefined
    const node = world.node({ caps: { inAll: 5, perEndpoint: 4 } })
    for (let call = 0; call < 20; call++) await world.publish(`big-${call}`)
    for (let call = 0; call < 2; call++) await world.publish(`small-${call}`, { accountId: 'sub' })
    await node.start()
    await world.clock.settle()
    expect(world.sent().filter((call) => call.startsWith('small')).length).toBe(2)
    await node.close(0)
  })

  it('rests when nothing is due: no timer but the next due time', async () => {
    const world = await deliveryWorld()
    world.sender.script = () => answered(500)
    const node = world.node({ policy: constant(60_000, { jitter: 0 }) })
    await node.start()
    expect(world.clock.sleepers().count).toBe(0)
    await world.publish('a')
    await world.clock.settle()
    expect(world.clock.sleepers()).toEqual({ count: 1, nextDueMs: 60_000 })
    await node.close(0)
    expect(world.clock.sleepers().count).toBe(0)
  })

  it('keeps order, budget, caps and numbers whatever receivers answer', async () => {
    const outcomes = fc.constantFrom('200', '500', '302', 'timeout', 'own', '429')
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcomes, { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(3), fc.boolean()), { minLength: 1, maxLength: 25 }),
        async (script, publishes) => {
          const second = aWebhook({ retries: 0, ordering: 'none' }, { id: 'w2' })
          const world = await deliveryWorld([aWebhook({ retries: 3 }), second])
          let turn = 0
          world.sender.script = () => {
            const outcome = script[turn++ % script.length]!
            if (turn > 100) return answered(200)
            if (outcome === 'timeout') return { kind: 'no_response', failure: 'timeout', detail: '' }
            return outcome === 'own' ? { kind: 'own_fault', detail: '' } : answered(Number(outcome))
          }
          // Without pauses of the breaker, which has tests of its own, all end within the time below.
          const healthRules = { ...HEALTH_PRESETS.standard, breaker: null }
          const node = world.node({ caps: { perEndpoint: 2, perAccount: 3 }, healthRules })
          await node.start()
          for (const [call, pause] of publishes) {
            await world.publish(`call-${call}`)
            if (pause) await world.clock.advance(1500)
          }
          await world.clock.advance(86_400_000)

          const seen = new Map<string, number>()
          for (const request of world.sender.requests) {
            const body = JSON.parse(request.body!)
            const id = headerOf(request, 'webhook-id')
            expect(Number(headerOf(request, 'x-hook-attempt'))).toBe((seen.get(id) ?? 0) + 1)
            seen.set(id, (seen.get(id) ?? 0) + 1)
            expect(body.sequence).toBeGreaterThan(0)
          }
          for (const webhookId of ['w1', 'w2']) {
            for (const delivery of await world.deliveries(webhookId)) {
              expect(['delivered', 'exhausted']).toContain(delivery.state)
              expect(delivery.attempts).toBe(seen.get(delivery.id))
              expect(delivery.tries).toBeLessThanOrEqual(webhookId === 'w1' ? 4 : 1)
            }
          }
          const order = new Map((await world.deliveries('w1')).map(({ id }, index) => [id, index]))
          const last = new Map<string, number>()
          for (const request of world.sender.requests) {
            const place = order.get(headerOf(request, 'webhook-id'))
            if (place === undefined) continue
            const call = JSON.parse(request.body!).call_id
            expect(place).toBeGreaterThanOrEqual(last.get(call) ?? 0)
            last.set(call, place)
          }
          await node.close(0)
          expect(world.clock.sleepers().count).toBe(0)
        },
      ),
      { numRuns: 25 },
    )
  })
})

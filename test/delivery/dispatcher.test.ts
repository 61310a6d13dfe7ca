import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { constant } from '../../src/delivery/policy.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { aWebhook } from './fixtures.js'
import { createHarness, headerOf, responseWith } from './harness.js'

const sequenceOf = (body: string | undefined) => JSON.parse(body ?? '{}').sequence as number

describe('the dispatcher', () => {
  it('sends what was accepted before and after its start', async () => {
    const harness = await createHarness()
    await harness.publish('early')
    const node = harness.node()
    await node.start()
    await harness.clock.settle()
    await harness.publish('late')
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['early', 'late'])
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect(harness.emitted.map(({ name }) => name)).toEqual(['attempt', 'delivered', 'attempt', 'delivered'])
    await node.close(0)
  })

  it('sends the next event of a call after the previous one has ended; other calls do not wait', async () => {
    const harness = await createHarness()
    harness.sender.script = (request, attempt) =>
      responseWith(JSON.parse(request.body!).call_id === 'a' && attempt < 3 ? 500 : 200)
    const node = harness.node({ policy: constant(1000, { jitter: 0 }) })
    await node.start()
    for (const call of ['a', 'a', 'b', 'a', 'b']) await harness.publish(call)
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['a', 'b', 'b'])
    await harness.clock.advance(10_000)
    const ofA = harness.sender.requests.filter((request) => JSON.parse(request.body!).call_id === 'a')
    expect(ofA.map((request) => [sequenceOf(request.body), headerOf(request, 'x-hook-attempt')])).toEqual(
      [1, 2, 3].flatMap((sequence) => ['1', '2', '3'].map((attempt) => [sequence, attempt])),
    )
    await node.close(0)
  })

  it('does not wait within a call for a webhook without ordering', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    harness.sender.script = () => undefined
    for (const call of ['a', 'a', 'a']) await harness.publish(call)
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(3)
    await node.close(0)
  })

  it('sends the same id and bytes on every attempt, and a timestamp that never decreases', async () => {
    const harness = await createHarness([aWebhook({ retries: 4 })])
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ policy: constant(1000) })
    await node.start()
    await harness.publish('a')
    await harness.clock.advance(60_000)
    const { requests } = harness.sender
    expect(requests).toHaveLength(5)
    expect(new Set(requests.map((request) => headerOf(request, 'webhook-id'))).size).toBe(1)
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    const times = requests.map((request) => Number(headerOf(request, 'webhook-timestamp')))
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const [delivery] = await harness.deliveries()
    expect(delivery).toMatchObject({ state: 'exhausted', attempts: 5, tries: 5, reason: 'status 500' })
    expect((await harness.attempts()).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    await node.close(0)
  })

  it.each([
    ['an endpoint', { perEndpoint: 3 }, 3],
    ['an account', { perAccount: 4 }, 4],
    ['the whole node', { total: 2 }, 2],
  ])(
    'has at most its cap of requests in flight to %s, and reuses a slot when a request ends',
    async (_, caps, limit) => {
      const harness = await createHarness([aWebhook()])
      const node = harness.node({ caps })
      await node.start()
      // An endpoint that has answered fast may use every slot.
      await harness.publish('first')
      await harness.clock.settle()
      harness.sender.script = () => undefined
      for (let call = 0; call < 10; call++) await harness.publish(`call-${call}`)
      await harness.clock.settle()
      expect(harness.sender.open).toHaveLength(limit)
      expect(node.inFlight('w1')).toBe(limit)
      for (let ended = 0; ended < 10; ended++) {
        harness.sender.open[0]!.answer(responseWith(200))
        await harness.clock.settle()
      }
      expect(harness.sender.maxOpen).toBe(limit)
      expect((await harness.deliveries()).map(({ state }) => state)).toEqual(new Array(11).fill('delivered'))
      await node.close(0)
    },
  )

  it('serves every account while one has a backlog and no receiver answers', async () => {
    const other = aWebhook({}, { id: 'w2', accountId: 'sub' })
    const harness = await createHarness([aWebhook(), other])
    const node = harness.node({ caps: { total: 5, perEndpoint: 4 } })
    await node.start()
    for (const accountId of ['acc', 'sub']) await harness.publish('warm-up', { accountId })
    await harness.clock.settle()
    harness.sender.script = () => undefined
    const event = (accountId: string, callId: string) => ({ hook: 'channel_create', accountId, callId })
    const big = Array.from({ length: 18 }, (_, call) => event('acc', `big-${call}`))
    const small = [0, 1].map((call) => event('sub', `small-${call}`))
    // At once: otherwise the first ones start before the others are accepted.
    await acceptEvents(harness.accept, [...big, ...small])
    await harness.clock.settle()
    expect(harness.sent().filter((call) => call.startsWith('small')).length).toBe(2)
    await node.close(0)
  })

  it('has no timer except for the next due time when nothing is due', async () => {
    const harness = await createHarness()
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ policy: constant(60_000, { jitter: 0 }) })
    await node.start()
    expect(harness.clock.sleepers().count).toBe(0)
    await harness.publish('a')
    await harness.clock.settle()
    expect(harness.clock.sleepers()).toEqual({ count: 1, nextDueMs: 60_000 })
    await node.close(0)
    expect(harness.clock.sleepers().count).toBe(0)
  })

  it('keeps order, budget, caps and attempt numbers whatever receivers answer', async () => {
    const outcomes = fc.constantFrom('200', '500', '302', 'timeout', 'own', '429')
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcomes, { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(3), fc.boolean()), { minLength: 1, maxLength: 25 }),
        async (script, publishes) => {
          const second = aWebhook({ retries: 0, ordering: 'none' }, { id: 'w2' })
          const harness = await createHarness([aWebhook({ retries: 3 }), second])
          let turn = 0
          harness.sender.script = () => {
            const outcome = script[turn++ % script.length]!
            if (turn > 100) return responseWith(200)
            if (outcome === 'timeout') return { kind: 'no_response', failure: 'timeout', detail: '' }
            return outcome === 'own' ? { kind: 'own_fault', detail: '' } : responseWith(Number(outcome))
          }
          // Without pauses, which have their own tests, all deliveries end within the time below.
          const healthRules = { ...HEALTH_PRESETS.standard, pauses: false }
          // Calls wait for their first event to the end.
          const patienceMs = 30 * 86_400_000
          const node = harness.node({ caps: { perEndpoint: 2, perAccount: 3 }, healthRules, patienceMs })
          await node.start()
          for (const [call, pause] of publishes) {
            await harness.publish(`call-${call}`)
            if (pause) await harness.clock.advance(1500)
          }
          await harness.clock.advance(86_400_000)

          const attemptsOf = new Map<string, number>()
          for (const request of harness.sender.requests) {
            const body = JSON.parse(request.body!)
            const id = headerOf(request, 'webhook-id')
            expect(Number(headerOf(request, 'x-hook-attempt'))).toBe((attemptsOf.get(id) ?? 0) + 1)
            attemptsOf.set(id, (attemptsOf.get(id) ?? 0) + 1)
            expect(body.sequence).toBeGreaterThan(0)
          }
          for (const webhookId of ['w1', 'w2']) {
            for (const delivery of await harness.deliveries(webhookId)) {
              expect(['delivered', 'exhausted']).toContain(delivery.state)
              expect(delivery.attempts).toBe(attemptsOf.get(delivery.id))
              expect(delivery.tries).toBeLessThanOrEqual(webhookId === 'w1' ? 4 : 1)
            }
          }
          const order = new Map((await harness.deliveries('w1')).map(({ id }, index) => [id, index]))
          const last = new Map<string, number>()
          for (const request of harness.sender.requests) {
            const position = order.get(headerOf(request, 'webhook-id'))
            if (position === undefined) continue
            const call = JSON.parse(request.body!).call_id
            expect(position).toBeGreaterThanOrEqual(last.get(call) ?? 0)
            last.set(call, position)
          }
          await node.close(0)
          expect(harness.clock.sleepers().count).toBe(0)
        },
      ),
      { numRuns: 25 },
    )
  })
})

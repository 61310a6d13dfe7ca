import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptOutcome } from '../../src/delivery/announce.js'
import { outcomeOf } from '../../src/delivery/outcome.js'
import { constant } from '../../src/delivery/policy.js'
import { attemptRecord, interruptedRecord } from '../../src/delivery/record.js'
import { nextDelivery } from '../../src/delivery/retry.js'
import { ATTEMPT_OUTCOMES, METRICS } from '../../src/metrics.js'
import type { Observation, SendRequest, TransportFailure } from '../../src/ports.js'
import { safeMetrics } from '../../src/safe-metrics.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { notedMetrics } from './noted-metrics.js'
import { answered, deliveryWorld, silent, type World } from './world.js'

const FAILURES: readonly TransportFailure[] = [
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
]
const CLASSES: readonly (readonly [string, Observation])[] = [
  ['delivered', answered(200)],
  ['delivered', answered(299)],
  ['http', answered(199)],
  ['http', answered(400)],
  ['http', answered(410)],
  ['http', answered(429)],
  ['http', answered(599)],
  ['redirect', answered(301)],
  ['own_fault', { kind: 'own_fault', detail: 'EMFILE' }],
  ...FAILURES.map((failure): [string, Observation] => [
    failure,
    { kind: 'no_response', failure, detail: '' },
  ]),
]
const rules = { policy: constant(1000), functions: {}, retries: 2 }

describe('what became of a request', () => {
  it('has one label for every class of outcome, and no label is left over', () => {
    const request = { headers: [] as string[] } as unknown as SendRequest
    const labels = CLASSES.map(([label, observation]) => {
      const outcome = outcomeOf(observation, 0)
      const next = nextDelivery(aDelivery(), outcome, rules, 0, 0.5)
      const attempted = { request, observation, sentMs: 0, durationMs: 1 }
      const record = attemptRecord('r', aDelivery(), aWebhook(), attempted, outcome, next, rules)
      expect([observation, attemptOutcome(record)]).toEqual([observation, label])
      return label
    })
    const next = nextDelivery(aDelivery(), { kind: 'own_fault', detail: '' }, rules, 0, 0.5)
    const lost = interruptedRecord('r', aDelivery(), aWebhook(), next, rules, 0)
    labels.push(attemptOutcome(lost))
    expect(labels.at(-1)).toBe('interrupted')
    expect([...new Set(labels)].sort()).toEqual([...ATTEMPT_OUTCOMES].sort())
  })
})

async function measured(webhooks = [aWebhook()], options: Parameters<World['node']>[0] = {}) {
  const world = await deliveryWorld(webhooks)
  const noted = notedMetrics()
  const node = world.node(options, { metrics: noted.metrics })
  await node.start()
  return { world, node, noted }
}

describe('the measures of a delivery', () => {
  it('are how long each request took, and how long it was from acceptance to delivery, in seconds', async () => {
    const policy = constant(4000, { jitter: 0 })
    const { world, node, noted } = await measured(undefined, { policy })
    world.sender.script = () => undefined
    await world.publish('call')
    await world.clock.advance(1500)
    world.sender.open[0]!.answer(answered(500))
    await world.clock.advance(4000)
    await world.clock.advance(250)
    world.sender.open[0]!.answer(answered(200))
    await world.clock.settle()
    expect(noted.observed('hookswitch_attempt_duration_seconds')).toEqual([1.5, 0.25])
    expect(noted.observed('hookswitch_delivery_latency_seconds')).toEqual([5.75])
    await node.close(0)
  })

  it('are none of an end without a request, and no latency of what was not delivered', async () => {
    const { world, node, noted } = await measured([aWebhook({ maxAgeSeconds: 1, retries: 0 })])
    world.sender.script = () => answered(500)
    await world.publish('given-up')
    await world.publish('old', { timestampMs: world.clock.now() - 5000 })
    await world.clock.settle()
    expect(noted.labels('hookswitch_attempts_total')).toEqual({ http: 1 })
    expect(noted.labels('hookswitch_deliveries_ended_total')).toEqual({ exhausted: 1, expired: 1 })
    expect(noted.observed('hookswitch_attempt_duration_seconds')).toHaveLength(1)
    expect(noted.observed('hookswitch_delivery_latency_seconds')).toEqual([])
    await node.close(0)
  })

  it('count webhooks that the service disabled, by whether their receiver is gone', async () => {
    const hooks = [aWebhook({ retries: 0 }), aWebhook({ retries: 0 }, { id: 'w2' })]
    const { world, node, noted } = await measured(hooks, { healthRules: HEALTH_PRESETS.kazoo })
    world.sender.script = ({ group }) => answered(group === 'w1' ? 410 : 500)
    for (let call = 0; call < 8; call++) {
      await world.publish(`call-${call}`)
      await world.clock.settle()
    }
    expect(noted.labels('hookswitch_webhooks_disabled_total')).toEqual({ gone: 1, failing: 1 })
    await node.close(0)
  })

  it('count an attempt that nobody saw the end of, with no duration', async () => {
    const { world, node, noted } = await measured()
    world.sender.script = () => undefined
    await world.publish('call')
    await world.clock.settle()
    await node.close(0)
    expect(noted.labels('hookswitch_attempts_total')).toEqual({ interrupted: 1 })
    expect(noted.observed('hookswitch_attempt_duration_seconds')).toEqual([])
  })

  it('say over any run what the attempts and states of the store say', async () => {
    const seen = fc.constantFrom(...CLASSES.map(([, observation]) => observation))
    await fc.assert(
      fc.asyncProperty(
        fc.array(seen, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(fc.nat(3), fc.nat(2000)), { minLength: 1, maxLength: 20 }),
        async (script, publishes) => {
          const hooks = [aWebhook({ retries: 2 }), aWebhook({ retries: 0, maxAgeSeconds: 3 }, { id: 'w2' })]
          const healthRules = { breaker: null, autoDisable: null }
          const { world, node, noted } = await measured(hooks, { healthRules, policy: constant(1000) })
          let turn = 0
          // Own faults are repeated until they are over: after a while everything is answered.
          world.sender.script = () => (turn < 100 ? script[turn++ % script.length]! : answered(200))
          for (const [call, pauseMs] of publishes) {
            await world.publish(`call-${call}`)
            await world.clock.advance(pauseMs)
          }
          await world.clock.advance(86_400_000)
          await node.close(0)

          const deliveries = (await Promise.all([world.deliveries('w1'), world.deliveries('w2')])).flat()
          const tally = (list: readonly string[]) => {
            const sums: Record<string, number> = {}
            for (const one of list) sums[one] = (sums[one] ?? 0) + 1
            return sums
          }
          const attempts = (await world.attempts()).filter(({ attempt }) => attempt !== undefined)
          expect(noted.labels('hookswitch_deliveries_ended_total')).toEqual(
            tally(deliveries.map(({ state }) => state)),
          )
          expect(noted.labels('hookswitch_attempts_total')).toEqual(tally(attempts.map(attemptOutcome)))
          expect(attempts).toHaveLength(world.sender.requests.length)
          expect(noted.observed('hookswitch_attempt_duration_seconds')).toHaveLength(attempts.length)
          const delivered = deliveries.filter(({ state }) => state === 'delivered')
          expect([...noted.observed('hookswitch_delivery_latency_seconds')].sort()).toEqual(
            delivered.map(({ acceptedMs, endedMs }) => (endedMs! - acceptedMs) / 1000).sort(),
          )
          for (const name of ['hookswitch_attempts_total', 'hookswitch_deliveries_ended_total'] as const)
            for (const label of Object.keys(noted.labels(name))) expect(METRICS[name].values).toContain(label)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('that throw hurt nobody', async () => {
    const broken = () => {
      throw new Error('no backend')
    }
    const world = await deliveryWorld([aWebhook({ retries: 1 })])
    const metrics = safeMetrics({ count: broken, observe: broken, watch: broken }, silent)
    const node = world.node({ policy: constant(1000) }, { metrics })
    world.sender.script = (_, attempt) => answered(attempt === 1 ? 500 : 200)
    await node.start()
    for (const call of ['a', 'a', 'b']) await world.publish(call)
    await world.clock.advance(10_000)
    expect((await world.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(
      new Array(3).fill(['delivered', 2]),
    )
    expect(world.told.filter(({ name }) => name === 'attempt')).toHaveLength(6)
    await node.close(0)
  })
})

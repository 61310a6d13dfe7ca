import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildAttemptRecord, buildInterruptedRecord } from '../../../src/delivery/attempt-record.js'
import { outcomeOf } from '../../../src/delivery/outcome.js'
import { constant } from '../../../src/delivery/policy.js'
import { nextDelivery } from '../../../src/delivery/retry.js'
import { attemptOutcome } from '../../../src/delivery/worker/delivery-notifications.js'
import { ATTEMPT_OUTCOMES, METRICS } from '../../../src/metrics.js'
import type { Observation, SendRequest, TransportFailure } from '../../../src/ports.js'
import { safeMetrics } from '../../../src/runtime/safe-metrics.js'
import { FAILURE_CAUSES, type FailureCause } from '../../../src/values/failure-cause.js'
import { HEALTH_PRESETS } from '../../../src/webhooks/health.js'
import { aDelivery, aWebhook } from '../fixtures.js'
import { createHarness, type Harness, responseWith, silentLog } from '../harness.js'
import { createRecordingMetrics } from '../recording-metrics.js'

const FAILURES: readonly TransportFailure[] = [
  'timeout',
  'connection',
  'dns',
  'tls',
  'protocol',
  'blocked_address',
]
const CLASSES: readonly (readonly [string, Observation])[] = [
  ['delivered', responseWith(200)],
  ['delivered', responseWith(299)],
  ['http', responseWith(199)],
  ['http', responseWith(400)],
  ['http', responseWith(410)],
  ['http', responseWith(429)],
  ['http', responseWith(599)],
  ['redirect', responseWith(301)],
  ['own_fault', { kind: 'own_fault', detail: 'EMFILE' }],
  ...FAILURES.map((failure): [string, Observation] => [
    failure,
    { kind: 'no_response', failure, detail: '' },
  ]),
]
const rules = { policy: constant(1000), functions: {}, retries: 2 }

describe('attemptOutcome', () => {
  it('has one label for every class of outcome, and no unused label', () => {
    const request = { headers: [] as string[] } as unknown as SendRequest
    const labels = CLASSES.map(([label, observation]) => {
      const outcome = outcomeOf(observation, 0)
      const next = nextDelivery(aDelivery(), outcome, rules, 0, 0.5)
      const result = { request, observation, sentMs: 0, durationMs: 1 }
      const record = buildAttemptRecord('r', aDelivery(), aWebhook(), result, outcome, next, rules)
      expect([observation, attemptOutcome(record)]).toEqual([observation, label])
      return label
    })
    const next = nextDelivery(aDelivery(), { kind: 'own_fault', detail: '' }, rules, 0, 0.5)
    const lost = buildInterruptedRecord('r', aDelivery(), aWebhook(), next, rules, 0)
    labels.push(attemptOutcome(lost))
    expect(labels.at(-1)).toBe('interrupted')
    expect([...new Set(labels)].sort()).toEqual([...ATTEMPT_OUTCOMES].sort())
  })
})

async function measured(webhooks = [aWebhook()], options: Parameters<Harness['node']>[0] = {}) {
  const harness = await createHarness(webhooks)
  const recorded = createRecordingMetrics()
  const node = harness.node(options, { metrics: recorded.metrics })
  await node.start()
  return { harness, node, recorded }
}

describe('the metrics of a delivery', () => {
  it('are the duration of each request and the latency from acceptance to delivery, in seconds', async () => {
    const policy = constant(4000, { jitter: 0 })
    const { harness, node, recorded } = await measured(undefined, { policy })
    harness.sender.script = () => undefined
    await harness.publish('call')
    await harness.clock.advance(1500)
    harness.sender.open[0]!.answer(responseWith(500))
    await harness.clock.advance(4000)
    await harness.clock.advance(250)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(recorded.observed('hookswitch_attempt_duration_seconds')).toEqual([1.5, 0.25])
    expect(recorded.observed('hookswitch_delivery_latency_seconds')).toEqual([5.75])
    await node.close(0)
  })

  it('have no duration for an end without a request, and no latency for an undelivered event', async () => {
    const { harness, node, recorded } = await measured([aWebhook({ maxAgeSeconds: 1, retries: 0 })])
    harness.sender.script = () => undefined
    for (let event = 0; event < 2; event++) await harness.publish('call')
    await harness.clock.advance(2_000)
    harness.sender.open[0]!.answer(responseWith(500))
    await harness.clock.settle()
    expect(recorded.labels('hookswitch_attempts_total')).toEqual({ http: 1 })
    expect(recorded.labels('hookswitch_deliveries_ended_total')).toEqual({ exhausted: 1, expired: 1 })
    expect(recorded.observed('hookswitch_attempt_duration_seconds')).toHaveLength(1)
    expect(recorded.observed('hookswitch_delivery_latency_seconds')).toEqual([])
    await node.close(0)
  })

  it('count each request without a usable answer by its cause, and no other', async () => {
    const causes = Object.keys(FAILURE_CAUSES) as FailureCause[]
    const unanswered = [...causes.map((cause) => ({ cause })), {}, { cause: 'constructor' }].map(
      (cause) => ({ kind: 'no_response', failure: 'connection', detail: '', ...cause }) as Observation,
    )
    const answered = [200, 204, 302, 404, 410, 429, 500, 503].map((status) => responseWith(status))
    const observations: readonly Observation[] = [
      ...unanswered,
      { kind: 'no_response', failure: 'blocked_address', detail: '' },
      ...answered,
      { kind: 'own_fault', detail: 'EMFILE' },
    ]
    const hooks = observations.map((_, index) => aWebhook({}, { id: `w${index}` }))
    const { harness, node, recorded } = await measured(hooks)
    harness.sender.script = ({ group }) => observations[Number(group.slice(1))]!
    await harness.publish('call')
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(observations.length)
    expect(recorded.labels('hookswitch_attempts_failed_total')).toEqual({
      ...Object.fromEntries(causes.map((cause) => [cause, 1])),
      other: 3,
    })
    expect(METRICS.hookswitch_attempts_failed_total.values).toEqual([...causes, 'other'])
    await node.close(0)
  })

  it('count the webhooks that were disabled, by reason', async () => {
    const hooks = [aWebhook({ retries: 0 }), aWebhook({ retries: 0 }, { id: 'w2' })]
    const { harness, node, recorded } = await measured(hooks, { healthRules: HEALTH_PRESETS.kazoo })
    harness.sender.script = ({ group }) => responseWith(group === 'w1' ? 410 : 500)
    for (let call = 0; call < 8; call++) {
      await harness.publish(`call-${call}`)
      await harness.clock.settle()
    }
    expect(recorded.labels('hookswitch_webhooks_disabled_total')).toEqual({ gone: 1, failing: 1 })
    await node.close(0)
  })

  it('count an interrupted attempt without a duration', async () => {
    const { harness, node, recorded } = await measured()
    harness.sender.script = () => undefined
    await harness.publish('call')
    await harness.clock.settle()
    await node.close(0)
    expect(recorded.labels('hookswitch_attempts_total')).toEqual({ interrupted: 1 })
    expect(recorded.observed('hookswitch_attempt_duration_seconds')).toEqual([])
  })

  it('agree with the attempts and states in the store over any history', async () => {
    const observations = fc.constantFrom(...CLASSES.map(([, observation]) => observation))
    await fc.assert(
      fc.asyncProperty(
        fc.array(observations, { minLength: 1, maxLength: 30 }),
        fc.array(fc.tuple(fc.nat(3), fc.nat(2000)), { minLength: 1, maxLength: 20 }),
        async (script, publishes) => {
          const hooks = [aWebhook({ retries: 2 }), aWebhook({ retries: 0, maxAgeSeconds: 3 }, { id: 'w2' })]
          const healthRules = { pauses: false, autoDisable: null }
          const { harness, node, recorded } = await measured(hooks, { healthRules, policy: constant(1000) })
          let turn = 0
          // Internal faults are retried forever, so after 100 requests everything is answered.
          harness.sender.script = () => (turn < 100 ? script[turn++ % script.length]! : responseWith(200))
          for (const [call, pauseMs] of publishes) {
            await harness.publish(`call-${call}`)
            await harness.clock.advance(pauseMs)
          }
          await harness.clock.advance(86_400_000)
          await node.close(0)

          const deliveries = (await Promise.all([harness.deliveries('w1'), harness.deliveries('w2')])).flat()
          const countEach = (list: readonly string[]) => {
            const sums: Record<string, number> = {}
            for (const item of list) sums[item] = (sums[item] ?? 0) + 1
            return sums
          }
          const attempts = (await harness.attempts()).filter(({ attempt }) => attempt !== undefined)
          expect(recorded.labels('hookswitch_deliveries_ended_total')).toEqual(
            countEach(deliveries.map(({ state }) => state)),
          )
          expect(recorded.labels('hookswitch_attempts_total')).toEqual(
            countEach(attempts.map(attemptOutcome)),
          )
          expect(attempts).toHaveLength(harness.sender.requests.length)
          expect(recorded.observed('hookswitch_attempt_duration_seconds')).toHaveLength(attempts.length)
          const delivered = deliveries.filter(({ state }) => state === 'delivered')
          expect([...recorded.observed('hookswitch_delivery_latency_seconds')].sort()).toEqual(
            delivered.map(({ acceptedMs, endedMs }) => (endedMs! - acceptedMs) / 1000).sort(),
          )
          for (const name of ['hookswitch_attempts_total', 'hookswitch_deliveries_ended_total'] as const)
            for (const label of Object.keys(recorded.labels(name)))
              expect(METRICS[name].values).toContain(label)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('may throw without an effect on deliveries', async () => {
    const broken = () => {
      throw new Error('no backend')
    }
    const harness = await createHarness([aWebhook({ retries: 1 })])
    const metrics = safeMetrics({ count: broken, observe: broken, watch: broken }, silentLog)
    const node = harness.node({ policy: constant(1000) }, { metrics })
    harness.sender.script = (_, attempt) => responseWith(attempt === 1 ? 500 : 200)
    await node.start()
    for (const call of ['a', 'a', 'b']) await harness.publish(call)
    await harness.clock.advance(10_000)
    expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(
      new Array(3).fill(['delivered', 2]),
    )
    expect(harness.emitted.filter(({ name }) => name === 'attempt')).toHaveLength(6)
    await node.close(0)
  })
})

import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import type { DispatcherDoors } from '../../src/delivery/dispatcher.js'
import { materialCache } from '../../src/delivery/material.js'
import { constant } from '../../src/delivery/policy.js'
import { replayDeliveries } from '../../src/delivery/replay.js'
import type { Observation, SpanFacts, Tracing } from '../../src/ports.js'
import { safeTracing } from '../../src/safe-metrics.js'
import { secretBox } from '../../src/values/seal.js'
import { sealPurpose } from '../../src/webhooks/view.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, silent, type World } from './world.js'

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const OWN = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`

const publish = async (world: World, traceparent?: string, callId = 'call') => {
  const event = { hook: 'channel_create', accountId: 'acc', callId }
  return acceptEvents(world.accept, [event], 1000, traceparent)
}
/** The values of every `traceparent` of each request. */
const traces = (world: World) =>
  world.sender.requests.map(({ headers }) =>
    headers.filter((_, index) => index % 2 === 1 && headers[index - 1]!.toLowerCase() === 'traceparent'),
  )
async function started(doors: Partial<DispatcherDoors> = {}, webhook = aWebhook({ retries: 2 })) {
  const world = await deliveryWorld([webhook])
  const node = world.node({ policy: constant(1000, { jitter: 0 }) }, doors)
  await node.start()
  return { world, node }
}

interface NotedSpan {
  readonly name: string
  readonly parent: string | undefined
  facts: SpanFacts
  ends: (string | undefined)[]
}
/** Spans `00-…-1-01`, `00-…-2-01`, … or none that are recorded. */
function notingTracing(recorded = true) {
  const spans: NotedSpan[] = []
  const tracing: Tracing = {
    begin(name, parent, facts) {
      const span: NotedSpan = { name, parent, facts, ends: [] }
      const number = String(spans.push(span)).padStart(16, '0')
      return {
        traceparent: recorded ? `00-${'a'.repeat(32)}-${number}-01` : undefined,
        end(more, failure) {
          span.facts = { ...span.facts, ...more }
          span.ends.push(failure)
        },
      }
    },
  }
  return { spans, tracing }
}

describe('the trace that an event was published in', () => {
  it('goes with every attempt, and with a replay', async () => {
    const { world, node } = await started()
    world.sender.script = (_, attempt) => answered(attempt < 3 ? 500 : 200)
    await publish(world, PARENT)
    await world.clock.advance(5000)
    const [old] = await world.deliveries()
    await replayDeliveries({ ...world.accept, ...world.store }, 'acc', 'w1', { deliveryId: old!.id }, 100)
    await world.clock.advance(5000)
    expect(traces(world)).toEqual(new Array(6).fill([PARENT]))
    expect((await world.attempts())[0]!.requestHeaders).toContain(PARENT)
    await node.close(0)
  })

  it('is of that event alone: where none was given, none is sent', async () => {
    const { world, node } = await started()
    await publish(world, undefined, 'without')
    await publish(world, PARENT, 'with')
    await publish(world, undefined, 'without')
    await world.clock.settle()
    const byCall = world.sent().map((call, index) => [call, traces(world)[index]])
    expect(byCall.sort()).toEqual([
      ['with', [PARENT]],
      ['without', []],
      ['without', []],
    ])
    await node.close(0)
  })

  it.each(['traceparent', 'Traceparent', 'TRACEPARENT'])(
    'gives way to the one among the webhook’s own headers, spelt %s',
    async (name) => {
      const box = secretBox(['a secret of the service'])
      const own = JSON.stringify({ [name]: OWN, 'X-Other': 'y' })
      const sealedHeaders = box.seal(own, sealPurpose.headers('w1'), new Uint8Array(12))
      const { world, node } = await started(
        { material: materialCache(box, 'agent'), tracing: notingTracing().tracing },
        aWebhook({}, { sealedHeaders }),
      )
      await publish(world, PARENT)
      await world.clock.settle()
      expect(traces(world)).toEqual([[OWN]])
      await node.close(0)
    },
  )
})

describe('with a tracing door', () => {
  it('each attempt is a span of its own under the published context, and its own context goes out', async () => {
    const { spans, tracing } = notingTracing()
    const { world, node } = await started({ tracing })
    world.sender.script = (_, attempt) => answered(attempt < 3 ? 500 : 200)
    await publish(world, PARENT)
    await world.clock.advance(5000)
    const sent = [1, 2, 3].map((number) => [`00-${'a'.repeat(32)}-${String(number).padStart(16, '0')}-01`])
    expect(traces(world)).toEqual(sent)
    expect(spans.map(({ name, parent }) => [name, parent])).toEqual(new Array(3).fill(['attempt', PARENT]))
    expect(spans.map(({ ends }) => ends)).toEqual([['500'], ['500'], [undefined]])
    expect(spans.map(({ facts }) => facts['hookswitch.attempt'])).toEqual([1, 2, 3])
    const [delivery] = await world.deliveries()
    expect(spans[2]!.facts).toEqual({
      'hookswitch.delivery_id': delivery!.id,
      'hookswitch.event_id': delivery!.eventId,
      'hookswitch.webhook_id': 'w1',
      'hookswitch.account_id': 'acc',
      'hookswitch.hook': 'channel_create',
      'hookswitch.attempt': 3,
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': 'example.com',
      'server.port': 443,
    })
    await node.close(0)
  })

  it('that records nothing, the published context goes out in its place', async () => {
    const { world, node } = await started({ tracing: notingTracing(false).tracing })
    await publish(world, PARENT)
    await publish(world)
    await world.clock.settle()
    expect(traces(world)).toEqual([[PARENT], []])
    await node.close(0)
  })

  it.each<[string, Observation, string | undefined]>([
    ['an answer of 204', answered(204), undefined],
    ['an answer of 199', answered(199), '199'],
    ['an answer of 302', answered(302), '302'],
    ['an answer of 410', answered(410), '410'],
    ['no answer in time', { kind: 'no_response', failure: 'timeout', detail: '' }, 'timeout'],
    ['a name that is none', { kind: 'no_response', failure: 'dns', detail: '' }, 'dns'],
    ['a blocked address', { kind: 'no_response', failure: 'blocked_address', detail: '' }, 'blocked_address'],
    ['a fault of ours', { kind: 'own_fault', detail: 'EMFILE' }, 'own_fault'],
    ['a withdrawal', { kind: 'withdrawn' }, 'withdrawn'],
  ])('a span of %s ends once, and says so in a word', async (_, seen, word) => {
    const { spans, tracing } = notingTracing()
    const { world, node } = await started({ tracing })
    world.sender.script = () => seen
    await publish(world)
    await world.clock.settle()
    expect(spans.map(({ ends }) => ends)).toEqual([[word]])
    expect('http.response.status_code' in spans[0]!.facts).toBe(seen.kind === 'response')
    await node.close(0)
  })

  it.each<[string, Tracing]>([
    [
      'at its beginning',
      {
        begin() {
          throw new Error('no tracer')
        },
      },
    ],
    [
      'at its end',
      {
        begin: () => ({
          traceparent: OWN,
          end() {
            throw new Error('no exporter')
          },
        }),
      },
    ],
    ['at neither, but begins nothing', { begin: () => undefined as never }],
  ])('that throws %s, everything is delivered once all the same', async (_, tracing) => {
    const { world, node } = await started({ tracing: safeTracing(tracing, silent) })
    for (const call of ['a', 'b', 'c']) await publish(world, PARENT, call)
    await world.clock.settle()
    expect((await world.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(
      new Array(3).fill(['delivered', 1]),
    )
    for (const [trace] of traces(world)) expect([PARENT, OWN]).toContain(trace)
    await node.close(0)
  })
})

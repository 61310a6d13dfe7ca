import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import type { DispatcherDeps } from '../../src/delivery/dispatcher.js'
import { constant } from '../../src/delivery/policy.js'
import { replayDelivery } from '../../src/delivery/replay.js'
import { createEndpointSecretsCache } from '../../src/delivery/worker/endpoint-secrets.js'
import type { Observation, SpanAttributes, Tracing } from '../../src/ports.js'
import { safeTracing } from '../../src/runtime/safe-metrics.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { encryptionPurpose } from '../../src/webhooks/view.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith, silentLog } from './harness.js'

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const OWN = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`

const publish = async (harness: Harness, traceparent?: string, callId = 'call') => {
  const event = { hook: 'channel_create', accountId: 'acc', callId }
  return acceptEvents(harness.accept, [event], { traceparent })
}
/** All `traceparent` values of each request. */
const traceparents = (harness: Harness) =>
  harness.sender.requests.map(({ headers }) =>
    headers.filter((_, index) => index % 2 === 1 && headers[index - 1]!.toLowerCase() === 'traceparent'),
  )
async function started(deps: Partial<DispatcherDeps> = {}, webhook = aWebhook({ retries: 2 })) {
  const harness = await createHarness([webhook])
  const node = harness.node({ policy: constant(1000, { jitter: 0 }) }, deps)
  await node.start()
  return { harness, node }
}

interface RecordedSpan {
  readonly name: string
  readonly parent: string | undefined
  facts: SpanAttributes
  ends: (string | undefined)[]
}
/** Records spans, with the contexts `00-…-1-01`, `00-…-2-01`, …; `isSampled` false: without contexts. */
function createRecordingTracing(isSampled = true) {
  const spans: RecordedSpan[] = []
  const tracing: Tracing = {
    begin(name, parent, facts) {
      const span: RecordedSpan = { name, parent, facts, ends: [] }
      const number = String(spans.push(span)).padStart(16, '0')
      return {
        traceparent: isSampled ? `00-${'a'.repeat(32)}-${number}-01` : undefined,
        end(more, failure) {
          span.facts = { ...span.facts, ...more }
          span.ends.push(failure)
        },
      }
    },
  }
  return { spans, tracing }
}

describe('the trace context of a published event', () => {
  it('is sent with every attempt and with a replay', async () => {
    const { harness, node } = await started()
    harness.sender.script = (_, attempt) => responseWith(attempt < 3 ? 500 : 200)
    await publish(harness, PARENT)
    await harness.clock.advance(5000)
    const [old] = await harness.deliveries()
    await replayDelivery({ ...harness.accept, ...harness.store }, 'acc', 'w1', old!.id)
    await harness.clock.advance(5000)
    expect(traceparents(harness)).toEqual(new Array(6).fill([PARENT]))
    expect((await harness.attempts())[0]!.requestHeaders).toContain(PARENT)
    await node.close(0)
  })

  it('belongs to that event only: an event without one is sent without one', async () => {
    const { harness, node } = await started()
    await publish(harness, undefined, 'without')
    await publish(harness, PARENT, 'with')
    await publish(harness, undefined, 'without')
    await harness.clock.settle()
    const byCall = harness.sent().map((call, index) => [call, traceparents(harness)[index]])
    expect(byCall.sort()).toEqual([
      ['with', [PARENT]],
      ['without', []],
      ['without', []],
    ])
    await node.close(0)
  })

  it.each(['traceparent', 'Traceparent', 'TRACEPARENT'])(
    'is replaced by the custom header of the webhook, spelt %s',
    async (name) => {
      const box = createSecretCipher(['a secret of the service'])
      const own = JSON.stringify({ [name]: OWN, 'X-Other': 'y' })
      const sealedHeaders = box.encrypt(own, encryptionPurpose.headers('w1'), new Uint8Array(12))
      const { harness, node } = await started(
        {
          endpointSecrets: createEndpointSecretsCache(box, 'agent'),
          tracing: createRecordingTracing().tracing,
        },
        aWebhook({}, { sealedHeaders }),
      )
      await publish(harness, PARENT)
      await harness.clock.settle()
      expect(traceparents(harness)).toEqual([[OWN]])
      await node.close(0)
    },
  )
})

describe('with tracing', () => {
  it('each attempt is a span under the published context, and its own context is sent', async () => {
    const { spans, tracing } = createRecordingTracing()
    const { harness, node } = await started({ tracing })
    harness.sender.script = (_, attempt) => responseWith(attempt < 3 ? 500 : 200)
    await publish(harness, PARENT)
    await harness.clock.advance(5000)
    const expected = [1, 2, 3].map((number) => [
      `00-${'a'.repeat(32)}-${String(number).padStart(16, '0')}-01`,
    ])
    expect(traceparents(harness)).toEqual(expected)
    expect(spans.map(({ name, parent }) => [name, parent])).toEqual(new Array(3).fill(['attempt', PARENT]))
    expect(spans.map(({ ends }) => ends)).toEqual([['500'], ['500'], [undefined]])
    expect(spans.map(({ facts }) => facts['hookswitch.attempt'])).toEqual([1, 2, 3])
    const [delivery] = await harness.deliveries()
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

  it('that does not sample, the published context is sent', async () => {
    const { harness, node } = await started({ tracing: createRecordingTracing(false).tracing })
    await publish(harness, PARENT)
    await publish(harness)
    await harness.clock.settle()
    expect(traceparents(harness)).toEqual([[PARENT], []])
    await node.close(0)
  })

  it.each<[string, Observation, string | undefined]>([
    ['an answer of 204', responseWith(204), undefined],
    ['an answer of 199', responseWith(199), '199'],
    ['an answer of 302', responseWith(302), '302'],
    ['an answer of 410', responseWith(410), '410'],
    ['a timeout', { kind: 'no_response', failure: 'timeout', detail: '' }, 'timeout'],
    ['an unknown host name', { kind: 'no_response', failure: 'dns', detail: '' }, 'dns'],
    ['a blocked address', { kind: 'no_response', failure: 'blocked_address', detail: '' }, 'blocked_address'],
    ['an own fault', { kind: 'own_fault', detail: 'EMFILE' }, 'own_fault'],
    ['a cancellation', { kind: 'cancelled' }, 'cancelled'],
  ])('the span of %s ends once, with its failure class', async (_, observation, failure) => {
    const { spans, tracing } = createRecordingTracing()
    const { harness, node } = await started({ tracing })
    harness.sender.script = () => observation
    await publish(harness)
    await harness.clock.settle()
    expect(spans.map(({ ends }) => ends)).toEqual([[failure]])
    expect('http.response.status_code' in spans[0]!.facts).toBe(observation.kind === 'response')
    await node.close(0)
  })

  it.each<[string, Tracing]>([
    [
      'when a span begins',
      {
        begin() {
          throw new Error('no tracer')
        },
      },
    ],
    [
      'when a span ends',
      {
        begin: () => ({
          traceparent: OWN,
          end() {
            throw new Error('no exporter')
          },
        }),
      },
    ],
    ['never, but returns no span', { begin: () => undefined as never }],
  ])('that throws %s, everything is still delivered once', async (_, tracing) => {
    const { harness, node } = await started({ tracing: safeTracing(tracing, silentLog) })
    for (const call of ['a', 'b', 'c']) await publish(harness, PARENT, call)
    await harness.clock.settle()
    expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(
      new Array(3).fill(['delivered', 1]),
    )
    for (const [value] of traceparents(harness)) expect([PARENT, OWN]).toContain(value)
    await node.close(0)
  })
})

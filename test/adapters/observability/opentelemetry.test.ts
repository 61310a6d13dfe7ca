import * as api from '@opentelemetry/api'
import { DataPointType, type Histogram } from '@opentelemetry/sdk-metrics'
import { AlwaysOffSampler, BasicTracerProvider, ParentBasedSampler } from '@opentelemetry/sdk-trace-base'
import { METRICS, type MetricShape } from 'hookswitch/adapter'
import { openTelemetry } from 'hookswitch/opentelemetry'
import { afterEach, describe, expect, it } from 'vitest'
import { instrumentName } from '../../../adapters/observability/otel-metrics.js'
import { otelHarness } from './otel-harness.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-01`
const SHAPES = Object.entries(METRICS) as [string, MetricShape][]

let harness: ReturnType<typeof otelHarness>
const setUp = (...args: Parameters<typeof otelHarness>) => {
  harness = otelHarness(...args)
  const { meter, tracer } = harness
  return { ...harness, ...openTelemetry({ api, meter, tracer }) }
}
afterEach(() => harness.close())

describe('openTelemetry().metrics', () => {
  it('creates every instrument at the start, with name, unit and type of the OpenTelemetry conventions', async () => {
    const { collected, metrics } = setUp()
    metrics.watch(async () =>
      SHAPES.filter(([, { kind }]) => /gauge|observable/.test(kind)).map(([name, { label, values }]) => ({
        name: name as never,
        value: 1,
        ...(label && { label: values?.[0] ?? 'kamailio a:8448' }),
      })),
    )
    metrics.observe('hookswitch_attempt_duration_seconds', 1)
    metrics.observe('hookswitch_delivery_latency_seconds', 1)
    const found = await collected()
    expect([...found.keys()].sort()).toEqual(SHAPES.map(([name]) => instrumentName(name)).sort())
    const types = {
      counter: DataPointType.SUM,
      observable_counter: DataPointType.SUM,
      gauge: DataPointType.GAUGE,
      histogram: DataPointType.HISTOGRAM,
    }
    for (const [name, shape] of SHAPES) {
      const { descriptor, dataPointType, dataPoints } = found.get(instrumentName(name))!
      expect([name, dataPointType]).toEqual([name, types[shape.kind]])
      expect(descriptor.description).toBe(shape.help)
      expect(descriptor.unit).toBe(name.endsWith('_seconds') ? 's' : '')
      const values = shape.label ? (shape.values ?? ['kamailio a:8448']) : undefined
      const labels = values?.map((value) => ({ [shape.label!]: value })) ?? [{}]
      expect(dataPoints.map(({ attributes }) => attributes)).toEqual(labels)
    }
  })

  it('names instruments without unit and total, which exporters add', () => {
    expect(instrumentName('hookswitch_attempts_total')).toBe('hookswitch.attempts')
    expect(instrumentName('hookswitch_delivery_latency_seconds')).toBe('hookswitch.delivery_latency')
    expect(instrumentName('hookswitch_in_flight')).toBe('hookswitch.in_flight')
  })

  it('sums counters by label and counts durations in the buckets of METRICS', async () => {
    const { value, metrics } = setUp()
    metrics.count('hookswitch_attempts_total', 2, 'delivered')
    metrics.count('hookswitch_attempts_total', 1, 'delivered')
    for (const seconds of [0.004, 0.03, 99, -1, Number.NaN])
      metrics.observe('hookswitch_attempt_duration_seconds', seconds)
    expect(await value('hookswitch.attempts', { outcome: 'delivered' })).toBe(3)
    expect(await value('hookswitch.attempts', { outcome: 'dns' })).toBe(0)
    const { buckets, count, sum } = (await value('hookswitch.attempt_duration')) as Histogram
    expect(buckets.boundaries).toEqual(METRICS.hookswitch_attempt_duration_seconds.buckets)
    expect(buckets.counts).toEqual([2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1])
    expect([count, sum]).toEqual([4, 99.034])
  })

  it('ignores names and labels that METRICS does not contain', async () => {
    const { series, value, metrics } = setUp()
    const before = await series()
    const count = metrics.count as (name: string, by: number, label?: string) => void
    count('hookswitch_attempts_total', 1, 'a name chosen by a client')
    count('constructor', 1)
    count('hookswitch_events_accepted_total', -1)
    metrics.observe('nothing' as never, 1)
    expect(await series()).toBe(before)
    expect(await value('hookswitch.events_accepted')).toBe(0)
  })

  it('reads gauges at each collection until every instance has ended, and omits them while one cannot be read', async () => {
    const { value, metrics } = setUp()
    let reads = 0
    let reading: () => Promise<number> = async () => 3
    const first = new AbortController()
    const second = new AbortController()
    const read = async (inFlight: Promise<number>) => {
      reads += 1
      return [{ name: 'hookswitch_in_flight', value: await inFlight }] as const
    }
    metrics.watch(() => read(reading()), first.signal)
    expect(await value('hookswitch.in_flight')).toBe(3)
    metrics.watch(() => read(Promise.resolve(4)), second.signal)
    expect([await value('hookswitch.in_flight'), reads]).toEqual([7, 3])
    // The SDK keeps the last value; the adapter reports no new value and no error.
    reading = () => Promise.reject(new Error('the store is unavailable'))
    expect([await value('hookswitch.in_flight'), reads]).toEqual([7, 5])
    first.abort()
    expect([await value('hookswitch.in_flight'), reads]).toEqual([4, 6])
    second.abort()
    await value('hookswitch.in_flight')
    metrics.watch(() => read(Promise.resolve(9)), second.signal)
    expect([await value('hookswitch.in_flight'), reads]).toEqual([4, 6])
  })
})

describe('openTelemetry().tracing', () => {
  it('starts a publish span in the active context, as a producer, and ends it with its result', async () => {
    const { tracing, spans, inSpan } = setUp()
    const host = await inSpan(async (own) => {
      const span = tracing.begin('publish', undefined, { 'messaging.system': 'hookswitch' })
      span.end({ 'messaging.message.id': 'e1' })
      expect(span.traceparent).toBe(`00-${own.traceId}-${spans()[0]!.spanContext().spanId}-01`)
      return own
    })
    const [span] = spans()
    expect(span).toMatchObject({
      name: 'publish',
      kind: api.SpanKind.PRODUCER,
      parentSpanContext: { spanId: host.spanId, traceId: host.traceId },
      attributes: { 'messaging.system': 'hookswitch', 'messaging.message.id': 'e1' },
      status: { code: api.SpanStatusCode.UNSET },
    })
  })

  it('starts an attempt span under the span of its event, as a client, whatever context is active', async () => {
    const { tracing, spans, inSpan } = setUp()
    await inSpan(async (own) => {
      tracing.begin('attempt', PARENT, {}).end({})
      tracing.begin('attempt', undefined, {}).end({})
      const [under, root] = spans()
      expect(under).toMatchObject({
        name: 'attempt',
        kind: api.SpanKind.CLIENT,
        parentSpanContext: { traceId: TRACE, spanId: '00f067aa0ba902b7', isRemote: true },
      })
      expect(under!.spanContext().traceId).toBe(TRACE)
      expect(root!.parentSpanContext).toBeUndefined()
      expect(root!.spanContext().traceId).not.toBe(own.traceId)
    })
  })

  it('starts a publish span under the given parent unless a span of the same trace is active', async () => {
    const { tracing, spans, inSpan } = setUp()
    tracing.begin('publish', PARENT, {}).end({})
    expect(spans()[0]!.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' })
    await inSpan(async (own) => {
      tracing.begin('publish', PARENT, {}).end({})
      expect(spans()[1]!.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' })
      tracing.begin('publish', `00-${own.traceId}-1111111111111111-01`, {}).end({})
      expect(spans()[2]!.parentSpanContext).toMatchObject(own)
    })
  })

  it('records the error of a failed span', () => {
    const { tracing, spans } = setUp()
    tracing.begin('attempt', PARENT, {}).end({ 'http.response.status_code': 500 }, '500')
    expect(spans()[0]).toMatchObject({
      status: { code: api.SpanStatusCode.ERROR, message: '500' },
      attributes: { 'error.type': '500', 'http.response.status_code': 500 },
    })
  })

  it('propagates the decision not to sample', () => {
    const { tracing, spans } = setUp(new ParentBasedSampler({ root: new AlwaysOffSampler() }))
    const unsampled = tracing.begin('publish', undefined, {})
    expect(unsampled.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    const attempt = tracing.begin('attempt', unsampled.traceparent, {})
    expect(attempt.traceparent).toMatch(
      new RegExp(`^${unsampled.traceparent!.slice(0, 35)}-[0-9a-f]{16}-00$`),
    )
    attempt.end({})
    unsampled.end({}, 'QueueFull')
    expect(spans()).toEqual([])
    expect(tracing.begin('attempt', PARENT, {}).traceparent).toMatch(/-01$/)
  })

  it('propagates the given traceparent, and no other, without an SDK', () => {
    harness = otelHarness()
    const { metrics, tracing } = openTelemetry({ api })
    expect(tracing.begin('attempt', PARENT, {}).traceparent).toBe(PARENT)
    const span = tracing.begin('publish', undefined, {})
    expect(span.traceparent).toBeUndefined()
    span.end({}, 'Closing')
    metrics.count('hookswitch_events_accepted_total', 1, undefined)
    metrics.observe('hookswitch_attempt_duration_seconds', 1)
    metrics.watch(() => Promise.reject(new Error('never read')))
  })

  it('uses the global provider by default, even one that is registered later', () => {
    harness = otelHarness()
    const { tracing } = openTelemetry({ api, meter: harness.meter })
    const provider = new BasicTracerProvider()
    expect(api.trace.setGlobalTracerProvider(provider)).toBe(true)
    try {
      expect(tracing.begin('publish', undefined, {}).traceparent).toMatch(/-01$/)
    } finally {
      api.trace.disable()
      api.metrics.disable()
    }
  })
})

describe('openTelemetry', () => {
  it('names the command where the package is missing, or is not the whole module', () => {
    const { default: part } = { default: { trace: api.trace, metrics: api.metrics, context: api.context } }
    for (const options of [undefined, null, {}, { api: undefined }, { api: part }, { api: 'x' }])
      expect(() => openTelemetry(options as never)).toThrow(
        expect.objectContaining({
          code: 'InvalidOption',
          field: options === null ? 'options' : 'api',
          message: expect.stringContaining(
            options === null ? 'must be an object' : 'npm install @opentelemetry/api',
          ),
        }),
      )
  })
})

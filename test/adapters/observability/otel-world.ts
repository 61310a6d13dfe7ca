/** OpenTelemetry's own SDK, keeping in memory what it would export. */
import { type Context, context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  MeterProvider,
  MetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

class PulledReader extends MetricReader {
  override selectAggregationTemporality() {
    return AggregationTemporality.CUMULATIVE
  }
  protected override async onShutdown() {}
  protected override async onForceFlush() {}
}

export function otelWorld(sampler?: Sampler) {
  const reader = new PulledReader()
  const meters = new MeterProvider({ readers: [reader] })
  const exporter = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  })
  const contexts = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(contexts)
  const tracer = tracers.getTracer('test')

  /** What is measured now, by instrument. */
  async function collected() {
    const { resourceMetrics, errors } = await reader.collect()
    if (errors.length > 0) throw errors[0]
    const [scope] = resourceMetrics.scopeMetrics
    return new Map((scope?.metrics ?? []).map((metric) => [metric.descriptor.name, metric]))
  }

  return {
    meter: meters.getMeter('hookswitch'),
    tracer,
    collected,
    /** The value of one series. */
    async value(name: string, attributes: object = {}) {
      const points = ((await collected()).get(name)?.dataPoints ?? []) as DataPoint<number | Histogram>[]
      const wanted = JSON.stringify(attributes)
      return points.find((point) => JSON.stringify(point.attributes) === wanted)?.value
    },
    /** How many series there are. */
    async series() {
      return [...(await collected()).values()].reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
    },
    spans: () => exporter.getFinishedSpans(),
    /** Runs in the context of a span of the host's own, as behind an instrumented server. */
    async inSpan<T>(work: (own: { traceId: string; spanId: string }) => Promise<T>): Promise<T> {
      const span = tracer.startSpan('of the host')
      const around: Context = trace.setSpan(context.active(), span)
      try {
        return await context.with(around, () => work(span.spanContext()))
      } finally {
        span.end()
      }
    },
    async close() {
      context.disable()
      await meters.shutdown()
      await tracers.shutdown()
    },
  }
}

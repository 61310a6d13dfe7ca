/** The OpenTelemetry SDK with exporters that keep everything in memory. */
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

class ManualReader extends MetricReader {
  override selectAggregationTemporality() {
    return AggregationTemporality.CUMULATIVE
  }
  protected override async onShutdown() {}
  protected override async onForceFlush() {}
}

export function otelHarness(sampler?: Sampler) {
  const reader = new ManualReader()
  const meters = new MeterProvider({ readers: [reader] })
  const exporter = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
    ...(sampler && { sampler }),
  })
  const contexts = new AsyncLocalStorageContextManager().enable()
  context.setGlobalContextManager(contexts)
  const tracer = tracers.getTracer('test')

  /** Collects and returns the metrics by instrument name. */
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
      const key = JSON.stringify(attributes)
      return points.find((point) => JSON.stringify(point.attributes) === key)?.value
    },
    /** The number of series. */
    async series() {
      return [...(await collected()).values()].reduce((sum, { dataPoints }) => sum + dataPoints.length, 0)
    },
    spans: () => exporter.getFinishedSpans(),
    /** Runs `work` in the context of a host's span, like code behind an instrumented server. */
    async inSpan<T>(work: (own: { traceId: string; spanId: string }) => Promise<T>): Promise<T> {
      const span = tracer.startSpan('host')
      const active: Context = trace.setSpan(context.active(), span)
      try {
        return await context.with(active, () => work(span.spanContext()))
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

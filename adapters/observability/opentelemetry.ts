/** Metrics and traces through OpenTelemetry's API; which SDK and exporter is behind it is the host's choice. */
import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { type Metrics, type Tracing, VERSION } from 'hookswitch'
import { otelMetrics } from './otel-metrics.js'
import { otelTracing } from './otel-tracing.js'

export interface OpenTelemetryOptions {
  /** Default: that of the global provider, also of one that is registered later. */
  readonly tracer?: Tracer
  /** Default: that of the global provider, which must be registered before this is called. */
  readonly meter?: Meter
}

/**
 * The options `metrics` and `tracing`, to be spread into those of `createHookswitch`.
 *
 * @example
 * const hs = createHookswitch({ store: memoryStore(), ...openTelemetry() })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): {
  readonly metrics: Metrics
  readonly tracing: Tracing
} {
  const { tracer = trace.getTracer('hookswitch', VERSION), meter = metrics.getMeter('hookswitch', VERSION) } =
    options
  return { metrics: otelMetrics(meter), tracing: otelTracing(tracer) }
}

/** Metrics and traces through the OpenTelemetry API. The host chooses SDK and exporter. */
import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api'
import { VERSION } from 'hookswitch'
import { checkOptionNames, type Metrics, type Tracing } from 'hookswitch/adapter'
import { otelMetrics } from './otel-metrics.js'
import { otelTracing } from './otel-tracing.js'

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** Default: the tracer `hookswitch` of the global provider, even of one that is registered later. */
  readonly tracer?: Tracer | undefined
  /** Default: the meter `hookswitch` of the global provider, which must be registered before this call. */
  readonly meter?: Meter | undefined
}

/**
 * Returns the options `metrics` and `tracing` for `createHookswitch`.
 *
 * @example
 * const hs = createHookswitch({ store: memoryStore(), ...openTelemetry() })
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): {
  readonly metrics: Metrics
  readonly tracing: Tracing
} {
  checkOptionNames('openTelemetry', options, ['tracer', 'meter'])
  const { tracer = trace.getTracer('hookswitch', VERSION), meter = metrics.getMeter('hookswitch', VERSION) } =
    options
  return { metrics: otelMetrics(meter), tracing: otelTracing(tracer) }
}

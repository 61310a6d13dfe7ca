/** Metrics and traces through the OpenTelemetry API. The host chooses SDK and exporter. */
import type { Meter, Tracer } from '@opentelemetry/api'
import { HookswitchError, VERSION } from 'hookswitch'
import { checkOptionNames, type Metrics, type Tracing } from 'hookswitch/adapter'
import { otelMetrics } from './otel-metrics.js'
import { otelTracing } from './otel-tracing.js'

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** The module `@opentelemetry/api`. Passed, so that a bundler sees one copy of it: the one that the SDK uses. */
  readonly api: Pick<
    typeof import('@opentelemetry/api'),
    'context' | 'isSpanContextValid' | 'metrics' | 'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode' | 'trace'
  >
  /** Default: the tracer `hookswitch` of the global provider, even of one that is registered later. */
  readonly tracer?: Tracer | undefined
  /** Default: the meter `hookswitch` of the global provider, which must be registered before this call. */
  readonly meter?: Meter | undefined
}

const API_PARTS = [
  'context',
  'isSpanContextValid',
  'metrics',
  'ROOT_CONTEXT',
  'SpanKind',
  'SpanStatusCode',
  'trace',
] as const

/**
 * Returns the options `metrics` and `tracing` for `createHookswitch`.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * import * as api from '@opentelemetry/api'
 * const hs = createHookswitch({ store: memoryStore(), ...openTelemetry({ api }) })
 */
export function openTelemetry(options: OpenTelemetryOptions): {
  readonly metrics: Metrics
  readonly tracing: Tracing
} {
  checkOptionNames('openTelemetry', options, ['api', 'tracer', 'meter'])
  const { api } = options ?? {}
  if (API_PARTS.some((part) => !api?.[part]))
    throw new HookswitchError('InvalidOption', NO_API, { field: 'api' })
  const {
    tracer = api.trace.getTracer('hookswitch', VERSION),
    meter = api.metrics.getMeter('hookswitch', VERSION),
  } = options
  return { metrics: otelMetrics(meter), tracing: otelTracing(tracer, api) }
}

const NO_API =
  "openTelemetry(): 'api' must be the package @opentelemetry/api: npm install @opentelemetry/api, then import * as api from it"

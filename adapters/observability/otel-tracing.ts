/** OpenTelemetry spans for publishes and attempts. */
import type * as api from '@opentelemetry/api'
import type { Tracing } from 'hookswitch/adapter'

/** The part of `@opentelemetry/api` that tracing uses. */
type TracingApi = Pick<
  typeof api,
  'context' | 'isSpanContextValid' | 'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode' | 'trace'
>

const KINDS = { publish: 'PRODUCER', attempt: 'CLIENT' } as const

/** Creates the option `tracing` for a tracer. Reads and writes `traceparent` itself, without a propagator. */
export function otelTracing(tracer: api.Tracer, otel: TracingApi): Tracing {
  const { isSpanContextValid, SpanKind, SpanStatusCode } = otel
  return {
    begin(name, parent, facts) {
      const options = { kind: SpanKind[KINDS[name]], attributes: { ...facts } }
      const span = tracer.startSpan(name, options, contextOf(otel, name, parent))
      const own = span.spanContext()
      return {
        // An unsampled span is propagated too, so that receivers do not sample it either.
        traceparent: isSpanContextValid(own) ? traceparentOf(own) : undefined,
        end(more, failure) {
          span.setAttributes({ ...more })
          if (failure !== undefined) {
            span.setAttribute('error.type', failure)
            span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
          }
          span.end()
        },
      }
    },
  }
}

/**
 * Chooses the parent of a new span. The parent of an attempt is its event's span, whatever context is active where deliveries
 * are sent. A publish starts in the active context, under the given parent unless a span of the same trace is active.
 */
function contextOf(
  { context, ROOT_CONTEXT, trace }: TracingApi,
  name: keyof typeof KINDS,
  parent: string | undefined,
): api.Context {
  const active = name === 'publish' ? context.active() : ROOT_CONTEXT
  if (parent === undefined) return active
  const given = spanContextOf(parent)
  return trace.getSpanContext(active)?.traceId === given.traceId
    ? active
    : trace.setSpanContext(active, given)
}

/** `00-<trace id>-<span id>-<flags>` (W3C Trace Context). */
function spanContextOf(traceparent: string): api.SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function traceparentOf({ traceId, spanId, traceFlags }: api.SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

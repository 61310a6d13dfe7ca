/** OpenTelemetry spans for publishes and attempts. */
import {
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Tracing } from 'hookswitch/adapter'

const KINDS = { publish: SpanKind.PRODUCER, attempt: SpanKind.CLIENT } as const

/** Creates the option `tracing` for a tracer. Reads and writes `traceparent` itself, without a propagator. */
export function otelTracing(tracer: Tracer): Tracing {
  return {
    begin(name, parent, facts) {
      const options = { kind: KINDS[name], attributes: { ...facts } }
      const span = tracer.startSpan(name, options, contextOf(name, parent))
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
function contextOf(name: keyof typeof KINDS, parent: string | undefined): Context {
  const active = name === 'publish' ? context.active() : ROOT_CONTEXT
  if (parent === undefined) return active
  const given = spanContextOf(parent)
  return trace.getSpanContext(active)?.traceId === given.traceId
    ? active
    : trace.setSpanContext(active, given)
}

/** `00-<trace id>-<span id>-<flags>` (W3C Trace Context). */
function spanContextOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

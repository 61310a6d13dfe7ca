/** Spans of OpenTelemetry. */
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
import type { Tracing } from 'hookswitch'

const KINDS = { publish: SpanKind.PRODUCER, attempt: SpanKind.CLIENT } as const

/** The option `tracing` over a tracer. Needs no propagator: a `traceparent` is read and written here. */
export function otelTracing(tracer: Tracer): Tracing {
  return {
    begin(name, parent, facts) {
      const options = { kind: KINDS[name], attributes: { ...facts } }
      const span = tracer.startSpan(name, options, contextOf(name, parent))
      const own = span.spanContext()
      return {
        // One that is not sampled goes on too: its receivers need not sample it either.
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
 * Under which span a new one begins. An attempt has its event's alone: whatever happens to be active where deliveries
 * are made has nothing to do with it. A publish begins in the active context, and there under the parent that was
 * given, unless a span of the same trace is active: that one is nearer.
 */
function contextOf(name: keyof typeof KINDS, parent: string | undefined): Context {
  const around = name === 'publish' ? context.active() : ROOT_CONTEXT
  if (parent === undefined) return around
  const given = spanContextOf(parent)
  return trace.getSpanContext(around)?.traceId === given.traceId
    ? around
    : trace.setSpanContext(around, given)
}

/** `00-<trace id>-<span id>-<flags>` (W3C Trace Context). */
function spanContextOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

import type { Metrics } from './metrics.js'
import type { Log, Span, Tracing } from './ports.js'

/** The host's metrics, of which one that throws is told once and hurts nobody; nothing where there are none. */
export function safeMetrics(metrics: Metrics | undefined, log: Log): Metrics {
  if (!metrics) return { count: () => {}, observe: () => {}, watch: () => {} }
  const failed = onceFailed(log, 'metrics failed')
  return {
    count(name, by, label) {
      try {
        metrics.count(name, by, label)
      } catch (thrown) {
        failed(thrown)
      }
    },
    observe(name, seconds) {
      try {
        metrics.observe(name, seconds)
      } catch (thrown) {
        failed(thrown)
      }
    },
    watch(read) {
      try {
        metrics.watch(read)
      } catch (thrown) {
        failed(thrown)
      }
    },
  }
}

/** The host's tracing, of which one that throws is told once and hurts nobody. */
export function safeTracing(tracing: Tracing | undefined, log: Log): Tracing | undefined {
  if (!tracing) return undefined
  const failed = onceFailed(log, 'tracing failed')
  return {
    begin(name, parent, facts) {
      let span: Span | undefined
      try {
        span = tracing.begin(name, parent, facts)
      } catch (thrown) {
        failed(thrown)
      }
      return {
        traceparent: span?.traceparent,
        end(more, failure) {
          try {
            span?.end(more, failure)
          } catch (thrown) {
            failed(thrown)
          }
        },
      }
    },
  }
}

/** Says it the first time only: what fails once fails for every delivery. */
function onceFailed(log: Log, message: string): (thrown: unknown) => void {
  let isTold = false
  return (thrown) => {
    if (!isTold) log.warn({ reason: thrown instanceof Error ? thrown.message : 'unknown' }, message)
    isTold = true
  }
}

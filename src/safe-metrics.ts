import type { GaugeReading, Metrics } from './metrics.js'
import type { Log, Span, Tracing } from './ports.js'

/**
 * The host's metrics, of which one that throws is told once and hurts nobody; nothing where there are none.
 *
 * @param ended aborts when the instance closes: the host's metrics are told to read no more
 */
export function safeMetrics(metrics: Metrics | undefined, log: Log, ended?: AbortSignal): Metrics {
  if (!metrics) return { count: () => {}, observe: () => {}, watch: () => {} }
  const failed = onceFailed(log, 'metrics failed')
  let reading: (() => Promise<readonly GaugeReading[]>) | undefined
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
      // A start that was tried again reads something new; who collects is told once.
      const isFirst = reading === undefined
      reading = read
      if (!isFirst) return
      try {
        metrics.watch(() => reading!(), ended)
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

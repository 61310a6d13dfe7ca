import type { GaugeReading, Metrics } from './metrics.js'
import type { Log, Span, Tracing } from './ports.js'
import { readTraceparent } from './values/traceparent.js'

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
    count: (name, by, label) => guarded(() => metrics.count(name, by, label), failed),
    observe: (name, seconds) => guarded(() => metrics.observe(name, seconds), failed),
    watch(read) {
      // A start that was tried again reads something new; who collects is told once.
      const isFirst = reading === undefined
      reading = read
      if (!isFirst) return
      guarded(() => metrics.watch(() => reading!(), ended), failed)
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
      let traceparent: string | undefined
      guarded(() => {
        span = tracing.begin(name, parent, facts)
        // It goes to receivers as a header: only what is one.
        traceparent = readTraceparent(span?.traceparent)
      }, failed)
      return { traceparent, end: (more, failure) => guarded(() => span?.end(more, failure), failed) }
    },
  }
}

/** What a door throws, at once or later, hurts nobody. */
function guarded(act: () => unknown, failed: (thrown: unknown) => void): void {
  try {
    const result = act()
    if (result instanceof Promise) result.catch(failed)
  } catch (thrown) {
    failed(thrown)
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

/** Wraps the host's metrics and tracing, so that their exceptions never reach the service. */
import { reasonOf } from '../errors.js'
import type { GaugeReading, Metrics } from '../metrics.js'
import type { Log, Span, Tracing } from '../ports.js'
import { parseTraceparent } from '../values/traceparent.js'

/**
 * Wraps the host's metrics: exceptions are caught and logged.
 *
 * @param metrics default: measurements are discarded
 * @param ended aborts when the instance closes; passed to `Metrics.watch`
 */
export function safeMetrics(metrics: Metrics | undefined, log: Log, ended?: AbortSignal): Metrics {
  if (!metrics) return { count: () => {}, observe: () => {}, watch: () => {} }
  const onFault = logFault(log, 'metrics failed')
  let currentRead: (() => Promise<readonly GaugeReading[]>) | undefined
  return {
    count: (name, by, label) => guard(() => metrics.count(name, by, label), onFault),
    observe: (name, seconds) => guard(() => metrics.observe(name, seconds), onFault),
    watch(read) {
      // A repeated start replaces the reader; the host registers it only once.
      const isFirst = currentRead === undefined
      currentRead = read
      if (!isFirst) return
      guard(() => metrics.watch(() => currentRead!(), ended), onFault)
    },
  }
}

/** Wraps the host's tracing: exceptions are caught and logged. */
export function safeTracing(tracing: Tracing | undefined, log: Log): Tracing | undefined {
  if (!tracing) return undefined
  const onFault = logFault(log, 'tracing failed')
  return {
    begin(name, parent, attributes) {
      let span: Span | undefined
      let traceparent: string | undefined
      guard(() => {
        span = tracing.begin(name, parent, attributes)
        // Receivers get it as a header, so an invalid value is dropped.
        traceparent = parseTraceparent(span?.traceparent)
      }, onFault)
      return { traceparent, end: (more, failure) => guard(() => span?.end(more, failure), onFault) }
    },
  }
}

/** Passes what `act` throws, or what its promise rejects with, to `onFault`. */
function guard(act: () => unknown, onFault: (thrown: unknown) => void): void {
  try {
    const result = act()
    if (result instanceof Promise) result.catch(onFault)
  } catch (thrown) {
    onFault(thrown)
  }
}

const logFault = (log: Log, message: string) => (thrown: unknown) =>
  log.warn({ reason: reasonOf(thrown) }, message)

/** OpenTelemetry instruments for every metric of `METRICS`. */
import type { Attributes, Counter, Histogram, Meter, Observable } from '@opentelemetry/api'
import { METRICS, type MetricShape, type Metrics } from 'hookswitch/adapter'
import { watchedGauges } from './gauges.js'

/**
 * Converts a name to OpenTelemetry's convention: a dot after the namespace, no unit and no `_total`. An export to Prometheus
 * adds both again, so the names equal those of `METRICS`.
 *
 * @internal
 */
export function instrumentName(name: string): string {
  return name.replace('_', '.').replace(/_(total|seconds)$/, '')
}

interface CounterSeries {
  readonly counter: Counter
  /** By label value. */
  readonly attributes: ReadonlyMap<string | undefined, Attributes>
}

/** Creates the option `metrics` for a meter. */
export function otelMetrics(meter: Meter): Metrics {
  const counters = new Map<string, CounterSeries>()
  const histograms = new Map<string, Histogram>()
  const observables = new Map<string, Observable>()
  for (const [name, shape] of Object.entries(METRICS) as [string, MetricShape][]) {
    const options = { description: shape.help, ...(name.endsWith('_seconds') && { unit: 's' }) }
    if (shape.kind === 'counter') {
      const counter = meter.createCounter(instrumentName(name), options)
      const attributes = new Map(
        (shape.values ?? [undefined]).map((label) => [label, attributesOf(shape, label)]),
      )
      // Every series starts at 0; otherwise the first increase would not show as an increase.
      for (const attribute of attributes.values()) counter.add(0, attribute)
      counters.set(name, { counter, attributes })
    } else if (shape.kind === 'histogram') {
      const advice = { explicitBucketBoundaries: [...shape.buckets] }
      histograms.set(name, meter.createHistogram(instrumentName(name), { ...options, advice }))
    } else if (shape.kind === 'observable_counter') {
      observables.set(name, meter.createObservableCounter(instrumentName(name), options))
    } else observables.set(name, meter.createObservableGauge(instrumentName(name), options))
  }
  const gauges = watchedGauges()
  let watching = 0

  const collect: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    for (const { name, label, value } of await gauges.read()) {
      result.observe(observables.get(name)!, value, attributesOf(METRICS[name], label))
    }
  }

  return {
    count(name, by, label) {
      const series = counters.get(name)
      const attributes = series?.attributes.get(label as string | undefined)
      // Unknown names and labels, and values that are not increases, are ignored.
      if (series && attributes && by > 0) series.counter.add(by, attributes)
    },
    observe(name, seconds) {
      if (Number.isFinite(seconds)) histograms.get(name)?.record(Math.max(0, seconds))
    },
    watch(read, ended) {
      if (ended?.aborted) return
      gauges.watch(read, ended)
      watching += 1
      if (watching === 1) meter.addBatchObservableCallback(collect, [...observables.values()])
      const unwatch = () => {
        watching -= 1
        if (watching === 0) meter.removeBatchObservableCallback(collect, [...observables.values()])
      }
      ended?.addEventListener('abort', unwatch, { once: true })
    },
  }
}

function attributesOf(shape: MetricShape, label: string | undefined): Attributes {
  return shape.label === undefined || label === undefined ? {} : { [shape.label]: label }
}

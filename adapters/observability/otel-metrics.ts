/** Instruments of OpenTelemetry for the whole catalogue. */
import type { Attributes, Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api'
import { METRICS, type MetricShape, type Metrics } from 'hookswitch'
import { watchedGauges } from './gauges.js'

/**
 * OpenTelemetry's spelling: a dot after the namespace, neither unit nor `_total` in the name. Exported to Prometheus
 * they get both again, and are called as in `METRICS`.
 */
export function instrumentName(name: string): string {
  return name.replace('_', '.').replace(/_(total|seconds)$/, '')
}

interface CounterOf {
  readonly counter: Counter
  /** By value of the label, made once. */
  readonly attributes: ReadonlyMap<string | undefined, Attributes>
}

/** The option `metrics` over a meter. */
export function otelMetrics(meter: Meter): Metrics {
  const counters = new Map<string, CounterOf>()
  const histograms = new Map<string, Histogram>()
  const observables = new Map<string, ObservableGauge>()
  for (const [name, shape] of Object.entries(METRICS) as [string, MetricShape][]) {
    const options = { description: shape.help, ...(name.endsWith('_seconds') && { unit: 's' }) }
    if (shape.kind === 'counter') {
      const counter = meter.createCounter(instrumentName(name), options)
      const attributes = new Map(
        (shape.values ?? [undefined]).map((label) => [label, attributesOf(shape, label)]),
      )
      // Every series is there from the start: the first increase would not be seen as one otherwise.
      for (const one of attributes.values()) counter.add(0, one)
      counters.set(name, { counter, attributes })
    } else if (shape.kind === 'histogram') {
      const advice = { explicitBucketBoundaries: [...shape.buckets] }
      histograms.set(name, meter.createHistogram(instrumentName(name), { ...options, advice }))
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
      // Neither a name nor a label of the catalogue, or no increase: nothing that could be a series.
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

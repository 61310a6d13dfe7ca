/** Metrics for Prometheus, without a client library: a closed catalogue needs no registry. */
import { type GaugeReading, METRICS, type MetricShape, type Metrics } from 'hookswitch'
import { CONTENT_TYPE, exposition, type Family, numberText, type Sample } from './exposition.js'
import { watchedGauges } from './gauges.js'

/** The option `metrics`, and what a scrape answers. */
export interface PrometheusMetrics extends Metrics {
  /**
   * Everything as Prometheus reads it. Gauges that cannot be read are left out: all before the start and after the
   * close, those of the store while it is out. Never rejects.
   */
  text(): Promise<string>
  /** Of the answer to a scrape. */
  readonly contentType: string
}

/** How often values fell into each bucket; the last one has no bound. */
interface Distribution {
  readonly bounds: readonly number[]
  readonly counts: number[]
  sum: number
}

const SHAPES: readonly (readonly [string, MetricShape])[] = Object.entries(METRICS)

/**
 * Keeps counters and histograms, reads gauges when they are asked for.
 *
 * Made for one instance. Several may share one: their counters and gauges add up, and of `hookswitch_oldest_due_seconds`
 * the greatest is shown.
 *
 * @example
 * const metrics = prometheusMetrics()
 * const hs = createHookswitch({ store: memoryStore(), metrics })
 * app.get('/metrics', async (_, response) => response.type(metrics.contentType).send(await metrics.text()))
 */
export function prometheusMetrics(): PrometheusMetrics {
  const counters = new Map<string, Map<string | undefined, number>>()
  const distributions = new Map<string, Distribution>()
  for (const [name, shape] of SHAPES) {
    // Every series is there from the start: the first increase would not be seen as one otherwise.
    if (shape.kind === 'counter') {
      counters.set(name, new Map((shape.values ?? [undefined]).map((label) => [label, 0])))
    } else if (shape.kind === 'histogram') {
      const counts = Array<number>(shape.buckets.length + 1).fill(0)
      distributions.set(name, { bounds: shape.buckets, counts, sum: 0 })
    }
  }
  const gauges = watchedGauges()

  return {
    contentType: CONTENT_TYPE,
    count(name, by, label) {
      const key = label as string | undefined
      const series = counters.get(name)
      const value = series?.get(key)
      // Neither a name nor a label of the catalogue, or no increase: nothing that could be a series.
      if (series && value !== undefined && by > 0) series.set(key, value + by)
    },
    observe(name, seconds) {
      const distribution = distributions.get(name)
      if (!distribution || !Number.isFinite(seconds)) return
      const { bounds, counts } = distribution
      const value = Math.max(0, seconds)
      const found = bounds.findIndex((bound) => value <= bound)
      counts[found < 0 ? bounds.length : found]! += 1
      distribution.sum += value
    },
    watch: gauges.watch,
    async text() {
      const readings = await gauges.read()
      return exposition(
        SHAPES.map(([name, shape]): Family => {
          const { help, kind, label: labelName } = shape
          const series = counters.get(name)
          const distribution = distributions.get(name)
          const samples = series
            ? [...series].map(([label, value]) => sample(labelName, label, value))
            : distribution
              ? samplesOf(distribution)
              : readings.filter((one) => one.name === name).map((one) => gaugeSample(labelName, one))
          return { name, help, kind, samples }
        }),
      )
    },
  }
}

function sample(labelName: string | undefined, label: string | undefined, value: number): Sample {
  const isLabelled = labelName !== undefined && label !== undefined
  return { suffix: '', labels: isLabelled ? [[labelName, label]] : [], value }
}

const gaugeSample = (labelName: string | undefined, { label, value }: GaugeReading) =>
  sample(labelName, label, value)

/** Buckets are cumulative: each counts all that is at most its bound. */
function samplesOf({ bounds, counts, sum }: Distribution): readonly Sample[] {
  let count = 0
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index): Sample => {
    count += counts[index]!
    return { suffix: '_bucket', labels: [['le', numberText(bound)]], value: count }
  })
  return [
    ...buckets,
    { suffix: '_sum', labels: [], value: sum },
    { suffix: '_count', labels: [], value: count },
  ]
}

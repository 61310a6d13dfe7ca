/** Metrics for Prometheus, without a client library: the closed table `METRICS` needs no registry. */
import { type GaugeReading, METRICS, type MetricShape, type Metrics } from 'hookswitch/adapter'
import { CONTENT_TYPE, exposition, type Family, numberText, type Sample } from './exposition.js'
import { watchedGauges } from './gauges.js'

/** The option `metrics`, and the text of a scrape. */
export interface PrometheusMetrics extends Metrics {
  /**
   * Returns all metrics in the Prometheus text format. Omits gauges that cannot be read: all of them before the start and
   * after the close, those of the store while it is unavailable. Never rejects.
   */
  text(): Promise<string>
  /** Content type of the text. */
  readonly contentType: string
}

/** Number of values per bucket; the last bucket has no bound. */
interface Distribution {
  readonly bounds: readonly number[]
  readonly counts: number[]
  sum: number
}

const SHAPES: readonly (readonly [string, MetricShape])[] = Object.entries(METRICS)

/**
 * Creates the option `metrics`. Counters and histograms are kept here; gauges and the counters of sources are read when
 * `text` is called.
 *
 * Several instances may share one: their counters and gauges are summed, of times, limits and states the maximum counts.
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
    // Every series starts at 0; otherwise the first increase would not show as an increase.
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
      // Unknown names and labels, and values that are not increases, are ignored.
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
              : readings
                  .filter((reading) => reading.name === name)
                  .map((reading) => gaugeSample(labelName, reading))
          return { name, help, kind: kind === 'observable_counter' ? 'counter' : kind, samples }
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

/** Converts counts to cumulative buckets. */
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

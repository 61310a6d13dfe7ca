/** The gauges and observable counters of every registered instance and source, read when metrics are collected. */
import { type GaugeReading, METRICS, type MetricShape, type Metrics } from 'hookswitch/adapter'

type Read = Parameters<Metrics['watch']>[0]

interface WatchedGauges {
  readonly watch: Metrics['watch']
  /**
   * Reads every gauge and observable counter. When one of the instances fails or takes longer than 2 s, returns only the
   * figures of single sources, because part of a sum would be a wrong figure. Never rejects.
   */
  read(): Promise<readonly GaugeReading[]>
}

/** Longest wait for a store that does not answer, below the collector's limit (Prometheus: 10 s). */
const WAIT_MS = 2_000

/** Gauges whose value over several instances is the minimum. */
const MINIMA: ReadonlySet<GaugeReading['name']> = new Set(['hookswitch_source_connected'])
/** Gauges whose value over several instances is the maximum; of all others it is the sum. */
const MAXIMA: ReadonlySet<GaugeReading['name']> = new Set([
  'hookswitch_oldest_due_seconds',
  'hookswitch_oldest_waiting_seconds',
  'hookswitch_deliveries_pending_limit',
  'hookswitch_account_backlog_ratio',
  'hookswitch_last_commit_timestamp_seconds',
  'hookswitch_feed_lag_seconds',
  'hookswitch_time_seconds',
  'hookswitch_source_lag_seconds',
  'hookswitch_outage_start_timestamp_seconds',
  'hookswitch_node_problem',
  'hookswitch_history_bytes',
  'hookswitch_history_limit_bytes',
])
/** Gauges that may be negative: over several instances the value that is farthest from zero. */
const EXTREMES: ReadonlySet<GaugeReading['name']> = new Set(['hookswitch_clock_deviation_seconds'])

export function watchedGauges(waitMs = WAIT_MS): WatchedGauges {
  const watched = new Set<Read>()
  let reading: Promise<readonly GaugeReading[]> | undefined

  async function readAll(): Promise<readonly GaugeReading[]> {
    const limit = timeout(waitMs)
    const results = await Promise.allSettled(
      [...watched].map((read) => Promise.race([listOf(read), limit.passed])),
    )
    limit.clear()
    const read = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    const isComplete = results.every(({ status }) => status === 'fulfilled')
    return combine(isComplete ? read : read.filter(({ name }) => hasHostLabels(name)))
  }

  return {
    watch(read, ended) {
      if (ended?.aborted) return
      // A new function, because two instances may pass the same one.
      const entry: Read = () => read()
      watched.add(entry)
      ended?.addEventListener('abort', () => watched.delete(entry), { once: true })
    },
    // Concurrent collections share one read, so that a slow store is not queried again.
    read() {
      reading ??= readAll().finally(() => {
        reading = undefined
      })
      return reading
    },
  }
}

/** @throws when the reader fails */
async function listOf(read: Read): Promise<readonly GaugeReading[]> {
  const readings = await read()
  if (!Array.isArray(readings)) throw new TypeError('not a list')
  return readings
}

/** Whether the host chooses the label's values, so that each series has one reader. */
function hasHostLabels(name: string): boolean {
  const shape: MetricShape | undefined = Object.hasOwn(METRICS, name)
    ? METRICS[name as GaugeReading['name']]
    : undefined
  return shape?.label !== undefined && shape.values === undefined
}

function timeout(ms: number): { readonly passed: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too slow')), ms)
  })
  return { passed, clear: () => clearTimeout(timer) }
}

/** Combines readings into one per series. A labelled gauge that was read has every value of its label. */
function combine(readings: readonly GaugeReading[]): readonly GaugeReading[] {
  return Object.entries(METRICS).flatMap(([name, shape]: [string, MetricShape]) => {
    const own = readings.filter((reading) => reading.name === name && Number.isFinite(reading.value))
    if (own.length === 0) return []
    const gauge = name as GaugeReading['name']
    const total = (label: string | undefined) =>
      aggregate(
        gauge,
        own.filter((reading) => reading.label === label).map(({ value }) => value),
      )
    if (shape.label === undefined) return [{ name: gauge, value: total(undefined) }]
    const labels = shape.values ?? new Set(own.flatMap(({ label }) => label ?? []))
    return [...labels].map((label) => ({ name: gauge, label, value: total(label) }))
  })
}

function aggregate(name: GaugeReading['name'], values: readonly number[]): number {
  if (EXTREMES.has(name))
    return values.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0)
  if (MINIMA.has(name)) return Math.min(...values)
  return MAXIMA.has(name) ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0)
}

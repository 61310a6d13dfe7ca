/** The gauges of every registered instance, read when metrics are collected. */
import type { GaugeName, GaugeReading, Metrics } from 'hookswitch'
import { METRICS, type MetricShape } from 'hookswitch/adapter'

type Read = Parameters<Metrics['watch']>[0]

export interface WatchedGauges {
  readonly watch: Metrics['watch']
  /**
   * Reads every gauge. Returns nothing when one of the instances fails or takes longer than 2 s, because part of a sum would
   * be a wrong figure. Never rejects.
   */
  read(): Promise<readonly GaugeReading[]>
}

/** Longest wait for a store that does not answer, below the collector's limit (Prometheus: 10 s). */
const WAIT_MS = 2_000

/** Gauges whose value over several instances is the maximum, not the sum. */
const MAXIMA: ReadonlySet<GaugeName> = new Set(['hookswitch_oldest_due_seconds'])

export function watchedGauges(waitMs = WAIT_MS): WatchedGauges {
  const watched = new Set<Read>()
  let reading: Promise<readonly GaugeReading[]> | undefined

  async function readAll(): Promise<readonly GaugeReading[]> {
    const readings = [...watched].map(async (read) => read())
    const limit = timeout(waitMs)
    try {
      return combine((await Promise.race([Promise.all(readings), limit.passed])).flat())
    } catch {
      return []
    } finally {
      limit.clear()
    }
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

function timeout(ms: number): { readonly passed: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too slow')), ms)
  })
  return { passed, clear: () => clearTimeout(timer) }
}

/** Combines readings into one per series. A labelled gauge that was read has every value of its label. */
export function combine(readings: readonly GaugeReading[]): readonly GaugeReading[] {
  return Object.entries(METRICS).flatMap(([name, shape]: [string, MetricShape]) => {
    const own = readings.filter((one) => one.name === name && Number.isFinite(one.value))
    if (own.length === 0) return []
    const gauge = name as GaugeName
    const total = (label: string | undefined) =>
      aggregate(
        gauge,
        own.filter((one) => one.label === label).map(({ value }) => value),
      )
    if (!shape.values) return [{ name: gauge, value: total(undefined) }]
    return shape.values.map((label) => ({ name: gauge, label, value: total(label) }))
  })
}

function aggregate(name: GaugeName, values: readonly number[]): number {
  return MAXIMA.has(name) ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0)
}

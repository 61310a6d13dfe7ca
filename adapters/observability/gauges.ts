/** What is watched: the gauges of every instance that is told to this registry, read when somebody collects. */
import { type GaugeName, type GaugeReading, METRICS, type MetricShape, type Metrics } from 'hookswitch'

type Read = Parameters<Metrics['watch']>[0]

export interface WatchedGauges {
  readonly watch: Metrics['watch']
  /**
   * Every gauge as it stands. Empty when one of the instances cannot tell, or takes too long: part of a sum would be
   * a wrong figure. Never rejects.
   */
  read(): Promise<readonly GaugeReading[]>
}

/** Longest wait for a store that does not answer: whoever collects has a limit too (Prometheus: 10 s). */
const WAIT_MS = 2_000

/** Gauges of which several instances show the greatest, not the sum. */
const GREATEST: ReadonlySet<GaugeName> = new Set(['hookswitch_oldest_due_seconds'])

export function watchedGauges(waitMs = WAIT_MS): WatchedGauges {
  const watched = new Set<Read>()
  let reading: Promise<readonly GaugeReading[]> | undefined

  async function readAll(): Promise<readonly GaugeReading[]> {
    const readings = [...watched].map(async (read) => read())
    const limit = timeout(waitMs)
    try {
      return together((await Promise.race([Promise.all(readings), limit.passed])).flat())
    } catch {
      return []
    } finally {
      limit.clear()
    }
  }

  return {
    watch(read, ended) {
      if (ended?.aborted) return
      // A function of its own: two instances may share one.
      const own: Read = () => read()
      watched.add(own)
      ended?.addEventListener('abort', () => watched.delete(own), { once: true })
    },
    // Those who collect at once read once: a store in trouble is not asked more than it answers.
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

/** One reading for each series: of a labelled gauge that was read at all, every value of its label. */
export function together(readings: readonly GaugeReading[]): readonly GaugeReading[] {
  return Object.entries(METRICS).flatMap(([name, shape]: [string, MetricShape]) => {
    const own = readings.filter((one) => one.name === name && Number.isFinite(one.value))
    if (own.length === 0) return []
    const gauge = name as GaugeName
    const total = (label: string | undefined) =>
      combined(
        gauge,
        own.filter((one) => one.label === label).map(({ value }) => value),
      )
    if (!shape.values) return [{ name: gauge, value: total(undefined) }]
    return shape.values.map((label) => ({ name: gauge, label, value: total(label) }))
  })
}

function combined(name: GaugeName, values: readonly number[]): number {
  return GREATEST.has(name) ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0)
}

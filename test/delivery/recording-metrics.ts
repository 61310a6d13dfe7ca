import type { CounterName, HistogramName, Metrics } from '../../src/metrics.js'

/** Metrics that record counters by name and label, and every observed value. */
export function createRecordingMetrics() {
  const counts = new Map<string, number>()
  const observations = new Map<HistogramName, number[]>()
  const metrics: Metrics = {
    count(name, by, label) {
      const key = label === undefined ? name : `${name} ${label}`
      counts.set(key, (counts.get(key) ?? 0) + by)
    },
    observe(name, value) {
      observations.set(name, [...(observations.get(name) ?? []), value])
    },
    watch() {},
  }
  return {
    metrics,
    /** The value of a counter; 0: never counted. */
    count: (name: CounterName, label?: string) => counts.get(label ? `${name} ${label}` : name) ?? 0,
    /** The values of a counter by label. */
    labels: (name: CounterName): Record<string, number> =>
      Object.fromEntries(
        [...counts].filter(([key]) => key.startsWith(`${name} `)).map(([key, n]) => [key.split(' ')[1]!, n]),
      ),
    observed: (name: HistogramName): readonly number[] => observations.get(name) ?? [],
  }
}

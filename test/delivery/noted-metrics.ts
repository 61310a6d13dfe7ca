import type { CounterName, HistogramName, Metrics } from '../../src/metrics.js'

/** Metrics that remember: sums by name and label, and every value observed. */
export function notedMetrics() {
  const counts = new Map<string, number>()
  const seconds = new Map<HistogramName, number[]>()
  const metrics: Metrics = {
    count(name, by, label) {
      const key = label === undefined ? name : `${name} ${label}`
      counts.set(key, (counts.get(key) ?? 0) + by)
    },
    observe(name, value) {
      seconds.set(name, [...(seconds.get(name) ?? []), value])
    },
    watch() {},
  }
  return {
    metrics,
    /** How much was counted under a name and label; 0: nothing. */
    count: (name: CounterName, label?: string) => counts.get(label ? `${name} ${label}` : name) ?? 0,
    /** Everything counted under a name, by label. */
    labels: (name: CounterName): Record<string, number> =>
      Object.fromEntries(
        [...counts].filter(([key]) => key.startsWith(`${name} `)).map(([key, n]) => [key.split(' ')[1]!, n]),
      ),
    observed: (name: HistogramName): readonly number[] => seconds.get(name) ?? [],
  }
}

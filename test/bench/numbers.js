/** Order statistics of small samples. */

const sorted = (values) => [...values].sort((a, b) => a - b)

/** @param {readonly number[]} values */
export function median(values) {
  const list = sorted(values)
  const middle = list.length >> 1
  return list.length % 2 === 1 ? list[middle] : (list[middle - 1] + list[middle]) / 2
}

/** The smallest value that is not below this share of all. */
export function quantile(values, share) {
  const list = sorted(values)
  return list[Math.max(0, Math.ceil(share * list.length) - 1)]
}

/** Median with its spread. */
export function spread(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), samples: values }
}

/**
 * Rounds of two sides in turn, A B A B, so that whatever else the machine does hits both.
 *
 * @returns the ratios of ours to the baseline, and what either side did in each round
 */
export async function inTurns(rounds, baseline, ours) {
  const sides = []
  for (let round = 0; round < rounds; round += 1) {
    const a = await baseline()
    const b = await ours()
    sides.push({ baseline: a, ours: b })
  }
  return {
    ...spread(sides.map((side) => side.ours.perSecond / side.baseline.perSecond)),
    baselinePerSecond: median(sides.map((side) => side.baseline.perSecond)),
    oursPerSecond: median(sides.map((side) => side.ours.perSecond)),
    baselineCpuMicros: median(sides.map((side) => side.baseline.cpuMicros)),
    oursCpuMicros: median(sides.map((side) => side.ours.cpuMicros)),
  }
}

/** What a timed round means for one of its items. */
export function rates({ ms, cpuMs }, count) {
  return { perSecond: (count * 1000) / ms, cpuMicros: (cpuMs * 1000) / count }
}

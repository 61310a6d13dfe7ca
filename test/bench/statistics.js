/** Statistics of small samples, and rounds of measurements that are compared. */

const sorted = (values) => [...values].sort((a, b) => a - b)

/** @param {readonly number[]} values */
export function median(values) {
  const list = sorted(values)
  const middle = list.length >> 1
  return list.length % 2 === 1 ? list[middle] : (list[middle - 1] + list[middle]) / 2
}

/** The smallest value with at least this share of all values at or below it (nearest-rank method). */
export function quantile(values, share) {
  const list = sorted(values)
  return list[Math.max(0, Math.ceil(share * list.length) - 1)]
}

/** Median, minimum and maximum. */
export function summarize(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), samples: values }
}

/** Runs a number of rounds of one side and returns their results. */
export async function repeat(rounds, measure) {
  const results = []
  for (let round = 0; round < rounds; round += 1) results.push(await measure())
  return results
}

/**
 * Interleaves the rounds of several sides (A B A B …), so that other load on the machine affects all of them.
 *
 * @template Result
 * @param {Record<string, () => Promise<Result>>} sides
 * @returns {Promise<Record<string, Result[]>>} the results of each side, by round
 */
export async function interleave(rounds, sides) {
  const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, side] of Object.entries(sides)) results[name].push(await side())
  }
  return results
}

/** Ratio of hookswitch's rate to the baseline's, round by round, and the median rate and CPU time of both sides. */
export function compareRates(baseline, ours) {
  const medianOf = (side, name) => median(side.map((round) => round[name]))
  return {
    ...summarize(ours.map((round, index) => round.perSecond / baseline[index].perSecond)),
    baselinePerSecond: medianOf(baseline, 'perSecond'),
    oursPerSecond: medianOf(ours, 'perSecond'),
    baselineCpuMicros: medianOf(baseline, 'cpuMicros'),
    oursCpuMicros: medianOf(ours, 'cpuMicros'),
  }
}

/** Items per second, and CPU time of one item in µs, of a round of `count` items. */
export function ratesOf({ ms, cpuMs }, count) {
  return { perSecond: (count * 1000) / ms, cpuMicros: (cpuMs * 1000) / count }
}

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

/** What so many rounds of one side did. */
export async function repeat(rounds, measure) {
  const results = []
  for (let round = 0; round < rounds; round += 1) results.push(await measure())
  return results
}

/**
 * Rounds of several sides in turn, A B A B, so that whatever else the machine does hits all of them.
 *
 * @template Result
 * @param {Record<string, () => Promise<Result>>} sides
 * @returns {Promise<Record<string, Result[]>>} what each side did in each round
 */
export async function inTurns(rounds, sides) {
  const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, side] of Object.entries(sides)) results[name].push(await side())
  }
  return results
}

/** Ratios of the rates of one side to those of the baseline, round by round, and what either side did. */
export function against(baseline, ours) {
  const middle = (side, name) => median(side.map((round) => round[name]))
  return {
    ...spread(ours.map((round, index) => round.perSecond / baseline[index].perSecond)),
    baselinePerSecond: middle(baseline, 'perSecond'),
    oursPerSecond: middle(ours, 'perSecond'),
    baselineCpuMicros: middle(baseline, 'cpuMicros'),
    oursCpuMicros: middle(ours, 'cpuMicros'),
  }
}

/** What a timed round means for one of its items. */
export function rates({ ms, cpuMs }, count) {
  return { perSecond: (count * 1000) / ms, cpuMicros: (cpuMs * 1000) / count }
}

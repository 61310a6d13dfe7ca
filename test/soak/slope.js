// @ts-check
/** How memory goes over time: the line through the readings by least squares. */

/**
 * Growth over what is left of the run after its warm-up: as a share of where the line begins, or in bytes where that is
 * more. What V8 and the allocator keep in reserve goes up and down by more than 5 %.
 */
const MOST_SHARE = 0.1
const MOST_BYTES = 8e6
/** Standard errors on either side of the line in which the true one lies in 95 of 100 runs. */
const WIDE = 1.96

/**
 * @typedef {object} Reading
 * @property {number} seconds
 * @property {number} rss
 * @property {number} live what JavaScript holds after a collection
 *
 * @param {readonly Reading[]} readings at least two, at different times
 * @param {(one: Reading) => number} of
 */
export function lineThrough(readings, of) {
  const mean = (/** @type {(one: Reading) => number} */ value) =>
    readings.reduce((sum, one) => sum + value(one), 0) / readings.length
  const seconds = mean((one) => one.seconds)
  const bytes = mean(of)
  const spread = readings.reduce((sum, one) => sum + (one.seconds - seconds) ** 2, 0)
  const together = readings.reduce((sum, one) => sum + (one.seconds - seconds) * (of(one) - bytes), 0)
  const perSecond = together / spread
  const [first] = readings
  const rest = readings.map((one) => of(one) - bytes - perSecond * (one.seconds - seconds))
  return {
    perMinute: perSecond * 60,
    either: 60 * WIDE * Math.sqrt((variance(rest) * inOneWave(rest)) / spread),
    start: bytes + perSecond * (Number(first?.seconds) - seconds),
  }
}

/** @param {readonly number[]} rest about zero */
const variance = (rest) => rest.reduce((sum, one) => sum + one * one, 0) / Math.max(1, rest.length - 2)

/**
 * Readings that follow each other are alike: so many tell as much as one that stands alone. By their correlation with the
 * next, as in a first-order autoregression.
 *
 * @param {readonly number[]} rest
 */
function inOneWave(rest) {
  const both = rest.slice(1).reduce((sum, one, index) => sum + one * Number(rest[index]), 0)
  const all = rest.reduce((sum, one) => sum + one * one, 0)
  const alike = all === 0 ? 0 : Math.min(0.99, Math.max(0, both / all))
  return (1 + alike) / (1 - alike)
}

/**
 * @param {readonly Reading[]} readings
 * @param {number} warmUpSeconds
 */
export function judge(readings, warmUpSeconds) {
  const warm = readings.filter(({ seconds }) => seconds >= warmUpSeconds)
  if (warm.length < 5) throw new Error(`only ${warm.length} readings after the warm-up`)
  const minutes = (Number(warm.at(-1)?.seconds) - Number(warm[0]?.seconds)) / 60
  const rss = lineThrough(warm, (one) => one.rss)
  const live = lineThrough(warm, (one) => one.live)
  const half = readings.filter(({ seconds }) => seconds >= Number(readings.at(-1)?.seconds) / 2)
  const settled = { rss: lineThrough(half, (one) => one.rss), live: lineThrough(half, (one) => one.live) }
  /** @type {string[]} */
  const findings = []
  for (const [name, { perMinute, start }] of Object.entries({ RSS: rss, live }))
    if (perMinute * minutes > Math.max(MOST_BYTES, MOST_SHARE * start))
      findings.push(
        `${name} grows by ${(perMinute / 1e6).toFixed(1)} MB a minute from ${(start / 1e6).toFixed(1)} MB`,
      )
  return { rss, live, settled, findings }
}

// @ts-check
/** Memory growth over time: a regression line through the readings, by least squares. */

/**
 * Allowed growth between the warm-up and the end: a share of the line's start, or a number of bytes if that is more. The
 * reserves of V8 and the allocator vary by more than 5 %.
 */
const MAX_SHARE = 0.1
const MAX_BYTES = 8e6
/** Standard errors of a 95 % confidence interval. */
const CONFIDENCE = 1.96

/**
 * @typedef {object} Reading
 * @property {number} seconds
 * @property {number} rss
 * @property {number} live bytes held by JavaScript after a garbage collection
 *
 * @param {readonly Reading[]} readings at least two, at different times
 * @param {(reading: Reading) => number} bytesOf
 * @returns slope per minute, its margin of error (95 %), and the bytes at the first reading
 */
export function fitLine(readings, bytesOf) {
  const mean = (/** @type {(reading: Reading) => number} */ value) =>
    readings.reduce((sum, reading) => sum + value(reading), 0) / readings.length
  const seconds = mean((reading) => reading.seconds)
  const bytes = mean(bytesOf)
  const spread = readings.reduce((sum, reading) => sum + (reading.seconds - seconds) ** 2, 0)
  const covariance = readings.reduce(
    (sum, reading) => sum + (reading.seconds - seconds) * (bytesOf(reading) - bytes),
    0,
  )
  const perSecond = covariance / spread
  const [first] = readings
  const residuals = readings.map(
    (reading) => bytesOf(reading) - bytes - perSecond * (reading.seconds - seconds),
  )
  return {
    perMinute: perSecond * 60,
    margin: 60 * CONFIDENCE * Math.sqrt((variance(residuals) * correlationTime(residuals)) / spread),
    start: bytes + perSecond * (Number(first?.seconds) - seconds),
  }
}

/** @param {readonly number[]} residuals */
const variance = (residuals) =>
  residuals.reduce((sum, residual) => sum + residual * residual, 0) / Math.max(1, residuals.length - 2)

/**
 * Consecutive readings are correlated: this many of them are worth one independent reading. Estimated from the correlation
 * of neighbours, as in a first-order autoregressive model.
 *
 * @param {readonly number[]} residuals
 */
function correlationTime(residuals) {
  const products = residuals
    .slice(1)
    .reduce((sum, residual, index) => sum + residual * Number(residuals[index]), 0)
  const squares = residuals.reduce((sum, residual) => sum + residual * residual, 0)
  const correlation = squares === 0 ? 0 : Math.min(0.99, Math.max(0, products / squares))
  return (1 + correlation) / (1 - correlation)
}

/**
 * @param {readonly Reading[]} readings
 * @param {number} warmUpSeconds
 */
export function checkGrowth(readings, warmUpSeconds) {
  const warm = readings.filter(({ seconds }) => seconds >= warmUpSeconds)
  if (warm.length < 5) throw new Error(`only ${warm.length} readings after the warm-up`)
  const minutes = (Number(warm.at(-1)?.seconds) - Number(warm[0]?.seconds)) / 60
  const rss = fitLine(warm, (reading) => reading.rss)
  const live = fitLine(warm, (reading) => reading.live)
  const half = readings.filter(({ seconds }) => seconds >= Number(readings.at(-1)?.seconds) / 2)
  const secondHalf = {
    rss: fitLine(half, (reading) => reading.rss),
    live: fitLine(half, (reading) => reading.live),
  }
  /** @type {string[]} */
  const problems = []
  for (const [name, { perMinute, start }] of Object.entries({ RSS: rss, live }))
    if (perMinute * minutes > Math.max(MAX_BYTES, MAX_SHARE * start))
      problems.push(
        `${name} grows by ${(perMinute / 1e6).toFixed(1)} MB a minute from ${(start / 1e6).toFixed(1)} MB`,
      )
  return { rss, live, secondHalf, problems }
}

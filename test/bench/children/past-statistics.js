/** Writes the counts that attempts of the past would have left, besides those of this hour. */

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const ROWS_PER_BATCH = 500
/** Numbers of a row: 12 outcomes, 12 buckets of durations, and the sum of the durations. */
const COLUMNS = 25
const FIRST_FAILURE = 2
const FIRST_BUCKET = 12
const MEAN_MS = 40

let batches = 0

/** Outcomes of a slot. @param {number} attempts in all slots @param {number} share of those that fail */
function countsOf(attempts, share, index) {
  const counts = new Array(COLUMNS).fill(0)
  const failed = Math.floor(attempts * share)
  counts[0] = attempts - failed
  counts[FIRST_FAILURE] = failed
  counts[FIRST_BUCKET + 1 + (index % 5)] = attempts
  counts[COLUMNS - 1] = attempts * MEAN_MS
  return counts
}

function* rowsOf(series, { hours, minutes }, nowMs) {
  for (const [step, lengthMs, count] of [
    [3600, HOUR_MS, hours],
    [60, MINUTE_MS, minutes],
  ]) {
    const last = Math.floor(nowMs / lengthMs) * lengthMs
    for (let slot = 1; slot < count; slot += 1) {
      for (const [index, { attempts, failedShare = 0, ...key }] of series.entries()) {
        const counts = countsOf(Math.ceil(attempts / hours), failedShare, index)
        yield { ...key, step, startMs: last - slot * lengthMs, counts }
      }
    }
  }
}

/**
 * @param {import('hookswitch/store').Store} store
 * @param {readonly { accountId: string, webhookId: string, attempts: number, failedShare?: number }[]} series
 * @param {{ hours: number, minutes: number }} past how many slots each series has
 */
export async function writePast(store, series, past) {
  let rows = []
  const write = async () => {
    batches += 1
    await store.stats.add({ writer: 'bench', number: batches, rows })
    rows = []
  }
  for (const row of rowsOf(series, past, Date.now())) {
    rows.push(row)
    if (rows.length === ROWS_PER_BATCH) await write()
  }
  if (rows.length > 0) await write()
}

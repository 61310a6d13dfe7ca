// @ts-check
/** Compares the durations of published legs with the call detail records of Asterisk. Pure. */

/** @typedef {import('./service.js').Received} Received */
/**
 * A line of `Master.csv`, as far as it is used.
 *
 * @typedef {object} CallRecord
 * @property {string} id the Uniqueid of the leg
 * @property {string} channel
 * @property {string} application the last one
 * @property {number} duration in seconds
 * @property {number} billed in seconds
 */

/** The columns of `cdr_csv` with `loguniqueid`. */
const COLUMNS = { channel: 5, application: 7, duration: 12, billed: 13, id: 16 }

/**
 * @param {string} line
 * @returns {CallRecord}
 */
export function parseRecord(line) {
  const fields = [...line.matchAll(/"((?:[^"]|"")*)"|([^,]+)|(?<=,)(?=,|$)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  const { channel, application, duration, billed, id } = COLUMNS
  return {
    id: String(fields[id]),
    channel: String(fields[channel]),
    application: String(fields[application]),
    duration: Number(fields[duration]),
    billed: Number(fields[billed]),
  }
}

/** Asterisk writes the times at which it comes to the record: later than the events, if the machine is busy. */
const WRITE_MS = 1_000

/** How far a time is outside the whole seconds of a record. @param {number} ms @param {number} seconds */
const distance = (ms, seconds) => Math.max(0, seconds * 1_000 - ms, ms - (seconds * 1_000 + 999))

/**
 * Sorts the records of the legs that one service published.
 *
 * @param {readonly CallRecord[]} records
 * @param {readonly Received[]} received
 * @param {string} source
 */
export function compareRecords(records, received, source) {
  /** @type {Map<string, CallRecord[]>} */
  const byLeg = new Map()
  for (const record of records) byLeg.set(record.id, [...(byLeg.get(record.id) ?? []), record])
  const counts = { equal: 0, near: 0, farthestMs: 0, several: 0, unknown: 0 }
  /** @type {string[]} */
  const different = []
  for (const { source: from, event } of received) {
    if (from !== source || event.hook_event !== 'channel_destroy') continue
    const [record, ...others] = byLeg.get(event.call_id) ?? []
    if (!record) continue
    const { duration_ms: duration, billing_ms: billed } = event
    if (others.length > 0) counts.several += 1
    else if (duration === undefined || billed === undefined) counts.unknown += 1
    else if (event.duration_seconds === record.duration && event.billing_seconds === record.billed)
      counts.equal += 1
    else {
      const farMs = Math.max(distance(duration, record.duration), distance(billed, record.billed))
      if (farMs < WRITE_MS) {
        counts.near += 1
        counts.farthestMs = Math.max(counts.farthestMs, farMs)
        continue
      }
      different.push(
        `${record.channel} ${record.application}: the record has ${record.duration} s and ${record.billed} s billed, the event ${duration} ms and ${billed} ms`,
      )
    }
  }
  return { ...counts, different }
}

import type { Statement } from '../statement.js'

/** The clock of the server, ms. `given` is a parameter: the clock of a test, or null. */
const serverMs = (given: string) => `coalesce(${given}::float8, extract(epoch from clock_timestamp()) * 1000)`

/** Store time in ms, without what only a node can know (`store-time.ts`). `given`: as above. */
export const storeMs = (s: string, given: string) =>
  `(select greatest(${serverMs(given)} + c.offset_ms, c.last_ms) from ${s}.store_clock c where c.id = 0)`

export interface StoreClockRow {
  readonly serverMs: number
  readonly offsetMs: number
  readonly lastMs: number
}

export const storeClockStatements = (s: string) =>
  ({
    /** The clock of the server in whole milliseconds, and the row, in a transaction that holds the lock of leases. */
    read: {
      name: 'clock_read',
      text: `select floor(${serverMs('$1')})::float8 as "serverMs",
          coalesce(max(offset_ms), 0) as "offsetMs", coalesce(max(last_ms), 0) as "lastMs"
        from ${s}.store_clock where id = 0`,
    },
    /** Prolongs the leases that held at the time `$1` by `$2`, at most until `$3`. */
    prolongLeases: {
      name: 'clock_prolong',
      text: `update ${s}.node set alive_until_ms = least(alive_until_ms + $2, $3) where alive_until_ms > $1`,
    },
  }) satisfies Record<string, Statement>

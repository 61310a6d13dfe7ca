/** The storage port of statistics: counts of attempts by webhook and slot of time, added up over all nodes. */
import type { CauseCounts } from './columns.js'
import type { StatsStep } from './slots.js'

/**
 * Whose attempts a row counts: those of a webhook; with an empty `webhookId`, of all webhooks of the account, without those of
 * accounts below it; with both empty, of the whole service.
 */
export interface StatsSeriesKey {
  /** Id of the webhook's account, or empty. */
  readonly accountId: string
  /** Id of the webhook, or empty. */
  readonly webhookId: string
}

/** The counts of one slot. */
export interface StatsRow extends StatsSeriesKey {
  /** Length of the slot, seconds. */
  readonly step: StatsStep
  /** Start of the slot, Unix ms. */
  readonly startMs: number
  /** 25 whole numbers of at least 0: 12 outcomes, 12 duration buckets, the sum of the durations in ms (`stats/columns`). */
  readonly counts: readonly number[]
  /** The failed attempts by cause (`stats/columns`), each at least 1. Absent: there are none. */
  readonly causes?: CauseCounts
}

/** Rows that are added in one transaction. */
export interface StatsBatch {
  /** Id of the instance that counted, unique in the store. */
  readonly writer: string
  /** 1, 2, … for each writer. A repeated batch has the number and the rows of the first try. */
  readonly number: number
  /** At most 500 rows, each of another slot or series. */
  readonly rows: readonly StatsRow[]
}

/** Which rows to read. */
export interface StatsQuery {
  /** At most 1,000. */
  readonly series: readonly StatsSeriesKey[]
  /** Length of the slots, seconds. */
  readonly step: StatsStep
  /** Starts of slots, Unix ms, at most 900. */
  readonly slots: readonly number[]
}

/** Attempts of one series in each slot of a query, in the order of its slots; 0 where nothing is counted. */
export interface StatsTotals {
  /** Successes. */
  readonly ok: readonly number[]
  /** Other attempts. */
  readonly failed: readonly number[]
}

/** What is removed. */
export interface StatsRetention {
  /** Slots of each step that begin before this time are removed, Unix ms. */
  readonly beforeMs: Readonly<Record<StatsStep, number>>
}

/** The storage port of statistics. Every promise may reject with `StoreUnavailable`. */
export interface StatsStore {
  /**
   * Adds counts and causes to those that are stored, all or none. A batch whose number is not above the last one of its writer has
   * been written before, and changes nothing: so a batch with an unknown outcome can be repeated.
   */
  add(batch: StatsBatch): Promise<void>
  /** The rows that exist, in any order. A slot without attempts has none. */
  read(query: StatsQuery): Promise<readonly StatsRow[]>
  /** The totals of each series, in the order of the query: a list of webhooks needs no more, and reads many. */
  totals(query: StatsQuery): Promise<readonly StatsTotals[]>
  /**
   * Removes up to `limit` rows of old slots. Also forgets writers that wrote nothing since the oldest slot that is kept.
   * Resolves to the number of rows removed, without writers.
   */
  prune(retention: StatsRetention, limit: number): Promise<number>
}

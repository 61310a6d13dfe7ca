/** Counts attempt records per webhook, for retention. */
import type { SqliteHandle } from './driver.js'
import { prepareQuery } from './query.js'

/**
 * Counts the attempt records per webhook, to find webhooks that have more than retention allows. Only webhooks with
 * records written since the file was opened can exceed the limit again, so each other one is counted once.
 */
export interface AttemptCounts {
  /** A record was inserted. */
  added(webhook: number): void
  /** Records were deleted. */
  removed(webhook: number, count: number): void
  /** Yields webhooks with more than `most` records and their excess. Counts at most `steps` index entries. */
  exceeding(most: number, steps: number): Iterable<readonly [webhook: number, excess: number]>
  invalidate(): void
}

/** Above this number of webhooks all counts are discarded, and made again. */
const MAX_COUNTS = 100_000
/** Webhooks read at a time. */
const SLICE = 100

export function createAttemptCounts(db: SqliteHandle): AttemptCounts {
  const countOf = prepareQuery<{ readonly count: number }>(
    db,
    `select count(*) as count from hookswitch_attempt indexed by hookswitch_attempt_webhook
    where webhook = ? and doc is not null`,
  )
  const slice = prepareQuery<{ readonly key: number }>(
    db,
    'select key from hookswitch_webhook where key > ? order by key limit ? + 0',
  )
  /** Number of records by webhook key. NaN: not counted yet. */
  const counts = new Map<number, number>()
  /** Webhooks up to this key have been counted since the file was opened; Infinity: all. */
  let countedUpTo = 0

  function* exceeding(most: number, steps: number): Generator<readonly [number, number]> {
    let left = steps
    const count = (webhook: number): number => {
      const { count } = countOf.get(webhook)!
      left -= count + 1
      return count
    }
    for (const [webhook, stored] of counts) {
      if (Number.isNaN(stored) && left <= 0) continue
      const exact = Number.isNaN(stored) ? count(webhook) : stored
      counts.set(webhook, exact)
      if (exact > most) yield [webhook, exact - most]
    }
    while (left > 0 && countedUpTo !== Number.POSITIVE_INFINITY) {
      const webhooks = slice.all(countedUpTo, SLICE)
      for (const { key } of webhooks) {
        const excess = counts.has(key) ? 0 : count(key) - most
        if (excess > 0) {
          counts.set(key, most + excess)
          yield [key, excess]
        }
        countedUpTo = key
      }
      if (webhooks.length < SLICE) countedUpTo = Number.POSITIVE_INFINITY
    }
  }

  return {
    added(webhook) {
      if (counts.size >= MAX_COUNTS) {
        counts.clear()
        countedUpTo = 0
      }
      counts.set(webhook, (counts.get(webhook) ?? Number.NaN) + 1)
    },
    removed(webhook, count) {
      const stored = counts.get(webhook)
      if (stored !== undefined) counts.set(webhook, stored - count)
    },
    exceeding,
    invalidate() {
      for (const webhook of counts.keys()) counts.set(webhook, Number.NaN)
    },
  }
}

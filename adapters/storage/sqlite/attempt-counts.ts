/** Counts the attempts of delivered deliveries per webhook, for retention. */
import type { Statements } from './query.js'

/**
 * The attempts of an ended delivery that count towards `attemptsPerWebhook`, as SQL: the recorded ones of a delivery that
 * was delivered and is no replay; null for any other. Part of the schema: an index contains it.
 */
export const COUNTED_ATTEMPTS = 'case when state = 3 and event is null then attempts - (doc is null) end'

/** A delivery that was delivered. */
interface DeliveredDelivery {
  readonly position: number
  /** Its attempts that count, at least 1. */
  readonly counted: number
}

/**
 * Counts attempts per webhook, to find webhooks that have more than retention allows. Only webhooks with deliveries that were
 * delivered since the file was opened can exceed the limit again, so each other one is counted once.
 */
export interface AttemptCounts {
  /** A delivery that is no replay was delivered. */
  added(webhook: number, position: number, counted: number): void
  /** The end of a delivery was deleted. */
  removed(webhook: number, position: number, counted: number): void
  /**
   * Yields, for one webhook after the other, the oldest deliveries while the webhook has more than `most` attempts without
   * those that were yielded. The caller deletes each.
   *
   * @param steps how many index entries are read, about. Returns false if it needs more
   */
  exceeding(most: number, steps: number): Generator<ExcessDelivery, boolean, void>
  invalidate(): void
}

interface ExcessDelivery extends DeliveredDelivery {
  readonly webhook: number
}

/** What is known of a webhook. */
interface Count {
  /** Attempts of its deliveries up to the position `upTo`. */
  attempts: number
  /** Deliveries up to this position are counted; Infinity: all. */
  upTo: number
  /** No delivery at or before this position counts. */
  passed: number
}

/** Above this number of webhooks all counts are discarded, and made again. */
const MAX_COUNTS = 100_000
/** Webhooks read at a time. */
const SLICE = 100
/** Index entries read at a time. */
const ENTRIES = 1_000
/** What a query costs besides the entries that it reads. */
const QUERY_STEPS = 20

/** Ended deliveries of a webhook. Parameters: webhook, position, limit. */
const SLICE_SQL = `select position, ${COUNTED_ATTEMPTS} as counted
  from hookswitch_attempt indexed by hookswitch_attempt_end
  where webhook = ? and state is not null and position > ? order by position limit ? + 0`

interface SliceRow {
  readonly entries: number
  readonly attempts: number
  /** The last position; null: the slice is empty. */
  readonly last: number | null
}

export function createAttemptCounts({ prepareQuery }: Statements): AttemptCounts {
  const countSlice = prepareQuery<SliceRow>(
    `select count(*) as entries, ifnull(sum(counted), 0) as attempts, max(position) as last from (${SLICE_SQL})`,
  )
  const deliveredIn = prepareQuery<DeliveredDelivery>(
    `select position, counted from (${SLICE_SQL}) where counted > 0`,
  )
  const webhooksAfter = prepareQuery<{ readonly key: number }>(
    'select key from hookswitch_webhook where key > ? order by key limit ? + 0',
  )
  /** By webhook key. */
  const counts = new Map<number, Count>()
  /** Webhooks up to this key have been counted since the file was opened; Infinity: all. */
  let countedUpTo = 0

  const newCount = (): Count => ({ attempts: 0, upTo: -1, passed: -1 })

  function* exceeding(most: number, steps: number): Generator<ExcessDelivery, boolean, void> {
    let left = steps

    /** Counts on, until the webhook is counted or there are no steps left. */
    function countOn(webhook: number, count: Count): void {
      while (count.upTo !== Number.POSITIVE_INFINITY && left > 0) {
        const { entries, attempts, last } = countSlice.get(webhook, count.upTo, ENTRIES)!
        left -= entries + QUERY_STEPS
        count.attempts += attempts
        count.upTo = entries < ENTRIES ? Number.POSITIVE_INFINITY : last!
      }
    }

    function* excessOf(webhook: number, count: Count): Generator<ExcessDelivery, void, void> {
      while (count.attempts > most && left > 0) {
        const { entries, last } = countSlice.get(webhook, count.passed, ENTRIES)!
        left -= 2 * (entries + QUERY_STEPS)
        for (const { position, counted } of deliveredIn.all(webhook, count.passed, ENTRIES)) {
          if (count.attempts <= most) return
          yield { webhook, position, counted }
          count.passed = position
        }
        if (last === null) return
        count.passed = last
      }
    }

    for (const [webhook, count] of counts) {
      if (left <= 0) return false
      countOn(webhook, count)
      if (count.attempts > most) yield* excessOf(webhook, count)
    }
    while (left > 0 && countedUpTo !== Number.POSITIVE_INFINITY) {
      const webhooks = webhooksAfter.all(countedUpTo, SLICE)
      for (const { key } of webhooks) {
        if (left <= 0) return false
        if (!counts.has(key)) {
          const count = newCount()
          countOn(key, count)
          // Its count goes on with the next call, or it may exceed the limit again.
          if (count.upTo !== Number.POSITIVE_INFINITY || count.attempts > most) counts.set(key, count)
          yield* excessOf(key, count)
        }
        countedUpTo = key
      }
      if (webhooks.length < SLICE) countedUpTo = Number.POSITIVE_INFINITY
    }
    return left > 0
  }

  return {
    added(webhook, position, counted) {
      let count = counts.get(webhook)
      if (!count) {
        if (counts.size >= MAX_COUNTS) {
          counts.clear()
          countedUpTo = 0
        }
        count = newCount()
        counts.set(webhook, count)
      }
      if (position <= count.upTo) count.attempts += counted
      if (position <= count.passed) count.passed = position - 1
    },
    removed(webhook, position, counted) {
      const count = counts.get(webhook)
      if (count && position <= count.upTo) count.attempts -= counted
    },
    exceeding,
    invalidate() {
      for (const webhook of counts.keys()) counts.set(webhook, newCount())
    },
  }
}

import type { SqliteHandle } from './driver.js'
import { query } from './query.js'

/**
 * How many attempts are kept of webhooks that got some since the file was opened: those may have more than their
 * number. Counted when it is asked, from then on exact, so that no webhook is looked at again without need.
 */
export interface Kept {
  /** A record was written. */
  added(webhook: number): void
  /** Records went. */
  removed(webhook: number, count: number): void
  /** Webhooks with more than `most` records, each with how many more; at most `steps` index entries are counted. */
  above(most: number, steps: number): Iterable<readonly [webhook: number, excess: number]>
  forget(): void
}

/** Beyond so many webhooks their counts are forgotten, and made again. */
const REMEMBERED = 100_000
/** Webhooks of former times that are looked at together. */
const SLICE = 100

export function kept(db: SqliteHandle): Kept {
  const countOf = query<{ readonly count: number }>(
    db,
    'select count(*) as count from hookswitch_attempt indexed by hookswitch_attempt_webhook where webhook = ?',
  )
  const slice = query<{ readonly key: number }>(
    db,
    'select key from hookswitch_webhook where key > ? order by key limit ? + 0',
  )
  /** NaN: not counted yet. */
  const counts = new Map<number, number>()
  /** Webhooks up to this key were looked at since the file was opened; Infinity: all. */
  let lookedUpTo = 0

  function* above(most: number, steps: number): Generator<readonly [number, number]> {
    let left = steps
    const count = (webhook: number): number => {
      const { count } = countOf.get(webhook)!
      left -= count + 1
      return count
    }
    for (const [webhook, known] of counts) {
      if (Number.isNaN(known) && left <= 0) continue
      const exact = Number.isNaN(known) ? count(webhook) : known
      counts.set(webhook, exact)
      if (exact > most) yield [webhook, exact - most]
    }
    while (left > 0 && lookedUpTo !== Number.POSITIVE_INFINITY) {
      const webhooks = slice.all(lookedUpTo, SLICE)
      for (const { key } of webhooks) {
        const excess = counts.has(key) ? 0 : count(key) - most
        if (excess > 0) {
          counts.set(key, most + excess)
          yield [key, excess]
        }
        lookedUpTo = key
      }
      if (webhooks.length < SLICE) lookedUpTo = Number.POSITIVE_INFINITY
    }
  }

  return {
    added(webhook) {
      if (counts.size >= REMEMBERED) {
        counts.clear()
        lookedUpTo = 0
      }
      counts.set(webhook, (counts.get(webhook) ?? Number.NaN) + 1)
    },
    removed(webhook, count) {
      const known = counts.get(webhook)
      if (known !== undefined) counts.set(webhook, known - count)
    },
    above,
    forget() {
      for (const webhook of counts.keys()) counts.set(webhook, Number.NaN)
    },
  }
}

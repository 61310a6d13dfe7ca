/**
 * The three kinds of ended deliveries, as conditions on `attempt`. Each has its own indexes, which a statement finds by exactly
 * these texts: a list merges what it takes from each of them.
 */

/** Originals that were delivered: all that is ever removed because there are many. */
export const DELIVERED = 'state = 2 and replay_of is null'
/** Originals and replays that ended in any other state. */
export const UNDELIVERED = 'state > 2'
/** Replays that were delivered. */
export const REPLAYED = 'state = 2 and replay_of is not null'

/** Each ended delivery is of one of these kinds. */
export const ENDED: readonly string[] = [DELIVERED, UNDELIVERED, REPLAYED]

/** Attempts before the last one. With `DELIVERED` and `OTHERS` these are all attempts, which have three indexes by time. */
export const FAILED = 'state < 2'
/** The last two kinds. */
export const OTHERS = `(${UNDELIVERED} or ${REPLAYED})`

/**
 * Met by every row, and part of the indexes that have ended deliveries of all webhooks: a statement finds them only with it. Before the
 * server's statistics know of a kind, which may be 100,000 rows of a million, its rows of one webhook seem to cost the same by
 * an index that has them of all webhooks.
 */
export const OF_ALL_WEBHOOKS = 'epoch >= 0'

/** `statement` for each kind, merged. */
export const ofEachKind = (statement: (kind: string) => string): string =>
  ENDED.map((kind) => `(${statement(kind)})`).join('\n union all ')

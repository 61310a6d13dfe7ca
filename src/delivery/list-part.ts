/**
 * Parts of a list, each of which is examined by one query: a condition that few rows meet must not make a query read all of
 * them.
 */
import type { AttemptQuery } from './delivery-queries.js'
import type { DeliveryState } from './lifecycle.js'
import { positionAt } from './positions.js'

/** Selects the next part of a list. */
export interface PartQuery
  extends Pick<
    AttemptQuery,
    'accountId' | 'webhookId' | 'hooks' | 'fromMs' | 'toMs' | 'cursor' | 'ascending'
  > {
  /** `deliveries`: those of a webhook. */
  readonly list: 'attempts' | 'deliveries'
  /** Only deliveries in these states will be read: others need not count. Default: all states. */
  readonly states?: readonly DeliveryState[]
  /** Maximum number of rows of the part, of each kind. Default: what the store examines in a few milliseconds. */
  readonly rows?: number
}

/** A part of a list. */
export interface ListPart {
  /** The part begins behind this position. */
  readonly cursor: number
  /** The part ends with this position, behind which the next part begins. */
  readonly end: number
  /** Whether further parts may have rows of the range. */
  readonly hasMore: boolean
}

/**
 * Most by which the moment of a position is after the acceptance, ms: positions of a node grow also while its store time does
 * not, and are above those that it has read.
 */
export const MAX_AHEAD_MS = 600_000
/** Most by which it is before the acceptance, ms: a commit of which it is unknown whether it was written is repeated. */
const MAX_BEHIND_MS = 3_600_000
const MAX_POSITION = Number.MAX_SAFE_INTEGER

/** The lowest position of a delivery that was accepted at this time or later. @param fromMs absent: at any time */
export const firstPosition = (fromMs: number | undefined): number =>
  fromMs === undefined ? 0 : Math.min(MAX_POSITION, positionAt(fromMs - MAX_BEHIND_MS))

/**
 * The positions that the deliveries of a list can have, unless its query has some. A delivery at one of them may still have been
 * accepted before or after the range.
 *
 * @param aheadMs most by which the moment of a position is after the acceptance, ms. Default: 10 min
 */
export function deliveryBounds(
  {
    fromMs,
    toMs,
    cursor,
    end,
    ascending,
  }: Pick<AttemptQuery, 'fromMs' | 'toMs' | 'cursor' | 'end' | 'ascending'>,
  aheadMs: number = MAX_AHEAD_MS,
): Pick<ListPart, 'cursor' | 'end'> {
  const first = firstPosition(fromMs)
  const last = toMs === undefined ? MAX_POSITION : Math.min(MAX_POSITION, positionAt(toMs + aheadMs))
  return ascending === true
    ? { cursor: cursor ?? first - 1, end: end ?? last }
    : { cursor: cursor ?? last, end: end ?? first }
}

/**
 * The part of a list that ends at a position.
 *
 * @param bounds where the list goes on, and where it ends (`deliveryBounds`)
 * @param last the position at which the part ends at the latest; absent: it has all that is left
 * @param ascending true: oldest first. Default false
 */
export function partOf(
  { cursor, end }: Pick<ListPart, 'cursor' | 'end'>,
  last: number | undefined,
  ascending = false,
): ListPart {
  const hasMore = last !== undefined && (ascending ? last < end : last > end)
  return { cursor, end: hasMore ? last : end, hasMore }
}

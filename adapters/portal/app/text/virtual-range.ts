/** Chooses the rows of a long list that are in the document; the heights of rows may differ. Pure. */

/** The upper edges of the rows in pixels, and the height of all at the end. */
type RowEdges = Float64Array

/** @param heightOf height of a row in pixels */
export function rowEdges(count: number, heightOf: (index: number) => number): RowEdges {
  const edges = new Float64Array(count + 1)
  for (let index = 0; index < count; index += 1) edges[index + 1] = edges[index]! + heightOf(index)
  return edges
}

/** Moves the edges of all rows after those whose heights have changed. @param heights heights by index */
export function resizeRows(edges: RowEdges, heights: ReadonlyMap<number, number>): void {
  let moved = 0
  for (let index = Math.min(...heights.keys()); index < edges.length - 1; index += 1) {
    const height = heights.get(index)
    const upper = edges[index]!
    const lower = edges[index + 1]!
    // The upper edge is moved already.
    if (height !== undefined) moved = upper + height - lower
    edges[index + 1] = lower + moved
  }
}

/** The row at a position; the nearest one where there is none. */
export function rowAt(edges: RowEdges, position: number): number {
  let low = 0
  let high = edges.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (edges[middle]! <= position) low = middle
    else high = middle - 1
  }
  return low
}

interface VirtualRange {
  /** Index of the first row that is rendered. */
  readonly first: number
  /** Index after the last row that is rendered. */
  readonly end: number
  /** Pixels above the first and below the last rendered row. */
  readonly above: number
  readonly below: number
}

/** Rows rendered beyond the visible ones, so that a fast scroll shows no gap. */
const OVERSCAN = 1

/** @param top the first visible position, in pixels from the upper edge of the first row */
export function virtualRange(edges: RowEdges, top: number, viewport: number): VirtualRange {
  const count = edges.length - 1
  if (count === 0) return { first: 0, end: 0, above: 0, below: 0 }
  const first = Math.max(0, rowAt(edges, top) - OVERSCAN)
  const end = Math.min(count, rowAt(edges, top + viewport) + 1 + OVERSCAN)
  return { first, end, above: edges[first]!, below: edges[count]! - edges[end]! }
}

/**
 * How far to scroll so that a row is visible, as little as possible.
 *
 * @param top the first visible position below what covers the list
 * @returns pixels; negative: upwards
 */
export function scrollToShow(edges: RowEdges, index: number, top: number, viewport: number): number {
  if (edges[index]! < top) return edges[index]! - top
  return Math.max(0, edges[index + 1]! - top - viewport)
}

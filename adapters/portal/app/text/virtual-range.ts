/** Which rows of a long list are in the document. Pure. */

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

/** @param rowHeight height of every row in pixels */
export function virtualRange(
  scrollTop: number,
  viewport: number,
  rowHeight: number,
  count: number,
): VirtualRange {
  const visible = Math.ceil(viewport / rowHeight) + 1
  const wanted = Math.floor(Math.max(0, scrollTop) / rowHeight) - OVERSCAN
  const first = Math.max(0, Math.min(wanted, count - visible - OVERSCAN))
  const end = Math.min(count, first + visible + 2 * OVERSCAN)
  return { first, end, above: first * rowHeight, below: (count - end) * rowHeight }
}

/** A panel of fixed height below one row. */
interface OpenPanel {
  /** Index of the row. */
  readonly index: number
  /** Pixels. */
  readonly height: number
}

/** As `virtualRange`, where the panel of one row is open. A panel that is not rendered leaves its height as space. */
export function rangeWithPanel(
  scrollTop: number,
  viewport: number,
  rowHeight: number,
  count: number,
  { index, height }: OpenPanel,
): VirtualRange {
  const top = (index + 1) * rowHeight
  const closedTop = scrollTop <= top ? scrollTop : Math.max(top, scrollTop - height)
  const range = virtualRange(closedTop, viewport, rowHeight, count)
  return {
    ...range,
    above: range.above + (index < range.first ? height : 0),
    below: range.below + (index >= range.end ? height : 0),
  }
}

/** The scroll position that shows a row, as near as possible to the current one. */
export function scrollToShow(index: number, scrollTop: number, viewport: number, rowHeight: number): number {
  const top = index * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + viewport ? top + rowHeight - viewport : scrollTop
}

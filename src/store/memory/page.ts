/** Pages of sorted lists, without an index: one pass keeps the first rows in order. */
import type { PageQuery } from '../../accounts/account-store.js'
import { compareCodePoints } from '../../values/code-points.js'

/** The first rows behind `after`. The cost is one comparison per row, and few insertions if their order is random. */
export function pageOf<Row extends { readonly id: string }>(
  rows: Iterable<Row>,
  { after, ascending, limit }: PageQuery,
  sortKeyOf: (row: Row) => string,
  isWanted: (row: Row) => boolean = () => true,
): readonly Row[] {
  const sign = ascending ? 1 : -1
  const compare = (a: readonly [string, string], b: readonly [string, string]) =>
    sign * (compareCodePoints(a[0], b[0]) || compareCodePoints(a[1], b[1]))
  const page: { readonly key: readonly [string, string]; readonly row: Row }[] = []
  for (const row of rows) {
    const key = [sortKeyOf(row), row.id] as const
    if (after && compare(key, after) <= 0) continue
    const last = page[page.length - 1]
    if (page.length >= limit && last && compare(key, last.key) >= 0) continue
    if (!isWanted(row)) continue
    let low = 0
    let high = page.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(page[middle]!.key, key) < 0) low = middle + 1
      else high = middle
    }
    page.splice(low, 0, { key, row })
    if (page.length > limit) page.pop()
  }
  return page.map(({ row }) => row)
}

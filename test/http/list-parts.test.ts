/** A list of which few rows match examines a limited number of rows per request, and its pages have all that match. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ListPart, partOf } from '../../src/delivery/list-part.js'
import { type BatchQuery, positionedRows, readItems } from '../../src/http/paginate.js'

interface Row {
  readonly position: number
  readonly matches: boolean
}

/** A list in memory that counts the rows that its queries examine. */
function countingList(rows: readonly Row[], partRows: number) {
  let examined = 0
  const behind = ({ cursor, ascending }: Pick<BatchQuery, 'cursor' | 'ascending'>) => {
    const sorted = ascending ? rows : rows.toReversed()
    return sorted.filter(
      ({ position }) => cursor === undefined || (ascending ? position > cursor : position < cursor),
    )
  }
  return {
    examined: () => examined,
    async part(query: Omit<BatchQuery, 'limit' | 'end'>): Promise<ListPart> {
      const { ascending = false } = query
      const bounds = { cursor: query.cursor ?? (ascending ? 0 : 1e6), end: ascending ? 1e6 : 0 }
      return partOf(bounds, behind(query)[partRows - 1]?.position, ascending)
    },
    async read({ end = 0, limit, ...query }: BatchQuery): Promise<readonly Row[]> {
      const found: Row[] = []
      for (const row of behind(query)) {
        if (found.length >= limit || (query.ascending ? row.position > end : row.position < end)) break
        examined += 1
        if (row.matches) found.push(row)
      }
      return found
    },
  }
}

it('examines a limited number of rows per request, and returns each row that matches once', async () => {
  await fc.assert(
    fc.asyncProperty(
      // Long stretches without a row that matches: several parts have none.
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 60 })), { maxLength: 12 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 30 }),
      fc.boolean(),
      fc.boolean(),
      async (stretches, partRows, pageSize, ascending, filtered) => {
        const matching = stretches.flatMap(([matches, count]) => Array<boolean>(count).fill(matches))
        const rows = matching.map((matches, index) => ({ position: 10 * index + 10, matches }))
        const list = countingList(rows, partRows)
        // A filter of the request leaves out every second row that the store returns.
        const isShown = (position: number) => !filtered || position % 20 === 0
        const found: number[] = []
        let startKey: string | undefined
        let requests = 0
        do {
          const before = list.examined()
          const request = { pageSize, ascending, fromMs: 1, ...(startKey !== undefined && { startKey }) }
          const filter = filtered ? { filter: (item: object) => isShown((item as Row).position) } : {}
          const source = positionedRows<Row>(
            { ...request, ...filter } as Parameters<typeof positionedRows>[0],
            {
              part: list.part,
              read: list.read,
              toFilterJson: ({ position }) => ({ position }),
              toItems: (items) => items.map(({ position }) => ({ position })),
            },
          )
          const texts = readItems({ pageSize, ...filter }, source, JSON.stringify, 1e6)
          for (;;) {
            const next = await texts.next()
            if (next.done) {
              startKey = next.value
              break
            }
            for (const text of next.value) found.push(JSON.parse(text).position)
          }
          expect(list.examined() - before).toBeLessThanOrEqual(5 * partRows + pageSize)
          requests += 1
        } while (startKey !== undefined && requests <= rows.length + 1)
        expect(startKey).toBeUndefined()
        const expected = rows.filter(({ position, matches }) => matches && isShown(position))
        expect(found).toEqual((ascending ? expected : expected.toReversed()).map(({ position }) => position))
      },
    ),
    { numRuns: 300 },
  )
})

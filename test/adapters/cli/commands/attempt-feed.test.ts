import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptFeed } from '../../../../adapters/cli/commands/attempt-feed.js'
import { propertyRuns } from '../../../support/property-runs.js'

interface Recorded {
  readonly id: string
}

/** A list of attempts, newest first, that grows between polls. */
function growingList(pageSize: number) {
  const items: Recorded[] = []
  async function* pages() {
    const snapshot = [...items]
    for (let start = 0; start === 0 || start < snapshot.length; start += pageSize) {
      const page = snapshot.slice(start, start + pageSize)
      yield start + pageSize < snapshot.length
        ? { items: page, nextStartKey: String(start) }
        : { items: page }
    }
  }
  const record = (id: string, behind = 0) => void items.splice(behind, 0, { id })
  return { items, pages, record }
}

/** Reads a feed; `change` runs at each pause, until it returns false. */
async function readFeed(
  list: ReturnType<typeof growingList>,
  initial: number,
  change: (poll: number) => boolean,
): Promise<{ readonly ids: readonly string[]; readonly gaps: number }> {
  const ending = new AbortController()
  const ids: string[] = []
  let polls = 0
  let gaps = 0
  const feed = attemptFeed(list.pages, {
    intervalMs: 1_000,
    initial,
    signal: ending.signal,
    sleep: async (ms) => {
      expect(ms).toBe(1_000)
      if (!change(polls++)) ending.abort()
    },
    onGap: () => {
      gaps += 1
    },
  })
  for await (const { id } of feed) ids.push(id)
  return { ids, gaps }
}

describe('the feed of attempts', () => {
  it('begins with the latest, then shows each new one once, oldest first', async () => {
    const list = growingList(3)
    for (const id of ['1', '2', '3', '4', '5']) list.record(id)
    const { ids, gaps } = await readFeed(list, 2, (poll) => {
      if (poll === 0) for (const id of ['6', '7', '8', '9']) list.record(id)
      if (poll === 2) list.record('10')
      return poll < 3
    })
    expect(ids).toEqual(['4', '5', '6', '7', '8', '9', '10'])
    expect(gaps).toBe(0)
  })

  it('shows what becomes visible late, but nothing older than its beginning', async () => {
    const list = growingList(4)
    for (let id = 1; id <= 6; id++) list.record(String(id))
    const { ids } = await readFeed(list, 0, (poll) => {
      if (poll === 0) list.record('7')
      // Recorded behind 7.
      if (poll === 1) list.record('late', 1)
      // Erased: older attempts move into the first page.
      if (poll === 2) list.items.splice(1, 3)
      return poll < 4
    })
    expect(ids).toEqual(['7', 'late'])
  })

  it('reports a gap when more is recorded than it reads', async () => {
    const list = growingList(1)
    list.record('first')
    const { ids, gaps } = await readFeed(list, 0, (poll) => {
      if (poll === 0) for (let id = 0; id < 30; id++) list.record(String(id))
      return poll < 2
    })
    expect(ids).toHaveLength(20)
    expect(ids.at(-1)).toBe('29')
    expect(gaps).toBe(1)
  })

  it('shows every attempt once and in order, whatever the page size and the bursts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 0, max: 9 }),
        fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 12 }),
        async (pageSize, before, bursts) => {
          const list = growingList(pageSize)
          let last = 0
          const burst = (count: number) => {
            for (let nth = 0; nth < count; nth++) list.record(String(++last))
          }
          burst(before)
          const { ids, gaps } = await readFeed(list, 0, (poll) => {
            burst(bursts[poll] ?? 0)
            return poll < bursts.length
          })
          expect(gaps).toBe(0)
          expect(ids).toEqual(Array.from({ length: last - before }, (_, nth) => String(before + nth + 1)))
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })
})

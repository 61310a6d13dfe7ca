import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareSortKeys, type SortKey } from '../../src/wire/cursor.js'
import { type ListRequest, parseListRequest, slicePage } from '../../src/wire/list.js'
import { parseQuery } from '../../src/wire/query.js'

const parse = (text: string) => parseListRequest(parseQuery(`/?${text}`))

describe('parseListRequest', () => {
  it('defaults to a page size of 50 and ignores unknown parameters', () => {
    expect(parse('')).toEqual({ request: { pageSize: 50 } })
    expect(parse('_=123&jsonp=x&start_key=')).toEqual({ request: { pageSize: 50 } })
  })

  it('parses every parameter', () => {
    const text = 'page_size=1000&start_key=k&created_from=62167219201&created_to=62167219202&ascending=true'
    expect(parse(text)).toEqual({
      request: { pageSize: 1000, startKey: 'k', fromMs: 1000, toMs: 2999, ascending: true },
    })
    expect(parse('created_from=1970-01-01T00:00:01Z&created_to=1970-01-01')).toMatchObject({
      request: { fromMs: 1000, toMs: 86_399_999 },
    })
    expect(parse('paginate=false&page_size=5')).toEqual({ request: { pageSize: undefined } })
    expect(parse('paginate=true&page_size=5')).toEqual({ request: { pageSize: 5 } })
  })

  it.each([
    ['page_size=0', 'page_size', 'minimum', 1],
    ['page_size=-1', 'page_size', 'minimum', 1],
    ['page_size=1001', 'page_size', 'maximum', 1000],
    ['page_size=1e2', 'page_size', 'type', 'integer'],
    ['page_size=+5', 'page_size', 'type', 'integer'],
    ['page_size=05', 'page_size', 'type', 'integer'],
    ['page_size=0x10', 'page_size', 'type', 'integer'],
    ['page_size=%205%20', 'page_size', 'type', 'integer'],
    ['page_size=', 'page_size', 'type', 'integer'],
    ['page_size=99999999999999999999', 'page_size', 'type', 'integer'],
    ['created_from=x', 'created_from', 'type', 'Gregorian seconds or ISO 8601'],
    ['created_from=2026-01-02&created_to=2026-01-01', 'created_from', 'maximum', '2026-01-01'],
    ['created_to=-5', 'created_to', 'minimum', 0],
    ['created_to=999999999999', 'created_to', 'maximum', 315_569_519_999],
    ['created_from=5&created_to=4', 'created_from', 'maximum', 4],
    ['paginate=no', 'paginate', 'type', 'boolean'],
    ['ascending=1', 'ascending', 'type', 'boolean'],
  ])('rejects %s', (text, path, rule, target) => {
    expect(parse(text)).toMatchObject({ failures: [{ path, rule, target }] })
  })

  it('reports all failures', () => {
    expect(parse('page_size=x&ascending=y')).toMatchObject({ failures: [{}, {}] })
  })
})

interface Item {
  readonly name: string
  readonly id: string
  readonly at: number
}

const view = {
  keyOf: ({ name, id }: Item): SortKey => [name, id],
  createdMs: ({ at }: Item) => at,
  filterJson: (item: Item) => ({ ...item }),
  itemJson: ({ id }: Item) => ({ id }),
}

function page(items: readonly Item[], request: Partial<ListRequest> = {}) {
  const slice = slicePage(items, { pageSize: 50, ...request }, view)
  if ('failures' in slice) throw new Error('unexpected failure')
  return slice.page
}

const items = fc.uniqueArray(
  fc.record({
    name: fc.string({ maxLength: 2 }),
    id: fc.string({ minLength: 1, maxLength: 3 }),
    at: fc.nat(9),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
)

describe('slicePage', () => {
  it('returns every item once, in order, for any page size', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 7 }), fc.boolean(), (all, pageSize, ascending) => {
        const returned: unknown[] = []
        let startKey: string | undefined
        do {
          const { items: pageItems, nextStartKey } = page(all, {
            pageSize,
            ascending,
            ...(startKey && { startKey }),
          })
          expect(pageItems.length).toBeLessThanOrEqual(pageSize)
          if (nextStartKey) expect(pageItems).toHaveLength(pageSize)
          returned.push(...pageItems)
          startKey = nextStartKey
        } while (startKey)
        const sorted = [...all].sort((a, b) => compareSortKeys(view.keyOf(a), view.keyOf(b)))
        expect(returned).toEqual((ascending ? sorted : sorted.reverse()).map(view.itemJson))
      }),
    )
  })

  it('neither skips nor repeats permanent items while others are added and removed', () => {
    fc.assert(
      fc.property(items, items, (permanent, transient) => {
        const ids = new Set(permanent.map(({ id }) => id))
        const others = transient.filter(({ id }) => !ids.has(id))
        const first = page([...permanent, ...others], { pageSize: 3 })
        const rest = first.nextStartKey
          ? page(permanent, { pageSize: undefined, startKey: first.nextStartKey }).items
          : []
        const seen = [...first.items, ...rest].map(({ id }) => id as string)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.filter((id) => ids.has(id)).sort()).toEqual([...ids].sort())
      }),
    )
  })

  it('applies the range and the filter', () => {
    const all = [0, 1, 2, 3].map((at) => ({ name: 'n', id: `i${at}`, at }))
    expect(page(all, { fromMs: 1, toMs: 2 }).items).toEqual([{ id: 'i1' }, { id: 'i2' }])
    expect(page(all, { filter: ({ at }) => at === 3 }).items).toEqual([{ id: 'i3' }])
    expect(page(all, { pageSize: undefined }).items).toHaveLength(4)
  })

  it('rejects a start_key that it did not issue', () => {
    expect(slicePage([], { pageSize: 5, startKey: 'forged' }, view)).toMatchObject({
      failures: [{ path: 'start_key', rule: 'wrong_format', value: 'forged' }],
    })
  })
})

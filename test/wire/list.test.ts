import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareKeys,
  keyCursor,
  positionCursor,
  readKey,
  readPosition,
  type SortKey,
} from '../../src/wire/cursor.js'
import { type ListRequest, pageOf, readListRequest } from '../../src/wire/list.js'
import { readQuery } from '../../src/wire/query.js'

const ask = (text: string) => readListRequest(readQuery(`/?${text}`))

describe('readListRequest', () => {
  it('has a page of 50 by default and ignores what it does not know', () => {
    expect(ask('')).toEqual({ request: { pageSize: 50 } })
    expect(ask('_=123&jsonp=x&start_key=')).toEqual({ request: { pageSize: 50 } })
  })

  it('reads all it knows', () => {
    const text = 'page_size=1000&start_key=k&created_from=62167219201&created_to=62167219202&ascending=true'
    expect(ask(text)).toEqual({
      request: { pageSize: 1000, startKey: 'k', fromMs: 1000, toMs: 2999, ascending: true },
    })
    expect(ask('paginate=false&page_size=5')).toEqual({ request: { pageSize: undefined } })
    expect(ask('paginate=true&page_size=5')).toEqual({ request: { pageSize: 5 } })
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
    ['created_from=x', 'created_from', 'type', 'integer'],
    ['created_to=-5', 'created_to', 'minimum', 0],
    ['created_to=999999999999', 'created_to', 'maximum', 315_569_519_999],
    ['created_from=5&created_to=4', 'created_from', 'maximum', 4],
    ['paginate=no', 'paginate', 'type', 'boolean'],
    ['ascending=1', 'ascending', 'type', 'boolean'],
  ])('refuses %s', (text, path, rule, target) => {
    expect(ask(text)).toMatchObject({ failures: [{ path, rule, target }] })
  })

  it('tells all failures at once', () => {
    expect(ask('page_size=x&ascending=y')).toMatchObject({ failures: [{}, {}] })
  })
})

describe('cursors', () => {
  it('read back what they wrote, whatever a name contains', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(fc.tuple(text, text), fc.maxSafeInteger().map(Math.abs), (key, position) => {
        expect(readKey(keyCursor(key))).toEqual(key)
        expect(readPosition(positionCursor(position))).toBe(position)
        expect(keyCursor(key)).toMatch(/^[A-Za-z0-9_-]+$/)
      }),
    )
  })

  it('read nothing that they did not write', () => {
    const ours = keyCursor(['a', 'b'])
    for (const forged of ['', 'x', 'p5', '5', `${ours}=`, `${ours}A`, ` ${ours}`, positionCursor(5)]) {
      expect(readKey(forged)).toBeUndefined()
    }
    for (const forged of [
      '',
      '5',
      'p5',
      `${positionCursor(5)}=`,
      ours,
      Buffer.from('p05').toString('base64url'),
    ]) {
      expect(readPosition(forged)).toBeUndefined()
    }
    const other = Buffer.from('k["a", "b"]').toString('base64url')
    expect(readKey(other)).toBeUndefined()
    fc.assert(
      fc.property(fc.base64String(), (text) => {
        const position = readPosition(text)
        if (position !== undefined) expect(positionCursor(position)).toBe(text)
        const key = readKey(text)
        if (key !== undefined) expect(keyCursor(key)).toBe(text)
      }),
    )
  })
})

interface Item {
  readonly name: string
  readonly id: string
  readonly at: number
}

const shape = {
  keyOf: ({ name, id }: Item): SortKey => [name, id],
  createdMs: ({ at }: Item) => at,
  whole: (item: Item) => ({ ...item }),
  shown: ({ id }: Item) => ({ id }),
}

function page(items: readonly Item[], request: Partial<ListRequest> = {}) {
  const cut = pageOf(items, { pageSize: 50, ...request }, shape)
  if ('failures' in cut) throw new Error('refused')
  return cut.page
}

const items = fc.uniqueArray(
  fc.record({
    name: fc.string({ maxLength: 2 }),
    id: fc.string({ minLength: 1, maxLength: 3 }),
    at: fc.nat(9),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
)

describe('pageOf', () => {
  it('shows every item once, in order, whatever the size of the pages', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 7 }), fc.boolean(), (all, pageSize, ascending) => {
        const seen: unknown[] = []
        let startKey: string | undefined
        do {
          const { items: shown, nextStartKey } = page(all, {
            pageSize,
            ascending,
            ...(startKey && { startKey }),
          })
          expect(shown.length).toBeLessThanOrEqual(pageSize)
          if (nextStartKey) expect(shown).toHaveLength(pageSize)
          seen.push(...shown)
          startKey = nextStartKey
        } while (startKey)
        const sorted = [...all].sort((a, b) => compareKeys(shape.keyOf(a), shape.keyOf(b)))
        expect(seen).toEqual((ascending ? sorted : sorted.reverse()).map(shape.shown))
      }),
    )
  })

  it('neither skips nor repeats what stays while others come and go', () => {
    fc.assert(
      fc.property(items, items, (kept, passing) => {
        const ids = new Set(kept.map(({ id }) => id))
        const others = passing.filter(({ id }) => !ids.has(id))
        const first = page([...kept, ...others], { pageSize: 3 })
        const rest = first.nextStartKey
          ? page(kept, { pageSize: undefined, startKey: first.nextStartKey }).items
          : []
        const seen = [...first.items, ...rest].map(({ id }) => id as string)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.filter((id) => ids.has(id)).sort()).toEqual([...ids].sort())
      }),
    )
  })

  it('keeps the range and the filter', () => {
    const all = [0, 1, 2, 3].map((at) => ({ name: 'n', id: `i${at}`, at }))
    expect(page(all, { fromMs: 1, toMs: 2 }).items).toEqual([{ id: 'i1' }, { id: 'i2' }])
    expect(page(all, { filter: ({ at }) => at === 3 }).items).toEqual([{ id: 'i3' }])
    expect(page(all, { pageSize: undefined }).items).toHaveLength(4)
  })

  it('refuses a start key that is not ours', () => {
    expect(pageOf([], { pageSize: 5, startKey: 'forged' }, shape)).toMatchObject({
      failures: [{ path: 'start_key', rule: 'wrong_format', value: 'forged' }],
    })
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import type { ApiBackend } from '../../src/http/api-backend.js'
import { createHandler } from '../../src/http/handle.js'
import {
  type BatchQuery,
  positionedRows,
  type RowSource,
  readItems,
  sortedRows,
} from '../../src/http/paginate.js'
import type { SortKey } from '../../src/wire/cursor.js'
import type { ListRequest } from '../../src/wire/list.js'
import { createFakeBackend, endpointOf } from './fake-backend.js'
import {
  attempt,
  delivery,
  jsonOf,
  NOW,
  OWN_ACCOUNT,
  request,
  silentLog,
  WEBHOOK_ID,
  webhook,
} from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
const gregorian = (ms: number) => Math.floor(ms / 1000) + 62_167_219_200

interface ListBody {
  data: { id: string }[]
  page_size: number
  start_key?: string
  next_start_key?: string
}

function setUp() {
  const fake = createFakeBackend()
  const handle = createHandler(fake.backend, { log: silentLog })
  const list = async (url: string) => jsonOf(await handle(request('GET', url))) as unknown as ListBody
  return { ...fake, handle, list }
}

/** Fetches all pages of a list. */
async function fetchPages(list: (url: string) => Promise<ListBody>, url: string) {
  const pages: ListBody[] = []
  let next: string | undefined
  do {
    const body: ListBody = await list(next === undefined ? url : `${url}&start_key=${next}`)
    expect(body.page_size).toBe(body.data.length)
    expect(body.start_key).toBe(next)
    pages.push(body)
    next = body.next_start_key
  } while (next !== undefined)
  return pages
}

/** Reads a page of a source, each row as its own item. */
async function pageOf<Row, Place>(
  request: ListRequest,
  source: RowSource<Row, Place>,
  maxBytes = Number.POSITIVE_INFINITY,
) {
  const items = readItems(request, source, (item) => JSON.stringify(item), maxBytes)
  const rows: Row[] = []
  for (;;) {
    const next = await items.next()
    if (next.done) return { rows, nextStartKey: next.value }
    rows.push(...next.value.map((text) => JSON.parse(text) as Row))
  }
}

interface PositionedRow {
  readonly position: number
}

const asIs = {
  toFilterJson: (row: object) => ({ ...row }),
  toItems: (rows: readonly object[]) => rows.map((row) => ({ ...row })),
}

const paginate = <Row extends PositionedRow>(
  request: ListRequest,
  read: (query: BatchQuery) => Promise<readonly Row[]>,
  maxBytes?: number,
) => pageOf(request, positionedRows<Row>(request, { read, ...asIs }), maxBytes)

const idsOf = (bodies: readonly ListBody[]) => bodies.flatMap(({ data }) => data.map(({ id }) => id))

describe('lists of attempts', () => {
  it('show the newest first, 50 per page', async () => {
    const { attempts, list } = setUp()
    for (let position = 1; position <= 120; position++) attempts.push(attempt(position))
    const found = await fetchPages(list, `${WEBHOOKS}/attempts?x=y`)
    expect(found.map(({ page_size }) => page_size)).toEqual([50, 50, 20])
    expect(idsOf(found)).toEqual(Array.from({ length: 120 }, (_, index) => `attempt-${120 - index}`))
  })

  it('have no next_start_key if no items follow', async () => {
    const { attempts, list } = setUp()
    for (let position = 1; position <= 50; position++) attempts.push(attempt(position))
    expect(await list(`${WEBHOOKS}/attempts`)).not.toHaveProperty('next_start_key')
    const evens = await list(`${WEBHOOKS}/attempts?filter_result=success&page_size=25`)
    expect(evens.page_size).toBe(25)
    expect(evens).not.toHaveProperty('next_start_key')
  })

  it('apply ranges, order and filters', async () => {
    const { attempts, list } = setUp()
    for (let second = 0; second < 10; second++)
      attempts.push(attempt(second + 1, { atMs: NOW + second * 1000 }))
    const range = `created_from=${gregorian(NOW + 2000)}&created_to=${gregorian(NOW + 5000)}`
    expect(idsOf([await list(`${WEBHOOKS}/attempts?${range}`)])).toEqual([
      'attempt-6',
      'attempt-5',
      'attempt-4',
      'attempt-3',
    ])
    const query = `${range}&ascending=true&filter_not_result=failure`
    expect(idsOf([await list(`${WEBHOOKS}/attempts?${query}`)])).toEqual(['attempt-4', 'attempt-6'])
    expect(idsOf([await list(`${WEBHOOKS}/attempts?filter_id=attempt-3`)])).toEqual(['attempt-3'])
    expect(idsOf([await list(`${WEBHOOKS}/attempts?has_key=reason`)])).toEqual([])
  })

  it('are complete with paginate=false', async () => {
    const { attempts, list } = setUp()
    for (let position = 1; position <= 1234; position++) attempts.push(attempt(position))
    const body = await list(`${WEBHOOKS}/attempts?paginate=false`)
    expect(body.page_size).toBe(1234)
    expect(body).not.toHaveProperty('next_start_key')
  })

  it('reject a start_key of another kind of list', async () => {
    const { handle, webhooks, list } = setUp()
    webhooks.set('second', webhook({ id: 'second', name: 'Z' }))
    const { next_start_key } = await list(`${WEBHOOKS}?page_size=1`)
    const response = await handle(request('GET', `${WEBHOOKS}/attempts?start_key=${next_start_key}`))
    expect(response.status).toBe(400)
    expect(jsonOf(response).data).toHaveProperty(['start_key', 'wrong_format'])
  })
})

describe('lists of webhooks', () => {
  it('are sorted by name, then id, and filtered by any field of the webhook', async () => {
    const { webhooks, list } = setUp()
    webhooks.clear()
    for (const [id, name, retries] of [
      ['3', 'B', 1],
      ['2', 'A', 2],
      ['1', 'B', 2],
      ['4', 'a', 2],
    ] as const) {
      webhooks.set(id, webhook({ id, name, retries }))
    }
    expect(idsOf(await fetchPages(list, `${WEBHOOKS}?page_size=1`))).toEqual(['2', '1', '3', '4'])
    expect(idsOf(await fetchPages(list, `${WEBHOOKS}?page_size=3&ascending=false`))).toEqual([
      '4',
      '3',
      '1',
      '2',
    ])
    expect(idsOf([await list(`${WEBHOOKS}?filter_retries=2&filter_not_name=a`)])).toEqual(['2', '1'])
    expect(idsOf([await list(`${WEBHOOKS}?created_to=${gregorian(NOW - 6000)}`)])).toEqual([])
  })
})

describe('lists of deliveries', () => {
  it('have an explanation of every delivery for filters by fields, the value of which is not known yet', async () => {
    const { deliveries, list } = setUp()
    deliveries.push(delivery(1), delivery(2))
    const all = `${WEBHOOKS}/${WEBHOOK_ID}/deliveries`
    for (const field of ['explain', 'explanation']) {
      expect(idsOf([await list(`${all}?has_key=${field}`)])).toHaveLength(2)
      expect(idsOf([await list(`${all}?key_missing=${field}`)])).toEqual([])
    }
    expect(idsOf([await list(`${all}?filter_explanation.code=in_flight`)])).toEqual([])
  })

  it('explain only the deliveries that they return', async () => {
    const { deliveries, list, calls } = setUp()
    for (let position = 1; position <= 40; position++) {
      deliveries.push(delivery(position, { state: position % 4 === 0 ? 'exhausted' : 'delivered' }))
    }
    const body = await list(`${WEBHOOKS}/${WEBHOOK_ID}/deliveries?filter_state=exhausted&page_size=3`)
    expect(idsOf([body])).toEqual(['delivery-40', 'delivery-36', 'delivery-32'])
    expect(calls.filter(([method]) => method === 'explain')).toHaveLength(3)
    expect(
      idsOf(
        await fetchPages(list, `${WEBHOOKS}/${WEBHOOK_ID}/deliveries?filter_state=exhausted&page_size=3`),
      ),
    ).toHaveLength(10)
  })
})

describe('paginate', () => {
  const rows = fc.uniqueArray(fc.nat(2000), { maxLength: 60 })

  it('returns every matching row once, newest first, while others are added', async () => {
    await fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (positions, pageSize, isFiltered) => {
          const stored = positions.map((position) => ({ position }))
          const matches = (position: number) => !isFiltered || position % 3 !== 0
          const read = async ({ cursor = Infinity, limit }: { cursor?: number; limit: number }) =>
            stored
              .filter(({ position }) => position < cursor)
              .sort((a, b) => b.position - a.position)
              .slice(0, limit)
          const filter = ({ position }: Readonly<Record<string, unknown>>) => matches(position as number)
          const returned: number[] = []
          let startKey: string | undefined
          let newest = 3000
          do {
            const page = await paginate(
              { pageSize, ...(isFiltered && { filter }), ...(startKey !== undefined && { startKey }) },
              read,
            )
            returned.push(...page.rows.map(({ position }) => position))
            startKey = page.nextStartKey
            stored.push({ position: newest++ })
          } while (startKey !== undefined)
          expect(returned).toEqual(positions.filter(matches).sort((a, b) => b - a))
        },
      ),
    )
  })

  it('reads at most one batch per query', async () => {
    const limits: number[] = []
    const read = async ({ cursor = 1200, limit }: { cursor?: number; limit: number }) => {
      limits.push(limit)
      return Array.from({ length: Math.min(limit, cursor) }, (_, index) => ({ position: cursor - 1 - index }))
    }
    const { rows: found } = await paginate({ pageSize: undefined }, read)
    expect(found).toHaveLength(1200)
    expect(Math.max(...limits)).toBeLessThanOrEqual(501)
  })

  it('stops after 20,000 rows of a filtered list, with a short page that leads on', async () => {
    let read = 0
    const rowsBelow = async ({ cursor = 30_001, limit }: { cursor?: number; limit: number }) => {
      const batch = Array.from({ length: Math.min(limit, cursor - 1) }, (_, index) => ({
        position: cursor - 1 - index,
      }))
      // One more row than wanted says that more follow.
      read += Math.min(batch.length, limit - 1)
      return batch
    }
    const filter = ({ position }: Readonly<Record<string, unknown>>) => position === 25_000 || position === 5
    for (const pageSize of [50, undefined]) {
      read = 0
      const first = await paginate({ pageSize, filter }, rowsBelow)
      expect(first.rows).toEqual([{ position: 25_000 }])
      expect(read).toBe(20_000)
      const startKey = first.nextStartKey!
      const second = await paginate({ pageSize, filter, startKey }, rowsBelow)
      expect(second).toEqual({ rows: [{ position: 5 }], nextStartKey: undefined })
    }
  })

  it('stops after 20,000 rows of a filtered list that is sorted by a key', async () => {
    const name = (index: number) => String(index).padStart(6, '0')
    const list = {
      async read({ after, limit }: { after?: SortKey; limit: number }) {
        const from = after === undefined ? 0 : Number(after[0]) + 1
        const length = Math.max(0, Math.min(limit, 30_000 - from))
        return Array.from({ length }, (_, index) => ({ name: name(from + index) }))
      },
      keyOf: (row: { name: string }): SortKey => [row.name, 'id'],
      createdMs: () => undefined,
      ...asIs,
    }
    const filter = (row: Readonly<Record<string, unknown>>) => row.name === name(25_000)
    const { rows: found, nextStartKey: startKey } = await pageOf(
      { pageSize: 50, filter },
      sortedRows<{ name: string }>({ pageSize: 50, filter }, list),
    )
    expect(found).toEqual([])
    const request = { pageSize: 50, filter, startKey: startKey! }
    const rest = await pageOf(request, sortedRows<{ name: string }>(request, list))
    expect(rest).toEqual({ rows: [{ name: name(25_000) }], nextStartKey: undefined })
  })

  it('limits a response without paging and returns the start of the rest', async () => {
    const read = async ({ cursor = 50_000, limit }: { cursor?: number; limit: number }) =>
      Array.from({ length: limit }, (_, index) => ({ position: cursor - 1 - index }))
    const { rows: found, nextStartKey } = await paginate({ pageSize: undefined }, read)
    expect(found).toHaveLength(10_000)
    expect(nextStartKey).toBeDefined()
  })
})

describe('lists for operators', () => {
  const url =
    '/v1/system/deliveries?account_id=a&hook_id=w&call_id=c%2F1&state=exhausted&created_from=62167219201'

  it('pass what the query selects, and lead to the next page', async () => {
    const { calls, list, deliveries } = setUp()
    deliveries.push(delivery(8))
    const first = await list(`${url}&page_size=2`)
    const search = {
      limit: 2,
      accountId: 'a',
      webhookId: 'w',
      callId: 'c/1',
      states: ['exhausted'],
      fromMs: 1000,
    }
    expect(calls).toContainEqual(['search', search])
    await list(`${url}&page_size=2&start_key=${first.next_start_key}`)
    expect(calls).toContainEqual(['search', { ...search, cursor: 7 }])
    const endpoints = await list('/v1/system/endpoints')
    await list(`/v1/system/endpoints?start_key=${endpoints.next_start_key}`)
    expect(calls).toContainEqual(['unhealthy', { limit: 50, afterId: WEBHOOK_ID }])
  })

  it.each(['/v1/system/deliveries?state=lost', '/v1/system/endpoints?state=ok'])(
    'refuse %s',
    async (invalid) => {
      const { handle } = setUp()
      const response = await handle(request('GET', invalid))
      expect([response.status, Object.keys(jsonOf(response).data as object)]).toEqual([400, ['state']])
    },
  )

  it.each(['deliveries', 'endpoints'])(
    'refuse a foreign start_key of %s, and callers who are none',
    async (name) => {
      const { handle } = setUp()
      expect((await handle(request('GET', `/v1/system/${name}?start_key=x`))).status).toBe(400)
      const { backend } = createFakeBackend({ operator: false })
      const denied = await createHandler(backend, { log: silentLog })(request('GET', `/v1/system/${name}`))
      expect(denied.status).toBe(403)
    },
  )

  /** A backend that searches 3,000 deliveries of three states, four of each position, and 500 webhooks. */
  function filteredLists(maxRead = Number.POSITIVE_INFINITY) {
    const { backend } = createFakeBackend()
    const states = ['delivered', 'waiting', 'exhausted'] as const
    const rows = Array.from({ length: 3_000 }, (_, index) =>
      delivery(Math.floor((3_000 - index) / 4), {
        id: `d${index}`,
        state: states[index % 3]!,
        webhookId: `w${index % 7}`,
      }),
    )
    const endpoints = Array.from({ length: 500 }, (_, index) => ({
      ...endpointOf(webhook({ id: `w${String(index).padStart(3, '0')}`, name: `n${index % 5}` })),
      state: 'paused' as const,
      failuresInRow: index % 10,
    }))
    const reads: number[] = []
    const search: ApiBackend['deliveries']['search'] = async ({
      cursor = Infinity,
      limit,
      states: wanted,
    }) => {
      reads.push(limit)
      const from = rows.findIndex(({ position }) => position < cursor)
      if (from < 0) return { deliveries: [] }
      const last = rows[from + Math.min(limit, maxRead) - 1]
      const page = last
        ? rows.slice(from).filter(({ position }) => position >= last.position)
        : rows.slice(from)
      const found = wanted ? page.filter(({ state }) => wanted.includes(state)) : page
      return last ? { deliveries: found, cursor: last.position } : { deliveries: found }
    }
    const unhealthy: ApiBackend['webhooks']['unhealthy'] = async ({ afterId = '', limit }) => {
      reads.push(limit)
      const page = endpoints.filter(({ id }) => id > afterId).slice(0, limit)
      return page.length < limit ? { endpoints: page } : { endpoints: page, nextId: page.at(-1)!.id }
    }
    const handle = createHandler(
      {
        ...backend,
        deliveries: { ...backend.deliveries, search },
        webhooks: {
          ...backend.webhooks,
          unhealthy,
          endpoints: async (_, { after, limit }) => {
            const { endpoints: page, nextId } = await unhealthy({
              limit,
              ...(after && { afterId: after[1] }),
            })
            return { endpoints: page, ...(nextId !== undefined && { next: ['n', nextId] }) }
          },
        },
      },
      { log: silentLog },
    )
    /** Follows the pages. */
    async function readAll(url: string) {
      const items: Record<string, unknown>[] = []
      const sizes: number[] = []
      let key = ''
      do {
        const page = jsonOf(await handle(request('GET', `${url}&start_key=${key}`)))
        const data = page.data as Record<string, unknown>[]
        items.push(...data)
        sizes.push(data.length)
        key = (page.next_start_key as string | undefined) ?? ''
      } while (key !== '')
      return { items, sizes, reads }
    }
    return { rows, endpoints, readAll }
  }

  it.each([
    ['filter_state=bogus', () => false],
    ['filter_state=waiting', (row: StoredDelivery) => row.state === 'waiting'],
    ['filter_not_state=waiting', (row: StoredDelivery) => row.state !== 'waiting'],
    ['filter_state=["waiting","delivered"]', (row: StoredDelivery) => row.state !== 'exhausted'],
    [
      'filter_hook_id=w3&filter_not_state=waiting',
      (row: StoredDelivery) => row.webhookId === 'w3' && row.state !== 'waiting',
    ],
    ['filter_account_id=other', () => false],
    ['key_missing=call_id', () => false],
    ['has_key=call_id', () => true],
  ])('filter deliveries, and lose and repeat none between pages: %s', async (filter, isWanted) => {
    const { rows, readAll } = filteredLists()
    const { items, sizes } = await readAll(`/v1/system/deliveries?page_size=100&${filter}`)
    expect(items.map(({ id }) => id)).toEqual(rows.filter(isWanted).map(({ id }) => id))
    // Those of one position stay together.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(103)
  })

  it('examine a bounded number of deliveries, also where a read finds few', async () => {
    const { rows, readAll } = filteredLists(4)
    const { items, sizes, reads } = await readAll('/v1/system/deliveries?page_size=100&filter_hook_id=w3')
    expect(items).toHaveLength(rows.filter(({ webhookId }) => webhookId === 'w3').length)
    expect(reads.length / sizes.length).toBeLessThanOrEqual(40)
    expect(sizes.length).toBeGreaterThan(10)
  })

  it.each(['/v1/system/endpoints', `/v1/accounts/${OWN_ACCOUNT}/webhooks/health`])(
    'filter webhooks by their health: %s',
    async (url) => {
      const { endpoints, readAll } = filteredLists()
      const { items, sizes } = await readAll(`${url}?page_size=30&filter_failures_in_row=7`)
      const ids = endpoints.filter(({ failuresInRow }) => failuresInRow === 7).map(({ id }) => id)
      expect(items.map(({ id }) => id)).toEqual(ids)
      expect(sizes[0]).toBe(30)
      expect((await readAll(`${url}?filter_state=bogus`)).items).toEqual([])
    },
  )
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DeliverySearch, StoredDelivery } from '../../src/delivery/delivery-queries.js'
import {
  type BatchQuery,
  positionedRows,
  type RowSource,
  readItems,
  sortedRows,
} from '../../src/http/paginate.js'
import type { SortKey } from '../../src/wire/cursor.js'
import type { ListRequest } from '../../src/wire/list.js'
import { attempt, delivery, jsonOf, NOW, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

const WEBHOOKS = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
const gregorian = (ms: number) => Math.floor(ms / 1000) + 62_167_219_200

interface ListBody {
  data: { id: string }[]
  page_size: number
  start_key?: string
  next_start_key?: string
}

/** A service with these attempts and deliveries, whose account is an operator's. */
async function startWith(rows: Parameters<Awaited<ReturnType<typeof startService>>['serveRows']>[0] = {}) {
  const service = await startService({ operators: [OWN_ACCOUNT] })
  service.serveRows(rows)
  return { ...service, list: (url: string) => service.get(url) as unknown as Promise<ListBody> }
}

/** As many attempts, each with these changes. */
const attemptsOf = (
  count: number,
  changes: (position: number) => Parameters<typeof attempt>[1] = () => ({}),
) => Array.from({ length: count }, (_, index) => attempt(index + 1, changes(index + 1)))

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
    const { list } = await startWith({ attempts: attemptsOf(120) })
    const found = await fetchPages(list, `${WEBHOOKS}/attempts?x=y`)
    expect(found.map(({ page_size }) => page_size)).toEqual([50, 50, 20])
    expect(idsOf(found)).toEqual(Array.from({ length: 120 }, (_, index) => `attempt-${120 - index}`))
  })

  it('have no next_start_key if no items follow', async () => {
    const { list } = await startWith({ attempts: attemptsOf(50) })
    expect(await list(`${WEBHOOKS}/attempts`)).not.toHaveProperty('next_start_key')
    const evens = await list(`${WEBHOOKS}/attempts?filter_result=success&page_size=25`)
    expect(evens.page_size).toBe(25)
    expect(evens).not.toHaveProperty('next_start_key')
  })

  it('apply ranges, order and filters', async () => {
    const attempts = attemptsOf(10, (position) => ({ atMs: NOW + (position - 1) * 1000 }))
    const { list } = await startWith({ attempts })
    const range = `created_from=${gregorian(NOW + 2000)}&created_to=${gregorian(NOW + 5000)}`
    const found = async (query: string) => idsOf([await list(`${WEBHOOKS}/attempts?${query}`)]).join()
    expect(await found(range)).toBe('attempt-6,attempt-5,attempt-4,attempt-3')
    expect(await found(`${range}&ascending=true&filter_not_result=failure`)).toBe('attempt-4,attempt-6')
    expect(await found('filter_id=attempt-3')).toBe('attempt-3')
    expect(await found('has_key=reason')).toBe('')
  })

  it('reject a start_key of another kind of list', async () => {
    const { hs, list, send } = await startWith()
    await hs.webhooks.create(OWN_ACCOUNT, { name: 'Z', uri: 'https://r.example.com/', hook: 'all' })
    const { next_start_key } = await list(`${WEBHOOKS}?page_size=1`)
    const response = await send('GET', `${WEBHOOKS}/attempts?start_key=${next_start_key}`)
    expect(response.status).toBe(400)
    expect(jsonOf(response).data).toHaveProperty(['start_key', 'wrong_format'])
  })
})

describe('lists of webhooks', () => {
  it('are sorted by name, then id, and filtered by any field of the webhook', async () => {
    const { hs, list, webhookId } = await startWith()
    await hs.webhooks.remove(OWN_ACCOUNT, webhookId)
    for (const [name, retries] of [
      ['B', 1],
      ['A', 2],
      ['C', 2],
      ['a', 2],
    ] as const)
      await hs.webhooks.create(OWN_ACCOUNT, { name, retries, uri: 'https://r.example.com/', hook: 'all' })
    const namesOf = (bodies: readonly ListBody[]) =>
      bodies.flatMap(({ data }) => data.map((item) => (item as unknown as { name: string }).name)).join('')
    expect(namesOf(await fetchPages(list, `${WEBHOOKS}?page_size=1`))).toBe('ABCa')
    expect(namesOf(await fetchPages(list, `${WEBHOOKS}?page_size=3&ascending=false`))).toBe('aCBA')
    expect(namesOf([await list(`${WEBHOOKS}?filter_retries=2&filter_not_name=a`)])).toBe('AC')
    expect(namesOf([await list(`${WEBHOOKS}?created_to=${gregorian(NOW - 6000)}`)])).toBe('')
  })
})

describe('lists of deliveries', () => {
  it('have an explanation of every delivery for filters by fields, the value of which is not known yet', async () => {
    const { list, webhook } = await startWith({ deliveries: [delivery(1), delivery(2)] })
    for (const field of ['explain', 'explanation']) {
      expect(idsOf([await list(`${webhook}/deliveries?has_key=${field}`)])).toHaveLength(2)
      expect(idsOf([await list(`${webhook}/deliveries?key_missing=${field}`)])).toEqual([])
    }
    expect(idsOf([await list(`${webhook}/deliveries?filter_explanation.code=in_flight`)])).toEqual([])
  })

  it('explain only the deliveries that they return', async () => {
    const deliveries = Array.from({ length: 40 }, (_, index) =>
      delivery(index + 1, { state: index % 4 === 3 ? 'exhausted' : 'delivered' }),
    )
    const { list, store, webhook } = await startWith({ deliveries })
    const { webhookOf } = store.deliveries
    let explained = 0
    store.deliveries.webhookOf = (id) => {
      explained += 1
      return webhookOf(id)
    }
    const url = `${webhook}/deliveries?filter_state=exhausted&page_size=3`
    expect(idsOf([await list(url)])).toEqual(['delivery-40', 'delivery-36', 'delivery-32'])
    expect(explained).toBe(3)
    expect(idsOf(await fetchPages(list, url))).toHaveLength(10)
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

  it.each([
    [20_000, false],
    [2_000, true],
  ])(
    'stops after %i rows of a filtered list (with bodies: %s), with a short page that leads on',
    async (most, hasBodies) => {
      let read = 0
      const rowsBelow = async ({ cursor = 30_001, limit }: { cursor?: number; limit: number }) => {
        const batch = Array.from({ length: Math.min(limit, cursor - 1) }, (_, index) => ({
          position: cursor - 1 - index,
        }))
        // One more row than wanted says that more follow.
        read += Math.min(batch.length, limit - 1)
        return batch
      }
      const filter = ({ position }: Readonly<Record<string, unknown>>) =>
        position === 30_000 - most + 1 || position === 5
      const pageFrom = (request: ListRequest) =>
        pageOf(request, positionedRows(request, { read: rowsBelow, hasBodies, ...asIs }))
      for (const pageSize of [50, undefined]) {
        read = 0
        const first = await pageFrom({ pageSize, filter })
        expect(first.rows).toEqual([{ position: 30_000 - most + 1 }])
        expect(read).toBe(most)
        let last = first
        const found: unknown[] = []
        while (last.nextStartKey !== undefined) {
          last = await pageFrom({ pageSize, filter, startKey: last.nextStartKey })
          found.push(...last.rows)
        }
        expect(found).toEqual([{ position: 5 }])
      }
    },
  )

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
  it('pass what the query selects, and lead to the next page', async () => {
    const { list, store } = await startWith()
    const searches: DeliverySearch[] = []
    store.deliveries.search = async (search) => {
      searches.push(search)
      return { deliveries: [delivery(8), delivery(7)], cursor: 7 }
    }
    const url =
      '/v1/system/deliveries?account_id=a&hook_id=w&call_id=c%2F1&state=exhausted&created_from=62167219201&page_size=2'
    const { next_start_key } = await list(url)
    await list(`${url}&start_key=${next_start_key}`)
    const selection = { accountId: 'a', webhookId: 'w', callId: 'c/1', states: ['exhausted'], fromMs: 1000 }
    expect(searches).toEqual([
      { limit: 2, ...selection },
      { limit: 2, ...selection, cursor: 7 },
    ])
  })

  it.each([
    ['deliveries?state=lost', 'state'],
    ['endpoints?state=ok', 'state'],
    ['endpoints?sort=waiting', 'sort'],
    ['endpoints?cause=refusd', 'cause'],
    ['endpoints?host=https://a.example/', 'host'],
    ['endpoints?since=yesterday', 'since'],
    ['endpoints?since=2030-01-02&until=2030-01-01', 'since'],
    ['endpoints?account_id=', 'account_id'],
  ])('refuse %s', async (invalid, field) => {
    const response = await (await startWith()).send('GET', `/v1/system/${invalid}`)
    expect([response.status, Object.keys(jsonOf(response).data as object)]).toEqual([400, [field]])
  })

  it('are those of one account, which must exist', async () => {
    const { send } = await startWith()
    const unknown = await send('GET', '/v1/system/endpoints?account_id=nope')
    expect([unknown.status, jsonOf(unknown).message]).toEqual([404, expect.any(String)])
    expect((await send('GET', `/v1/system/endpoints?account_id=${OWN_ACCOUNT}`)).status).toBe(200)
  })

  it('begin with those that hurt most, page by page', async () => {
    const { readAll } = await filteredLists()
    const { items, sizes } = await readAll('/v1/system/endpoints?sort=impact&page_size=150')
    expect(sizes.slice(0, 3)).toEqual([150, 150, 150])
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
    const impacts = items.map(({ impact }) => impact as number)
    expect(impacts).toEqual([...impacts].sort((a, b) => b - a))
  })

  it.each(['deliveries', 'endpoints'])('refuse a foreign start_key of %s', async (name) => {
    expect((await (await startWith()).send('GET', `/v1/system/${name}?start_key=x`)).status).toBe(400)
  })

  /** A service that finds 3,000 deliveries of three states, four of each position, and 500 webhooks. */
  async function filteredLists() {
    const { store, get, webhookId } = await startWith()
    const states = ['delivered', 'waiting', 'exhausted'] as const
    const rows = Array.from({ length: 3_000 }, (_, index) =>
      delivery(Math.floor((3_000 - index) / 4), {
        id: `d${index}`,
        state: states[index % 3]!,
        webhookId: `w${index % 7}`,
      }),
    )
    const stored = (await store.webhooks.read(OWN_ACCOUNT, webhookId))!
    const endpoints = Array.from({ length: 500 }, (_, index) => ({
      ...stored,
      id: `w${String(index).padStart(3, '0')}`,
      health: { ...stored.health, failuresInRow: index % 10 },
    }))
    store.deliveries.search = async ({ cursor = Infinity, limit, states: wanted }) => {
      const from = rows.findIndex(({ position }) => position < cursor)
      if (from < 0) return { deliveries: [] }
      const last = rows[from + limit - 1]
      const page = rows.slice(from).filter(({ position }) => !last || position >= last.position)
      const found = wanted ? page.filter(({ state }) => wanted.includes(state)) : page
      return last ? { deliveries: found, cursor: last.position } : { deliveries: found }
    }
    store.webhooks.unhealthy = async (limit, afterId = '') =>
      endpoints.filter(({ id }) => id > afterId).slice(0, limit)
    store.webhooks.page = async (_, { after, limit }) => store.webhooks.unhealthy(limit, after?.[1])
    /** Follows the pages. */
    async function readAll(url: string) {
      const items: Record<string, unknown>[] = []
      const sizes: number[] = []
      let key = ''
      do {
        const page = await get(`${url}&start_key=${key}`)
        const data = page.data as Record<string, unknown>[]
        items.push(...data)
        sizes.push(data.length)
        key = (page.next_start_key as string | undefined) ?? ''
      } while (key !== '')
      return { items, sizes }
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
    const { rows, readAll } = await filteredLists()
    const { items, sizes } = await readAll(`/v1/system/deliveries?page_size=100&${filter}`)
    expect(items.map(({ id }) => id)).toEqual(rows.filter(isWanted).map(({ id }) => id))
    // Those of one position stay together.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(103)
  })

  it.each(['/v1/system/endpoints', `${WEBHOOKS}/health`])(
    'filter webhooks by their health: %s',
    async (url) => {
      const { endpoints, readAll } = await filteredLists()
      const { items, sizes } = await readAll(`${url}?page_size=30&filter_failures_in_row=7`)
      const wanted = endpoints.filter(({ health }) => health.failuresInRow === 7)
      expect(items.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
      expect(sizes[0]).toBe(30)
      expect((await readAll(`${url}?filter_state=bogus`)).items).toEqual([])
    },
  )
})

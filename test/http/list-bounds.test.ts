/** Lists are bounded in rows and bytes, and a list that is not paged is read as it is written. */
import { describe, expect, it } from 'vitest'
import type { CallHistory } from '../../src/delivery/call-history.js'
import type { ResponseRecord } from '../../src/http/message.js'
import { createReadGate } from '../../src/http/read-gate.js'
import { listedAttemptJson, MAX_LISTED_BODY_BYTES } from '../../src/wire/attempt-json.js'
import { callJson } from '../../src/wire/call-json.js'
import { MAX_PAGE_BYTES, MAX_UNPAGED } from '../../src/wire/list.js'
import { attempt, delivery, jsonOf, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

const ACCOUNT = `/v1/accounts/${OWN_ACCOUNT}`
const ATTEMPTS = `${ACCOUNT}/webhooks/attempts`

interface Listed {
  data: Record<string, unknown>[]
  page_size: number
  next_start_key?: string
}

/** Reads a response to its end. */
async function textOf({ body, stream }: ResponseRecord): Promise<string> {
  if (!stream) return body
  let text = ''
  for (let part = await stream.next(); part !== undefined; part = await stream.next()) text += part
  return text
}

/** A service with as many attempts, each with these changes. */
async function startWith(count: number, changes: Parameters<typeof attempt>[1] = {}, options: object = {}) {
  const service = await startService(options)
  service.serveRows({
    attempts: Array.from({ length: count }, (_, index) => attempt(index + 1, changes)),
    deliveries: [delivery(1)],
  })
  service.store.deliveries.legs = async (_, callId) => [callId]
  const list = async (url: string) => JSON.parse(await textOf(await service.send('GET', url))) as Listed
  return { ...service, list }
}

describe('recorded bodies in lists of attempts', () => {
  const cut = (text: string) =>
    listedAttemptJson(attempt(1, { requestBody: text, responseBody: text })) as Record<string, string>

  it.each([
    ['of 1 KiB is whole', 'x'.repeat(1_024), 'x'.repeat(1_024), undefined],
    ['of one byte more is cut', 'x'.repeat(1_025), 'x'.repeat(1_024), true],
    ['of ten times as much is cut', 'x'.repeat(10_240), 'x'.repeat(1_024), true],
    ['of fewer characters than bytes is cut', 'é'.repeat(600), 'é'.repeat(512), true],
    ['ends with a whole character', `x${'é'.repeat(600)}`, `x${'é'.repeat(511)}`, true],
    ['ends with a whole character of four bytes', `x${'😀'.repeat(300)}`, `x${'😀'.repeat(255)}`, true],
    ['is never cut within a surrogate pair', `${'x'.repeat(1_023)}😀`, 'x'.repeat(1_023), true],
  ])('one %s', (_, body, shown, isCut) => {
    expect(cut(body)).toMatchObject({ req_body: shown, resp_body: shown })
    expect([cut(body).req_body_cut, cut(body).resp_body_cut]).toEqual([isCut, isCut])
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(MAX_LISTED_BODY_BYTES)
  })

  it('are cut in every list of attempts, whole with include=bodies, and left out with slim', async () => {
    const body = 'b'.repeat(8_192)
    const { list, webhookId } = await startWith(1, { requestBody: body, responseBody: 'small' })
    for (const path of [
      'webhooks/attempts',
      `webhooks/${webhookId}/attempts`,
      'deliveries/delivery-1/attempts',
      'calls/call-1/attempts',
    ]) {
      const [shown] = (await list(`${ACCOUNT}/${path}`)).data
      expect(shown).toMatchObject({ req_body: 'b'.repeat(1_024), req_body_cut: true, resp_body: 'small' })
      expect(shown).not.toHaveProperty('resp_body_cut')
      const [whole] = (await list(`${ACCOUNT}/${path}?include=bodies`)).data
      expect(whole).toMatchObject({ req_body: body, resp_body: 'small' })
      expect(whole).not.toHaveProperty('req_body_cut')
      const [slim] = (await list(`${ACCOUNT}/${path}?slim=true`)).data
      for (const name of ['req_body', 'req_body_cut', 'resp_body']) expect(slim).not.toHaveProperty(name)
    }
  })

  it('are whole for filters', async () => {
    const body = 'b'.repeat(2_000)
    const { list, store } = await startWith(1, { responseBody: body })
    const { attempts } = store.deliveries
    const slims: unknown[] = []
    store.deliveries.attempts = async (query) => {
      slims.push(query.slim)
      const rows = await attempts(query)
      return query.slim ? rows.map(({ responseBody: _, ...rest }) => rest) : rows
    }
    expect((await list(`${ATTEMPTS}?slim=true&filter_hook_event=channel_create`)).page_size).toBe(1)
    for (const filter of [`filter_resp_body=${body}`, 'has_key=resp_body'])
      expect((await list(`${ATTEMPTS}?slim=true&${filter}`)).page_size).toBe(1)
    expect(slims).toEqual([true, undefined, undefined])
    expect((await list(`${ATTEMPTS}?filter_resp_body=${body}`)).page_size).toBe(1)
    expect((await list(`${ATTEMPTS}?filter_resp_body=${body.slice(0, 1_024)}`)).page_size).toBe(0)
  })

  it('include nothing but bodies', async () => {
    const response = await (await startWith(0)).send('GET', `${ATTEMPTS}?include=secrets`)
    expect([response.status, Object.keys(jsonOf(response).data as object)]).toEqual([400, ['include']])
  })
})

describe('a page', () => {
  /** Follows the pages of a list, each of which must be within its bounds. */
  async function pagesOf(list: (url: string) => Promise<Listed>, url: string) {
    const pages: Listed[] = []
    let key: string | undefined
    do {
      const page = await list(key === undefined ? url : `${url}&start_key=${key}`)
      expect(page.page_size).toBe(page.data.length)
      expect(Buffer.byteLength(JSON.stringify(page.data))).toBeLessThanOrEqual(MAX_PAGE_BYTES + 2)
      pages.push(page)
      key = page.next_start_key
    } while (key !== undefined)
    return pages
  }

  it.each([
    ['attempts with whole bodies', 'webhooks/attempts?page_size=1000&include=bodies'],
    ['attempts with a filter', 'webhooks/attempts?page_size=1000&include=bodies&has_key=id'],
    ['attempts, oldest first', 'webhooks/attempts?page_size=1000&include=bodies&ascending=true'],
  ])('of %s has at most 1 MiB of JSON, and the next one begins where it ends', async (_, path) => {
    const count = 400
    const bodies = { requestBody: 'é'.repeat(4_096), responseBody: 'r'.repeat(8_192) }
    const { list } = await startWith(count, bodies)
    const pages = await pagesOf(list, `${ACCOUNT}/${path}`)
    expect(pages.length).toBeGreaterThan(5)
    const ids = pages.flatMap(({ data }) => data.map(({ id }) => id))
    const expected = Array.from({ length: count }, (_, index) => `attempt-${index + 1}`)
    expect(ids).toEqual(path.includes('ascending') ? expected : expected.reverse())
    // One more item would not have fitted.
    for (const { data } of pages.slice(0, -1))
      expect(Buffer.byteLength(JSON.stringify([...data, data[0]]))).toBeGreaterThan(MAX_PAGE_BYTES)
  })

  it('of webhooks and deliveries has at most 1 MiB of JSON', async () => {
    const { list, store, serveRows, webhookId } = await startWith(0)
    const stored = (await store.webhooks.read(OWN_ACCOUNT, webhookId))!
    const uri = `https://receiver.example.com/${'u'.repeat(2_000)}`
    for (let index = 0; index < 700; index++)
      await store.webhooks.insert({ ...stored, id: `w${index}`, settings: { ...stored.settings, uri } })
    const callId = 'c'.repeat(1_500)
    serveRows({ deliveries: Array.from({ length: 900 }, (_, index) => delivery(index + 1, { callId })) })
    for (const [path, count] of [
      ['webhooks', 701],
      [`webhooks/${webhookId}/deliveries`, 900],
    ] as const) {
      const pages = await pagesOf(list, `${ACCOUNT}/${path}?page_size=1000`)
      expect(pages.length, path).toBeGreaterThan(1)
      expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(count)
    }
  })

  it('has one item although that is larger', async () => {
    const { list } = await startWith(3, { uri: 'u'.repeat(MAX_PAGE_BYTES) })
    let key = ''
    for (const left of [2, 1, 0]) {
      const page = await list(`${ATTEMPTS}?start_key=${key}`)
      expect(page.page_size).toBe(1)
      expect(page.next_start_key !== undefined).toBe(left > 0)
      key = page.next_start_key ?? ''
    }
  })

  it.each([1_000, 1_001, 10_000])('of at most 1,000 rows, of %i', async (count) => {
    const { list, send } = await startWith(count)
    const page = await list(`${ATTEMPTS}?page_size=1000`)
    expect(page.page_size).toBe(1_000)
    expect(page.next_start_key !== undefined).toBe(count > 1_000)
    expect((await send('GET', `${ATTEMPTS}?page_size=${count}`)).status).toBe(count > 1_000 ? 400 : 200)
  })
})

describe('a list that is not paged', () => {
  const UNPAGED = `${ATTEMPTS}?paginate=false`
  const SAME = { headers: { 'x-request-id': 'same' } }

  it('is the same JSON as in pages, also indented, whatever its size', async () => {
    for (const count of [0, 1, 50, 3_000]) {
      const { send } = await startWith(count, { responseBody: 'r'.repeat(1_024) })
      const response = await send('GET', UNPAGED, SAME)
      expect(response.stream !== undefined).toBe(count === 3_000)
      const text = await textOf(response)
      const body = JSON.parse(text) as Listed
      expect(body).toEqual({ ...body, page_size: count })
      expect(body.data.map(({ id }) => id)).toEqual(
        Array.from({ length: count }, (_, index) => `attempt-${count - index}`),
      )
      expect(body).not.toHaveProperty('next_start_key')
      const indented = await textOf(await send('GET', `${UNPAGED}&pretty_print=true`, SAME))
      expect(indented).toBe(JSON.stringify(JSON.parse(text), null, 2))
    }
  })

  it.each([MAX_UNPAGED, MAX_UNPAGED + 1])('has at most 10,000 rows, of %i', async (count) => {
    const body = await (await startWith(count)).list(UNPAGED)
    expect(body.page_size).toBe(MAX_UNPAGED)
    expect(body.data).toHaveLength(MAX_UNPAGED)
    expect(body.next_start_key !== undefined).toBe(count > MAX_UNPAGED)
  })

  /** An account with more attempts than a response of one piece has, whose reads are counted and may fail. */
  async function longList(options: object = {}) {
    const { send, store } = await startWith(10_000, { responseBody: 'r'.repeat(1_024) }, options)
    const { attempts } = store.deliveries
    const state = { reads: 0, rows: 0, fault: undefined as Error | undefined }
    store.deliveries.attempts = async (query) => {
      state.reads += 1
      if (state.fault) throw state.fault
      state.rows = Math.max(state.rows, query.limit)
      return attempts(query)
    }
    return { state, send }
  }

  it('reads the store no further than it is taken', async () => {
    const { state, send } = await longList()
    const { stream, body, headers } = await send('GET', UNPAGED)
    expect(body).toBe('')
    expect(headers).not.toHaveProperty('content-length')
    expect(headers['content-type']).toBe('application/json')
    const first = state.reads
    expect(first).toBeLessThan(40)
    const start = await stream!.next()
    expect(start!.length).toBeLessThan(1.2 * MAX_PAGE_BYTES)
    expect(state.reads).toBe(first)
    const second = await stream!.next()
    expect(second!.length).toBeLessThan(200_000)
    expect(state.reads).toBeLessThanOrEqual(first + 3)
    stream!.close()
    expect(await stream!.next()).toBeUndefined()
    expect(state.reads).toBeLessThanOrEqual(first + 3)
    expect(state.rows).toBeLessThanOrEqual(26)
  })

  it('is cut, and logged, if the store fails in the middle; never ended as if it were complete', async () => {
    const warnings: unknown[] = []
    const warn = (fields: object) => void warnings.push(fields)
    const { state, send } = await longList({ log: { debug() {}, info() {}, warn, error: warn } })
    const { status, stream } = await send('GET', UNPAGED)
    expect(status).toBe(200)
    let aborts = 0
    stream!.onAbort(() => {
      aborts += 1
    })
    let text = (await stream!.next())!
    state.fault = new Error('disk on fire')
    for (let part = await stream!.next(); part !== undefined; part = await stream!.next()) text += part
    expect(aborts).toBe(1)
    expect(() => JSON.parse(text)).toThrow()
    expect(warnings).toHaveLength(1)
    expect(await stream!.next()).toBeUndefined()
  })

  it('is an ordinary error if the store fails at its start', async () => {
    const { state, send } = await longList()
    state.fault = new Error('disk on fire')
    const response = await send('GET', UNPAGED)
    expect([response.status, response.stream]).toEqual([500, undefined])
  })

  it('has the headers of the GET for HEAD, no body, and leaves nothing open', async () => {
    const { state, send } = await longList()
    const response = await send('HEAD', UNPAGED)
    expect(response).toMatchObject({ status: 200, body: '', headers: { 'content-type': 'application/json' } })
    expect(response.stream).toBeUndefined()
    const { reads } = state
    await new Promise((resolve) => setImmediate(resolve))
    expect(state.reads).toBe(reads)
  })

  it('is logged when it ends', async () => {
    const lines: string[] = []
    const info = (_: object, text: string) => void lines.push(text)
    const log = { debug() {}, info, warn() {}, error() {} }
    const { send } = await longList({ accessLog: true, log })
    lines.length = 0
    const { stream } = await send('GET', UNPAGED)
    expect(lines).toEqual(['request'])
    stream!.close()
    stream!.close()
    expect(lines).toEqual(['request', 'stream ended'])
  })
})

describe('the history of a call', () => {
  const event = (index: number, deliveries: number) => ({
    id: `event-${index}`,
    accountId: OWN_ACCOUNT,
    callId: 'call-1',
    hook: 'channel_create',
    sequence: index,
    timestampMs: 0,
    deliveries: Array.from({ length: deliveries }, (_, position) => delivery(position)),
  })
  const history = (count: number, deliveries: number): CallHistory => ({
    callId: 'call-1',
    legs: [],
    events: Array.from({ length: count }, (_, index) => event(index, deliveries)),
    unwanted: [],
    isTruncated: false,
    records: 'all',
  })

  it.each([1, 2, 10])('has at most 1 MiB of JSON: of %i MiB the newest events', (mib) => {
    const size = Buffer.byteLength(JSON.stringify(callJson(history(1, 50)).events)) - 1
    const fitting = Math.floor(MAX_PAGE_BYTES / size)
    const { events, truncated } = callJson(history(mib * fitting, 50)) as {
      events: { id: string }[]
      truncated: boolean
    }
    expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThanOrEqual(MAX_PAGE_BYTES + 1)
    expect(truncated).toBe(mib > 1)
    expect(events.length).toBeGreaterThan(fitting * 0.95)
    expect(events.at(-1)!.id).toBe(`event-${mib * fitting - 1}`)
  })
})

describe('reading lists', () => {
  /** Work that ends when the test says so. */
  function manual() {
    const running: { readonly name: string; readonly finish: () => void }[] = []
    const work = (name: string) => () =>
      new Promise<void>((resolve) => {
        running.push({ name, finish: resolve })
      })
    const settle = () => new Promise((resolve) => setImmediate(resolve))
    return { running, work, settle, names: () => running.map(({ name }) => name) }
  }

  it('happens for at most 4 requests at once, one of each account, and accounts take turns', async () => {
    const { running, work, settle, names } = manual()
    const gate = createReadGate()
    for (let index = 0; index < 100; index++) void gate('greedy', work('greedy'))
    await settle()
    expect(names()).toEqual(['greedy'])
    for (const name of ['a', 'a', 'b', 'c', 'd']) void gate(name, work(name))
    await settle()
    expect(names()).toEqual(['greedy', 'a', 'b', 'c'])
    for (const index of [0, 1, 2]) {
      running[index]!.finish()
      await settle()
    }
    expect(names().slice(4)).toEqual(['greedy', 'a', 'd'])
  })

  it('goes on after work that failed', async () => {
    const gate = createReadGate(1, 1)
    const failing = gate('a', async () => {
      throw new Error('store')
    })
    const next = gate('a', async () => 'read')
    await expect(failing).rejects.toThrow('store')
    expect(await next).toBe('read')
    expect(await gate('b', async () => 'read')).toBe('read')
  })
})

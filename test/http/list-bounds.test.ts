/** Lists are bounded in rows and bytes, and a list that is not paged is read as it is written. */
import { describe, expect, it } from 'vitest'
import type { CallHistory } from '../../src/delivery/call-history.js'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import type { ResponseRecord } from '../../src/http/message.js'
import { createReadGate } from '../../src/http/read-gate.js'
import { listedAttemptJson, MAX_LISTED_BODY_BYTES } from '../../src/wire/attempt-json.js'
import { callJson } from '../../src/wire/call-json.js'
import { MAX_PAGE_BYTES, MAX_UNPAGED } from '../../src/wire/list.js'
import { createFakeBackend } from './fake-backend.js'
import {
  attempt,
  delivery,
  jsonOf,
  OWN_ACCOUNT,
  request,
  silentLog,
  user,
  WEBHOOK_ID,
  webhook,
} from './records.js'

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

function setUp(options: Partial<HandlerOptions> = {}) {
  const fake = createFakeBackend()
  const handle = createHandler(fake.backend, { log: silentLog, ...options })
  const send = (url: string, method = 'GET') => handle(request(method, url))
  const list = async (url: string) => JSON.parse(await textOf(await send(url))) as Listed
  const addAttempts = (count: number, changes: Parameters<typeof attempt>[1] = {}) => {
    for (let position = 1; position <= count; position++) fake.attempts.push(attempt(position, changes))
  }
  return { ...fake, handle, send, list, addAttempts }
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
    const { addAttempts, list, deliveries } = setUp()
    const body = 'b'.repeat(8_192)
    addAttempts(1, { requestBody: body, responseBody: 'small' })
    deliveries.push(delivery(1))
    for (const path of [
      'webhooks/attempts',
      `webhooks/${WEBHOOK_ID}/attempts`,
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
    const { addAttempts, list } = setUp()
    const body = 'b'.repeat(2_000)
    addAttempts(1, { responseBody: body })
    expect((await list(`${ATTEMPTS}?filter_resp_body=${body}`)).page_size).toBe(1)
    expect((await list(`${ATTEMPTS}?filter_resp_body=${body.slice(0, 1_024)}`)).page_size).toBe(0)
  })

  it('include nothing but bodies', async () => {
    const response = await setUp().send(`${ATTEMPTS}?include=secrets`)
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
    const { addAttempts, list } = setUp()
    const count = 400
    addAttempts(count, { requestBody: 'é'.repeat(4_096), responseBody: 'r'.repeat(8_192) })
    const pages = await pagesOf(list, `${ACCOUNT}/${path}`)
    expect(pages.length).toBeGreaterThan(5)
    const ids = pages.flatMap(({ data }) => data.map(({ id }) => id))
    const expected = Array.from({ length: count }, (_, index) => `attempt-${index + 1}`)
    expect(ids).toEqual(path.includes('ascending') ? expected : expected.reverse())
    // One more item would not have fitted.
    for (const { data } of pages.slice(0, -1))
      expect(Buffer.byteLength(JSON.stringify([...data, data[0]]))).toBeGreaterThan(MAX_PAGE_BYTES)
  })

  it('of webhooks, users and deliveries has at most 1 MiB of JSON', async () => {
    const { backend, webhooks, deliveries } = createFakeBackend()
    webhooks.clear()
    for (let index = 0; index < 700; index++) {
      const id = `w${String(index).padStart(3, '0')}`
      webhooks.set(id, webhook({ id, name: id, uri: `https://receiver.example.com/${'u'.repeat(2_000)}` }))
    }
    const users = Array.from({ length: 700 }, (_, index) => ({
      ...user,
      id: `u${String(index).padStart(3, '0')}`,
      username: `u${String(index).padStart(3, '0')}`,
      firstName: 'f'.repeat(2_000),
    }))
    for (let position = 1; position <= 900; position++) {
      deliveries.push(delivery(position, { callId: 'c'.repeat(1_500) }))
    }
    const handle = createHandler(
      {
        ...backend,
        admin: {
          ...backend.admin,
          users: async (_, { after, limit }) => {
            const from = after ? users.findIndex(({ id }) => id > after[1]) : 0
            return from < 0 ? [] : users.slice(from, from + limit)
          },
        },
      },
      { log: silentLog },
    )
    const list = async (url: string) => JSON.parse(await textOf(await handle(request('GET', url)))) as Listed
    webhooks.set(WEBHOOK_ID, webhook({ name: 'zz' }))
    for (const [path, count] of [
      ['webhooks', 701],
      ['users', 700],
      [`webhooks/${WEBHOOK_ID}/deliveries`, 900],
    ] as const) {
      const pages = await pagesOf(list, `${ACCOUNT}/${path}?page_size=1000`)
      expect(pages.length).toBeGreaterThan(1)
      expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(count)
    }
  })

  it('has one item although that is larger', async () => {
    const { addAttempts, list } = setUp()
    addAttempts(3, { uri: 'u'.repeat(MAX_PAGE_BYTES) })
    let key = ''
    for (const left of [2, 1, 0]) {
      const page = await list(`${ATTEMPTS}?start_key=${key}`)
      expect(page.page_size).toBe(1)
      expect(page.next_start_key !== undefined).toBe(left > 0)
      key = page.next_start_key ?? ''
    }
  })

  it.each([1_000, 1_001, 10_000])('of at most 1,000 rows, of %i', async (count) => {
    const { addAttempts, list, send } = setUp()
    addAttempts(count)
    const page = await list(`${ATTEMPTS}?page_size=1000`)
    expect(page.page_size).toBe(1_000)
    expect(page.next_start_key !== undefined).toBe(count > 1_000)
    expect((await send(`${ATTEMPTS}?page_size=${count}`)).status).toBe(count > 1_000 ? 400 : 200)
  })
})

describe('a list that is not paged', () => {
  const UNPAGED = `${ATTEMPTS}?paginate=false`

  it('is the same JSON as in pages, also indented, whatever its size', async () => {
    for (const count of [0, 1, 50, 3_000]) {
      const { addAttempts, send, list } = setUp()
      addAttempts(count, { responseBody: 'r'.repeat(1_024) })
      const response = await send(UNPAGED)
      expect(response.stream !== undefined).toBe(count === 3_000)
      const text = await textOf(response)
      const body = JSON.parse(text) as Listed
      expect(body).toEqual({ ...body, page_size: count })
      expect(body.data.map(({ id }) => id)).toEqual(
        Array.from({ length: count }, (_, index) => `attempt-${count - index}`),
      )
      expect(body).not.toHaveProperty('next_start_key')
      const indented = await textOf(await send(`${UNPAGED}&pretty_print=true`))
      expect(indented).toBe(JSON.stringify(JSON.parse(text), null, 2))
      expect(await list(UNPAGED)).toEqual(body)
    }
  })

  it.each([MAX_UNPAGED, MAX_UNPAGED + 1, 10 * MAX_UNPAGED])(
    'has at most 10,000 rows, of %i',
    async (count) => {
      const { backend } = createFakeBackend()
      const attempts = async ({ cursor = count + 1, limit }: { cursor?: number; limit: number }) =>
        Array.from({ length: Math.min(limit, cursor - 1) }, (_, index) => attempt(cursor - 1 - index))
      const handle = createHandler(
        { ...backend, deliveries: { ...backend.deliveries, attempts } },
        { log: silentLog },
      )
      const body = JSON.parse(await textOf(await handle(request('GET', UNPAGED)))) as Listed
      expect(body.page_size).toBe(MAX_UNPAGED)
      expect(body.data).toHaveLength(MAX_UNPAGED)
      expect(body.next_start_key !== undefined).toBe(count > MAX_UNPAGED)
    },
  )

  /** An account with more attempts than a response of one piece has, whose reads are counted and may fail. */
  function longList(options: Partial<HandlerOptions> = {}) {
    const { backend } = createFakeBackend()
    const state = { reads: 0, rows: 0, fault: undefined as Error | undefined }
    const attempts = async ({ cursor = 10_001, limit }: { cursor?: number; limit: number }) => {
      state.reads += 1
      if (state.fault) throw state.fault
      state.rows = Math.max(state.rows, limit)
      return Array.from({ length: Math.min(limit, cursor - 1) }, (_, index) =>
        attempt(cursor - 1 - index, { responseBody: 'r'.repeat(1_024) }),
      )
    }
    const handle = createHandler(
      { ...backend, deliveries: { ...backend.deliveries, attempts } },
      { log: silentLog, ...options },
    )
    return { state, handle }
  }

  it('reads the store no further than it is taken', async () => {
    const { state, handle } = longList()
    const { stream, body, headers } = await handle(request('GET', UNPAGED))
    expect(body).toBe('')
    expect(headers).not.toHaveProperty('content-length')
    expect(headers['content-type']).toBe('application/json')
    const first = state.reads
    expect(first).toBeLessThan(12)
    const start = await stream!.next()
    expect(start!.length).toBeLessThan(1.2 * MAX_PAGE_BYTES)
    expect(state.reads).toBe(first)
    const second = await stream!.next()
    expect(second!.length).toBeLessThan(200_000)
    expect(state.reads).toBeLessThanOrEqual(first + 1)
    stream!.close()
    expect(await stream!.next()).toBeUndefined()
    expect(state.reads).toBeLessThanOrEqual(first + 1)
    expect(state.rows).toBeLessThanOrEqual(101)
  })

  it('is cut, and logged, if the store fails in the middle; never ended as if it were complete', async () => {
    const warnings: unknown[] = []
    const { state, handle } = longList({
      log: { error: (fields) => warnings.push(fields), warn: (fields) => warnings.push(fields) },
    })
    const { status, stream } = await handle(request('GET', UNPAGED))
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
    const { state, handle } = longList()
    state.fault = new Error('disk on fire')
    const response = await handle(request('GET', UNPAGED))
    expect([response.status, response.stream]).toEqual([500, undefined])
  })

  it('has the headers of the GET for HEAD, no body, and leaves nothing open', async () => {
    const { state, handle } = longList()
    const response = await handle(request('HEAD', UNPAGED))
    expect(response).toMatchObject({ status: 200, body: '', headers: { 'content-type': 'application/json' } })
    expect(response.stream).toBeUndefined()
    const { reads } = state
    await new Promise((resolve) => setImmediate(resolve))
    expect(state.reads).toBe(reads)
  })

  it('is logged when it ends', async () => {
    const lines: string[] = []
    const accessLog = {
      log: { info: (_: object, text?: string) => void lines.push(text!) },
      monotonic: () => 0,
    }
    const { handle } = longList({ accessLog })
    const { stream } = await handle(request('GET', UNPAGED))
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

describe('the OpenAPI document', () => {
  it('is one buffer for all responses, also for requests that come at once', async () => {
    const { send } = setUp()
    const responses = await Promise.all(Array.from({ length: 10 }, () => send('/v1/openapi.json')))
    expect(responses[0]!.bytes!.length).toBeGreaterThan(50_000)
    expect(responses[0]!.headers['content-length']).toBe(String(responses[0]!.bytes!.length))
    for (const { bytes, body } of responses) expect([bytes === responses[0]!.bytes, body]).toEqual([true, ''])
    const head = await send('/v1/openapi.json', 'HEAD')
    expect(head.headers).toEqual(responses[0]!.headers)
    expect(head).not.toHaveProperty('bytes')
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

  it('happens for at most 8 requests at once, 4 of one account, and accounts take turns', async () => {
    const { running, work, settle, names } = manual()
    const gate = createReadGate()
    for (let index = 0; index < 100; index++) void gate('greedy', work('greedy'))
    await settle()
    expect(names()).toEqual(Array(4).fill('greedy'))
    void gate('a', work('a'))
    for (let index = 0; index < 4; index++) void gate('b', work('b'))
    void gate('c', work('c'))
    await settle()
    expect(names()).toEqual([...Array(4).fill('greedy'), 'a', 'b', 'b', 'b'])
    running[0]!.finish()
    await settle()
    running[1]!.finish()
    await settle()
    running[2]!.finish()
    await settle()
    expect(names().slice(8).sort()).toEqual(['b', 'c', 'greedy'])
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

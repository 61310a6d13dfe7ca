import { describe, expect, it } from 'vitest'
import { createHandler } from '../../src/http/handle.js'
import type { ResponseRecord } from '../../src/http/message.js'
import { createFakeBackend } from './fake-backend.js'
import {
  errorWithCode,
  FOREIGN_ACCOUNT,
  jsonOf,
  OWN_ACCOUNT,
  REQUEST_ID,
  request,
  silentLog,
  TOKEN,
} from './records.js'

const PATH = `/v2/accounts/${OWN_ACCOUNT}/stream`

function setUp(options: Parameters<typeof createFakeBackend>[0] = {}, handlerOptions: object = {}) {
  const fake = createFakeBackend(options)
  return { ...fake, handle: createHandler(fake.backend, { log: silentLog, ...handlerOptions }) }
}

async function textOf({ stream }: ResponseRecord): Promise<string> {
  let text = ''
  for (let part = await stream!.next(); part !== undefined; part = await stream!.next()) text += part
  return text
}

describe('GET stream', () => {
  it('is a stream of events with ids, which no proxy may buffer, change or store', async () => {
    const { handle, calls } = setUp()
    const response = await handle(request('GET', PATH))
    expect(response).toMatchObject({
      status: 200,
      body: '',
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
        'x-request-id': REQUEST_ID,
      },
    })
    expect(response.headers).not.toHaveProperty('content-length')
    expect(response.headers).not.toHaveProperty('etag')
    expect(await textOf(response)).toBe(
      'retry: 2000\n\n' +
        'id: place-1\nevent: attempt\ndata: {"id":"attempt-1"}\n\n' +
        'event: end\ndata: {"reason":"closing"}\n\n',
    )
    expect(calls.slice(-2)).toEqual([
      ['openStream', { accountId: OWN_ACCOUNT }, OWN_ACCOUNT],
      ['closeStream'],
    ])
  })

  it('passes on what the query and Last-Event-ID select', async () => {
    const { handle, calls } = setUp()
    const query =
      'types=attempt,event&webhook_id=w&call_id=a%2Fb&filter_result=failure&descendants=true&_=cache'
    const response = await handle(request('GET', `${PATH}?${query}`, { headers: { 'last-event-id': 'x' } }))
    response.stream!.close()
    expect(calls.at(-2)).toEqual([
      'openStream',
      {
        accountId: OWN_ACCOUNT,
        types: ['attempt', 'event'],
        webhookId: 'w',
        callId: 'a/b',
        result: 'failure',
        descendants: true,
        lastId: 'x',
      },
      OWN_ACCOUNT,
    ])
  })

  it('has no last id with an empty Last-Event-ID', async () => {
    const { handle, calls } = setUp()
    const response = await handle(request('GET', PATH, { headers: { 'last-event-id': '' } }))
    response.stream!.close()
    expect(calls.at(-2)).toEqual(['openStream', { accountId: OWN_ACCOUNT }, OWN_ACCOUNT])
  })

  it('answers HEAD with its headers, opening nothing', async () => {
    const { handle, calls } = setUp()
    const response = await handle(request('HEAD', PATH))
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('text/event-stream')
    expect(response).not.toHaveProperty('stream')
    expect(calls.at(-1)).toEqual(['checkStream', { accountId: OWN_ACCOUNT }])
  })

  it('needs an Accept that allows event streams', async () => {
    for (const [accept, status] of [
      ['text/event-stream', 200],
      ['TEXT/*;q=0.5', 200],
      ['*/*', 200],
      ['', 200],
      ['application/json', 406],
      ['text/html, application/json', 406],
      ['text/event-stream;q=0, */*', 406],
    ] as const) {
      const { handle } = setUp()
      const response = await handle(request('GET', PATH, { headers: { accept } }))
      response.stream?.close()
      expect(response.status, accept).toBe(status)
      if (status === 406)
        expect(jsonOf(response)).toMatchObject({
          message: 'not_acceptable',
          data: { message: expect.stringContaining('text/event-stream') },
        })
    }
  })

  it('takes its token from a header only', async () => {
    const inQuery = await setUp().handle(request('GET', `${PATH}?auth_token=${TOKEN}`, { token: null }))
    expect(inQuery.status).toBe(401)
    const body = { auth_token: TOKEN, verb: 'get' }
    const inBody = await setUp().handle(request('POST', PATH, { token: null, body }))
    expect(inBody.status).toBe(401)
    const headers = { authorization: `Bearer ${TOKEN}` }
    const bearer = await setUp().handle(request('GET', PATH, { token: null, headers }))
    bearer.stream?.close()
    expect(bearer.status).toBe(200)
  })

  it('answers errors before its first byte in the envelope', async () => {
    const foreign = await setUp().handle(request('GET', PATH.replace(OWN_ACCOUNT, FOREIGN_ACCOUNT)))
    expect(foreign.status).toBe(403)
    for (const [code, status, headers] of [
      ['NotFound', 404, {}],
      ['TooManyStreams', 429, { 'retry-after': '5' }],
      ['StoreUnavailable', 503, { 'retry-after': '5' }],
      ['Closing', 503, { 'retry-after': '5' }],
    ] as const) {
      const fault = errorWithCode(code, { retryAfterSeconds: 5 })
      const response = await setUp({ faults: { openStream: fault } }).handle(request('GET', PATH))
      expect(response).not.toHaveProperty('stream')
      expect(response).toMatchObject({ status, headers: { 'content-type': 'application/json', ...headers } })
      expect(jsonOf(response)).toMatchObject({ error: String(status), status: 'error' })
    }
    const failures = ['result', 'webhookId', 'lastId', 'types'].map((path) => ({
      path,
      rule: 'enum',
      message: 'no',
    }))
    const invalid = errorWithCode('InvalidInput', { failures })
    const response = await setUp({ faults: { openStream: invalid } }).handle(request('GET', PATH))
    expect(Object.keys(jsonOf(response).data as object)).toEqual([
      'filter_result',
      'webhook_id',
      'last-event-id',
      'types',
    ])
  })

  it('is logged when it begins and when it ends, once', async () => {
    const lines: [object, string][] = []
    const log = { info: (fields: object, message: string) => lines.push([fields, message]) }
    let nowMs = 0
    const accessLog = { log, monotonic: () => (nowMs += 1_000) }
    const { handle } = setUp({}, { accessLog })
    const response = await handle(request('GET', PATH))
    expect(lines).toHaveLength(1)
    await textOf(response)
    response.stream!.close()
    expect(lines).toEqual([
      [expect.objectContaining({ status: 200, durationMs: 1_000, path: PATH }), 'request'],
      [{ requestId: REQUEST_ID, accountId: OWN_ACCOUNT, durationMs: 2_000 }, 'stream ended'],
    ])
  })

  it('allows browsers to send Last-Event-ID', async () => {
    const { handle } = setUp({}, { cors: ['*'] })
    const headers = { origin: 'https://ui.example', 'access-control-request-method': 'GET' }
    const preflight = await handle(request('OPTIONS', PATH, { token: null, headers }))
    expect(preflight.headers['access-control-allow-headers']).toContain('last-event-id')
    const response = await handle(request('GET', PATH, { headers }))
    response.stream!.close()
    expect(response.headers['access-control-allow-origin']).toBe('*')
  })
})

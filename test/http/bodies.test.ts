import { describe, expect, it, vi } from 'vitest'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import { createFakeBackend } from './fake-backend.js'
import { jsonOf, OWN_ACCOUNT, type RequestOptions, request, silentLog, WEBHOOK_ID } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${WEBHOOK_ID}`
const INPUT = { name: 'n', uri: 'https://r.example.com/', hook: 'all' }

function setUp(options: Partial<HandlerOptions> = {}) {
  const fake = createFakeBackend()
  const handle = createHandler(fake.backend, { log: silentLog, ...options })
  return {
    ...fake,
    send: (method: string, url: string, sent?: RequestOptions) => handle(request(method, url, sent)),
  }
}

describe('request bodies', () => {
  it.each<[string, RequestOptions]>([
    ['from curl -d', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['with application/x-json', { headers: { 'content-type': 'application/x-json' } }],
    ['without a content type', { headers: { 'content-type': undefined } }],
    ['with a charset', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
  ])('are read as JSON: %s', async (_, sent) => {
    expect((await setUp().send('PUT', WEBHOOKS, { ...sent, body: { data: INPUT } })).status).toBe(201)
  })

  it('that are large wait for their turn before they are searched and before they are parsed, by client and account', async () => {
    const { backend } = createFakeBackend()
    const turns: string[] = []
    const yieldWhenDue = (owner: string) => {
      turns.push(owner)
      return Promise.resolve()
    }
    const handle = createHandler({ ...backend, yieldWhenDue }, { log: silentLog })
    const send = (text: string) =>
      handle(
        request('PUT', WEBHOOKS, {
          body: { data: { ...INPUT, text } },
          more: { remoteAddress: '192.0.2.1' },
        }),
      )
    expect((await send('x'.repeat(16_000))).status).toBe(201)
    expect(turns).toEqual([])
    expect((await send('x'.repeat(17_000))).status).toBe(201)
    expect(turns).toEqual(['192.0.2.1', OWN_ACCOUNT])
  })

  it('are rejected with 415 if they are form data', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await setUp().send('PUT', WEBHOOKS, { headers, body: 'name=n' })).status).toBe(415)
  })

  it('may come from an earlier body parser', async () => {
    const { send } = setUp()
    const parsed = (parsedBody: unknown, headers = {}) =>
      send('PUT', WEBHOOKS, { headers: { 'content-length': '9', ...headers }, more: { parsedBody } })
    expect((await parsed({ data: INPUT })).status).toBe(201)
    expect((await parsed(JSON.stringify({ data: INPUT }))).status).toBe(201)
    expect(jsonOf(await parsed({})).data).toHaveProperty('data.required')
    expect((await parsed({}, { 'content-length': undefined })).status).toBe(201)
  })

  it('may have any content type for GET and DELETE; for GET they need not be JSON', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await setUp().send('GET', WEBHOOK, { headers, body: 'x' })).status).toBe(200)
    expect(
      (await setUp().send('DELETE', WEBHOOK, { headers, body: { data: { ui_metadata: {} } } })).status,
    ).toBe(200)
    expect((await setUp().send('DELETE', WEBHOOK, { headers, body: 'x' })).status).toBe(400)
  })

  it('default to an empty data object', async () => {
    const { send, calls } = setUp()
    await send('PUT', WEBHOOKS)
    expect(calls.at(-1)).toEqual(['create', OWN_ACCOUNT, { settings: {} }])
    expect(jsonOf(await send('PUT', '/v1/api_auth')).data).toHaveProperty(['api_key', 'required'])
  })

  it.each([
    ['PUT', '/v2/api_auth'],
    ['PUT', '/v1/user_auth/'],
    ['POST', '/v2/user_auth'],
    ['GET', '/v2/webhooks'],
    ['PUT', '/v2/user_auth/recovery'],
  ])('have at most 16 KiB where no token is needed, and are not parsed above: %s %s', async (method, url) => {
    const parser = vi.spyOn(JSON, 'parse')
    try {
      const { send, calls } = setUp()
      for (const data of ['[{}]', '{"api_key":[{}]}', '{},"other":[{}]', '"x"', '{}'])
        for (const token of [null, 'valid-token']) {
          const body = `{"data":${data},"padding":"`.padEnd(16_383, 'x')
          const response = await send(method, url, { body: `${body}"}`, token })
          expect([response.status, calls]).toEqual([413, []])
        }
      expect(parser).not.toHaveBeenCalled()
    } finally {
      parser.mockRestore()
    }
  })

  it('of a login may have 16 KiB; the error of a larger one names the limit', async () => {
    const { send } = setUp()
    const body = (size: number) =>
      `{"data":{"api_key":"${'a'.repeat(64)}"},"x":"`.padEnd(size - 2, 'x').concat('"}')
    expect((await send('PUT', '/v2/api_auth', { body: body(16_384), token: null })).status).toBe(201)
    const response = await send('PUT', '/v2/api_auth', { body: body(16_385), token: null })
    expect(jsonOf(response)).toMatchObject({
      error: '413',
      data: { body: { maxSize: { message: 'The body must not exceed 16384 bytes', target: 16_384 } } },
    })
  })

  it('that a framework has parsed are limited by their declared size where no token is needed', async () => {
    const parsedBody = { data: { api_key: 'a'.repeat(64) } }
    const send = (length: string | undefined) =>
      setUp().send('PUT', '/v2/api_auth', {
        headers: { 'content-length': length, 'transfer-encoding': length ? undefined : 'chunked' },
        more: { parsedBody },
      })
    expect((await send('16384')).status).toBe(201)
    expect((await send(undefined)).status).toBe(201)
    expect((await send('16385')).status).toBe(413)
  })
})

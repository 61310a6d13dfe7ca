import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it, vi } from 'vitest'
import { API_KEY, jsonOf, type RequestOptions } from './records.js'
import { startService } from './service.js'

const INPUT = { name: 'n', uri: 'https://receiver.example.com/', hook: 'all' }

describe('request bodies', () => {
  it.each<[string, RequestOptions]>([
    ['from curl -d', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['with application/x-json', { headers: { 'content-type': 'application/x-json' } }],
    ['without a content type', { headers: { 'content-type': undefined } }],
    ['with a charset', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
  ])('are read as JSON: %s', async (_, sent) => {
    const { send, webhooks } = await startService()
    expect((await send('PUT', webhooks, { ...sent, body: { data: INPUT } })).status).toBe(201)
  })

  it('that are large wait for their turn before they are searched and before they are parsed', async () => {
    let nowMs = 0
    let turns = 0
    const clock = {
      ...manualClock(),
      // Every slice is used up at once.
      monotonic: () => (nowMs += 20),
      async yield() {
        turns += 1
      },
    }
    const { send, webhooks } = await startService({ clock })
    for (const [size, expected] of [
      [16_000, 0],
      [17_000, 2],
    ] as const) {
      turns = 0
      const data = { ...INPUT, text: 'x'.repeat(size) }
      expect((await send('PUT', webhooks, { body: { data } })).status).toBe(201)
      expect(turns).toBe(expected)
    }
  })

  it('are rejected with 415 if they are form data', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { send, webhooks } = await startService()
    expect((await send('PUT', webhooks, { headers, body: 'name=n' })).status).toBe(415)
  })

  it('may come from an earlier body parser', async () => {
    const { send, webhooks } = await startService()
    const parsed = (parsedBody: unknown, headers = {}) =>
      send('PUT', webhooks, { headers: { 'content-length': '9', ...headers }, more: { parsedBody } })
    expect((await parsed({ data: INPUT })).status).toBe(201)
    expect((await parsed(JSON.stringify({ data: INPUT }))).status).toBe(201)
    expect(jsonOf(await parsed({})).data).toHaveProperty('data.required')
    expect(jsonOf(await parsed({}, { 'content-length': undefined })).data).toHaveProperty('name.required')
  })

  it('may have any content type for GET and DELETE; for GET they need not be JSON', async () => {
    const headers = { 'content-type': 'text/plain' }
    const { send, webhook } = await startService()
    expect((await send('GET', webhook, { headers, body: 'x' })).status).toBe(200)
    expect((await send('DELETE', webhook, { headers, body: 'x' })).status).toBe(400)
    expect((await send('DELETE', webhook, { headers, body: { data: { ui_metadata: {} } } })).status).toBe(200)
  })

  it('default to an empty data object', async () => {
    const { send, webhooks } = await startService()
    expect(jsonOf(await send('PUT', webhooks)).data).toHaveProperty(['name', 'required'])
    expect(jsonOf(await send('PUT', '/v1/api_auth')).data).toHaveProperty(['api_key', 'required'])
  })

  it.each([
    ['PUT', '/v2/api_auth'],
    ['PUT', '/v1/user_auth/'],
    ['POST', '/v2/user_auth'],
    ['GET', '/v2/webhooks'],
    ['PUT', '/v2/user_auth/recovery'],
  ])('have at most 16 KiB where no token is needed, and are not parsed above: %s %s', async (method, url) => {
    const { send, token: valid } = await startService()
    const parser = vi.spyOn(JSON, 'parse')
    try {
      for (const data of ['[{}]', '{"api_key":[{}]}', '{},"other":[{}]', '"x"', '{}'])
        for (const token of [null, valid]) {
          const body = `{"data":${data},"padding":"`.padEnd(16_383, 'x')
          expect((await send(method, url, { body: `${body}"}`, token })).status).toBe(413)
        }
      expect(parser).not.toHaveBeenCalled()
    } finally {
      parser.mockRestore()
    }
  })

  it('of a login may have 16 KiB; the error of a larger one names the limit', async () => {
    const { send } = await startService()
    const body = (size: number) => `{"data":{"api_key":"${API_KEY}"},"x":"`.padEnd(size - 2, 'x').concat('"}')
    expect((await send('PUT', '/v2/api_auth', { body: body(16_384), token: null })).status).toBe(201)
    const response = await send('PUT', '/v2/api_auth', { body: body(16_385), token: null })
    expect(jsonOf(response)).toMatchObject({
      error: '413',
      data: { body: { maxSize: { message: 'The body must not exceed 16384 bytes', target: 16_384 } } },
    })
  })

  it('that a framework has parsed are limited by their declared size where no token is needed', async () => {
    const parsedBody = { data: { api_key: API_KEY } }
    const service = await startService()
    const send = (length: string | undefined) =>
      service.send('PUT', '/v2/api_auth', {
        headers: { 'content-length': length, 'transfer-encoding': length ? undefined : 'chunked' },
        more: { parsedBody },
      })
    expect((await send('16384')).status).toBe(201)
    expect((await send(undefined)).status).toBe(201)
    expect((await send('16385')).status).toBe(413)
  })
})

import { describe, expect, it } from 'vitest'
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

describe('conditional requests', () => {
  it('returns the revision as ETag and responds with 304 to a client that has it', async () => {
    const { send } = setUp()
    const { headers, body } = await send('GET', WEBHOOK)
    expect(headers.etag).toBe('"3"')
    expect(JSON.parse(body).revision).toBe('3')
    const again = await send('GET', WEBHOOK, { headers: { 'if-none-match': headers.etag! } })
    expect(again).toEqual({
      status: 304,
      headers: { etag: '"3"', 'x-request-id': headers['x-request-id'] },
      body: '',
    })
    expect((await send('GET', WEBHOOK, { headers: { 'if-none-match': '"2"' } })).status).toBe(200)
  })

  it.each([
    ['"3"', 200],
    ['*', 200],
    ['"1", "3"', 200],
    ['"2"', 412],
    ['"1", "2"', 412],
    ['W/"3"', 412],
    ['nonsense', 412],
  ])('changes only the revision that If-Match: %s allows', async (tag, status) => {
    const headers = { 'if-match': tag }
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const { send, webhooks } = setUp()
      const before = webhooks.get(WEBHOOK_ID)
      const response = await send(method, WEBHOOK, { headers, body: { data: INPUT } })
      expect(response.status).toBe(status)
      expect(webhooks.get(WEBHOOK_ID) === before).toBe(status === 412)
      if (status === 412) expect(jsonOf(response).message).toBe('precondition_failed')
    }
  })

  it('responds with 404 to an unknown webhook, whatever the condition', async () => {
    const headers = { 'if-match': '"1", "2"' }
    expect((await setUp().send('DELETE', `${WEBHOOKS}/unknown`, { headers })).status).toBe(404)
  })
})

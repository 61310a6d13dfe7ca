import { describe, expect, it } from 'vitest'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import { createFakeBackend } from './fake-backend.js'
import { OWN_ACCOUNT, type RequestOptions, request, silentLog, WEBHOOK_ID } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${WEBHOOK_ID}`

function setUp(options: Partial<HandlerOptions> = {}) {
  const fake = createFakeBackend()
  const handle = createHandler(fake.backend, { log: silentLog, ...options })
  return {
    ...fake,
    send: (method: string, url: string, sent?: RequestOptions) => handle(request(method, url, sent)),
  }
}

describe('CORS', () => {
  const cors = ['https://ui.example.com']
  const origin = { origin: 'https://ui.example.com' }

  it('is off by default', async () => {
    const response = await setUp().send('OPTIONS', WEBHOOK, { headers: origin })
    expect(response.status).toBe(405)
    expect(
      Object.keys((await setUp().send('GET', WEBHOOK, { headers: origin })).headers).join(),
    ).not.toContain('access')
  })

  it('responds to a preflight request without a token', async () => {
    const { send } = setUp({ cors })
    const response = await send('OPTIONS', WEBHOOK, { headers: origin, token: null })
    expect(response).toMatchObject({ status: 204, body: '' })
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': 'https://ui.example.com',
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': expect.stringContaining('x-auth-token'),
      vary: 'origin',
    })
    expect(response.headers).not.toHaveProperty('content-length')
    expect((await send('OPTIONS', '/v1/nowhere', { headers: origin })).status).toBe(404)
  })

  it('lets only the configured origin read responses, including errors', async () => {
    const { send } = setUp({ cors })
    for (const url of [WEBHOOK, '/v1/nowhere']) {
      const { headers } = await send('GET', url, { headers: origin })
      expect(headers['access-control-allow-origin']).toBe('https://ui.example.com')
      const other = await send('GET', url, { headers: { origin: 'https://evil.example.com' } })
      expect(other.headers).not.toHaveProperty('access-control-allow-origin')
      expect(other.headers.vary).toBe('origin')
    }
  })

  it('lets every origin read responses with *', async () => {
    const { headers } = await setUp({ cors: ['*'] }).send('GET', WEBHOOK, { headers: origin })
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })
})

import { describe, expect, it } from 'vitest'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import { createFakeBackend } from './fake-backend.js'
import {
  API_KEY,
  jsonOf,
  OWN_ACCOUNT,
  type RequestOptions,
  request,
  silentLog,
  TOKEN,
  VERSION,
  WEBHOOK_ID,
} from './records.js'

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

const keys = (body: object) => Object.keys(body).join(' ')

describe('the success envelope', () => {
  it('has its keys in the order of the documentation', async () => {
    const { send } = setUp()
    expect(keys(jsonOf(await send('GET', WEBHOOK)))).toBe(
      'data status auth_token request_id revision timestamp version node',
    )
    expect(keys(jsonOf(await send('GET', WEBHOOKS)))).toBe(
      'data status auth_token request_id timestamp version node page_size',
    )
    expect(keys(jsonOf(await send('GET', '/v1/webhooks', { token: null })))).toBe(
      'data status request_id timestamp node page_size',
    )
  })

  it('ignores an invalid token on routes that need none, and recognizes a valid one', async () => {
    for (const url of ['/v1/webhooks', '/v1/webhooks/samples']) {
      expect(jsonOf(await setUp().send('GET', url, { token: 'undefined' }))).not.toHaveProperty('auth_token')
      expect(jsonOf(await setUp().send('GET', url))).toMatchObject({ auth_token: TOKEN, version: VERSION })
    }
  })

  it('contains only the new token after a login, and ignores an old one', async () => {
    const { send, calls } = setUp()
    const body = jsonOf(await send('PUT', '/v1/api_auth', { body: { data: { api_key: API_KEY } } }))
    expect(body).toMatchObject({ auth_token: 'new-token', version: VERSION })
    expect(JSON.stringify(body)).not.toContain(TOKEN)
    expect(calls.map(([method]) => method)).toEqual(['signIn', 'lineage'])
  })

  it('accepts the token from header, query or body', async () => {
    const { send } = setUp()
    const sources: RequestOptions[] = [
      {},
      { token: null, headers: { authorization: `Bearer ${TOKEN}` } },
      { token: '', body: { auth_token: TOKEN } },
    ]
    for (const sent of sources) expect((await send('GET', WEBHOOK, sent)).status).toBe(200)
    expect((await send('GET', `${WEBHOOK}?auth_token=${TOKEN}`, { token: null })).status).toBe(200)
    expect((await send('GET', WEBHOOK, { body: { data: { auth_token: TOKEN } }, token: null })).status).toBe(
      401,
    )
  })

  it('rejects two different tokens, whether or not the route needs one', async () => {
    const headers = { 'x-auth-token': [TOKEN, 'other'] }
    for (const url of [WEBHOOK, '/v1/webhooks']) {
      const response = await setUp().send('GET', url, { headers })
      expect(response.status).toBe(400)
      expect(response.body).not.toContain(TOKEN)
    }
    expect((await setUp().send('GET', WEBHOOK, { headers: { 'x-auth-token': [TOKEN, TOKEN] } })).status).toBe(
      200,
    )
  })

  it("uses the client's request id", async () => {
    const response = await setUp().send('GET', WEBHOOK, { headers: { 'x-request-id': 'mine-1' } })
    expect(response.headers['x-request-id']).toBe('mine-1')
    expect(jsonOf(response).request_id).toBe('mine-1')
  })

  it('is indented on request, for errors too', async () => {
    for (const url of [WEBHOOK, '/v1/nowhere']) {
      const plain = await setUp().send('GET', url)
      const pretty = await setUp().send('GET', `${url}?pretty_print=true`)
      expect(plain.body).not.toContain('\n')
      expect(pretty.body).toBe(JSON.stringify(jsonOf(plain), null, 2))
    }
  })

  it('forbids caching of secrets only', async () => {
    const { send } = setUp()
    const secret = ['/v1/api_auth', `/v1/accounts/${OWN_ACCOUNT}/api_key`, `${WEBHOOK}/secret`]
    for (const url of secret) {
      const response = await send('PUT', url, { body: { data: { api_key: API_KEY } } })
      expect(response.headers['cache-control']).toBe('no-store')
    }
    expect((await send('GET', WEBHOOK)).headers['cache-control']).toBeUndefined()
  })

  it('has the path of a new webhook, with the mount point and version of the request', async () => {
    for (const [version, mountPrefix] of [
      ['v1', ''],
      ['v2', '/telephony'],
    ] as const) {
      const url = `/${version}/accounts/${OWN_ACCOUNT}/webhooks/`
      const response = await setUp().send('PUT', url, { body: { data: INPUT }, more: { mountPrefix } })
      expect(response.headers.location).toBe(
        `${mountPrefix}/${version}/accounts/${OWN_ACCOUNT}/webhooks/created`,
      )
    }
  })
})

describe("the client's address", () => {
  const login = {
    body: { data: { api_key: API_KEY } },
    headers: { 'x-forwarded-for': '203.0.113.9' },
    more: { remoteAddress: '10.0.0.1' },
  }

  it.each([
    [[], '10.0.0.1'],
    [['10.0.0.0/8'], '203.0.113.9'],
  ])('is determined with trustProxy %j: %s', async (trustProxy, address) => {
    const { send, calls } = setUp({ trustProxy })
    await send('PUT', '/v1/api_auth', login)
    expect(calls[0]).toEqual(['signIn', { apiKey: API_KEY }, { address }])
  })
})

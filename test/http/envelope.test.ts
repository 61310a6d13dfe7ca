import { describe, expect, it } from 'vitest'
import { createHandler, type HandlerOptions } from '../../src/http/handle.js'
import { fakeWorld } from './fake-service.js'
import { API_KEY, HOOK, jsonOf, OWN, request, type Sent, silent, TOKEN, VERSION } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${HOOK}`
const WANTED = { name: 'n', uri: 'https://r.example.com/', hook: 'all' }

function face(options: Partial<HandlerOptions> = {}) {
  const world = fakeWorld()
  const handle = createHandler(world.service, { log: silent, ...options })
  return { ...world, send: (method: string, url: string, sent?: Sent) => handle(request(method, url, sent)) }
}

const keys = (body: object) => Object.keys(body).join(' ')

describe('the success envelope', () => {
  it('has its keys in the order of the documentation', async () => {
    const { send } = face()
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

  it('ignores a bad token where none is needed and counts a good one', async () => {
    for (const url of ['/v1/webhooks', '/v1/webhooks/samples']) {
      expect(jsonOf(await face().send('GET', url, { token: 'undefined' }))).not.toHaveProperty('auth_token')
      expect(jsonOf(await face().send('GET', url))).toMatchObject({ auth_token: TOKEN, version: VERSION })
    }
  })

  it('carries only the new token on a login, and does not look at an old one', async () => {
    const { send, asked } = face()
    const body = jsonOf(await send('PUT', '/v1/api_auth', { body: { data: { api_key: API_KEY } } }))
    expect(body).toMatchObject({ auth_token: 'new-token', version: VERSION })
    expect(JSON.stringify(body)).not.toContain(TOKEN)
    expect(asked.map(([verb]) => verb)).toEqual(['signIn'])
  })

  it('takes the token from any of its places', async () => {
    const { send } = face()
    const places: Sent[] = [
      {},
      { token: null, headers: { authorization: `Bearer ${TOKEN}` } },
      { token: '', body: { auth_token: TOKEN } },
    ]
    for (const sent of places) expect((await send('GET', WEBHOOK, sent)).status).toBe(200)
    expect((await send('GET', `${WEBHOOK}?auth_token=${TOKEN}`, { token: null })).status).toBe(200)
    expect((await send('GET', WEBHOOK, { body: { data: { auth_token: TOKEN } }, token: null })).status).toBe(
      401,
    )
  })

  it('refuses two different tokens, with or without a route that needs one', async () => {
    const headers = { 'x-auth-token': [TOKEN, 'other'] }
    for (const url of [WEBHOOK, '/v1/webhooks']) {
      const response = await face().send('GET', url, { headers })
      expect(response.status).toBe(400)
      expect(response.body).not.toContain(TOKEN)
    }
    expect((await face().send('GET', WEBHOOK, { headers: { 'x-auth-token': [TOKEN, TOKEN] } })).status).toBe(
      200,
    )
  })

  it('uses the request id of the client', async () => {
    const response = await face().send('GET', WEBHOOK, { headers: { 'x-request-id': 'mine-1' } })
    expect(response.headers['x-request-id']).toBe('mine-1')
    expect(jsonOf(response).request_id).toBe('mine-1')
  })

  it('indents where it is asked to, errors too', async () => {
    for (const url of [WEBHOOK, '/v1/nowhere']) {
      const plain = await face().send('GET', url)
      const pretty = await face().send('GET', `${url}?pretty_print=true`)
      expect(plain.body).not.toContain('\n')
      expect(pretty.body).toBe(JSON.stringify(jsonOf(plain), null, 2))
    }
  })

  it('keeps secrets out of caches, and nothing else', async () => {
    const { send } = face()
    const secret = ['/v1/api_auth', `/v1/accounts/${OWN}/api_key`, `${WEBHOOK}/secret`]
    for (const url of secret) {
      const response = await send('PUT', url, { body: { data: { api_key: API_KEY } } })
      expect(response.headers['cache-control']).toBe('no-store')
    }
    expect((await send('GET', WEBHOOK)).headers['cache-control']).toBeUndefined()
  })

  it('says where a new webhook is, below the mount point and in the version of the request', async () => {
    for (const [version, mountPrefix] of [
      ['v1', ''],
      ['v2', '/telephony'],
    ] as const) {
      const url = `/${version}/accounts/${OWN}/webhooks/`
      const response = await face().send('PUT', url, { body: { data: WANTED }, more: { mountPrefix } })
      expect(response.headers.location).toBe(`${mountPrefix}/${version}/accounts/${OWN}/webhooks/created`)
    }
  })
})

describe('the address of a client', () => {
  const login = {
    body: { data: { api_key: API_KEY } },
    headers: { 'x-forwarded-for': '203.0.113.9' },
    more: { remoteAddress: '10.0.0.1' },
  }

  it.each([
    [[], '10.0.0.1'],
    [['10.0.0.0/8'], '203.0.113.9'],
  ])('with trusted proxies %j is %s', async (trustProxy, address) => {
    const { send, asked } = face({ trustProxy })
    await send('PUT', '/v1/api_auth', login)
    expect(asked).toEqual([['signIn', { apiKey: API_KEY }, { address }]])
  })
})

import { describe, expect, it } from 'vitest'
import { HookswitchError } from '../../src/errors.js'
import { createHandler } from '../../src/http/handle.js'
import { createFakeBackend } from './fake-backend.js'
import {
  jsonOf,
  OWN_ACCOUNT,
  REQUEST_ID,
  type RequestOptions,
  request,
  silentLog,
  TOKEN,
  WEBHOOK_ID,
} from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${WEBHOOK_ID}`

async function respond(
  method: string,
  url: string,
  sent: RequestOptions = {},
  faults: Record<string, unknown> = {},
) {
  const { backend } = createFakeBackend({ ingest: true, faults })
  const response = await createHandler(backend, { log: silentLog })(request(method, url, sent))
  return { response, status: response.status, body: jsonOf(response) }
}

describe('a 401 response', () => {
  it('has the same bytes whichever part of a login is wrong, even with a valid token', async () => {
    const user = (data: object, token: string | null = null) =>
      respond('PUT', '/v1/user_auth', { token, body: { data: { account_realm: 'r', ...data } } })
    const responses = await Promise.all([
      user({ credentials: 'wrong' }),
      user({ credentials: 'c'.repeat(31) }),
      user({ credentials: '' }, TOKEN),
      user({ credentials: 'd'.repeat(32), account_realm: '' }),
      respond('PUT', '/v2/api_auth', { body: { data: { api_key: 'wrong' } } }),
    ])
    for (const { response } of responses) expect(response).toEqual(responses[0]!.response)
    expect(responses[0]!.response.headers['www-authenticate']).toBe('Bearer')
    expect(responses[0]!.body).not.toHaveProperty('auth_token')
  })

  it('is the same for a token that is revoked while its request is processed', async () => {
    const revoked = new HookswitchError('InvalidCredentials', 'invalid credentials')
    const late = await respond('GET', WEBHOOK, {}, { read: revoked })
    const early = await respond('GET', WEBHOOK, {}, { authenticate: revoked })
    expect(late.status).toBe(401)
    expect(late.response).toEqual(early.response)
  })
})

describe('errors during a request', () => {
  it('logs internal errors and hides them from the client, even if the logger throws', async () => {
    const { backend } = createFakeBackend({ faults: { read: new Error('SECRET /path at host') } })
    const logged: unknown[] = []
    const log = { error: (...args: unknown[]) => void logged.push(args), warn() {} }
    const response = await createHandler(backend, { log })(request('GET', WEBHOOK))
    expect(response.status).toBe(500)
    expect(jsonOf(response).data).toEqual({ message: 'internal error' })
    expect(response.body).not.toContain('SECRET')
    expect(logged).toEqual([
      [
        {
          requestId: REQUEST_ID,
          operation: 'readWebhook',
          err: expect.objectContaining({ message: 'SECRET /path at host' }),
        },
        expect.any(String),
      ],
    ])
    const throwing = {
      error() {
        throw new Error('no disk')
      },
      warn() {},
    }
    expect((await createHandler(backend, { log: throwing })(request('GET', WEBHOOK))).status).toBe(500)
  })

  it('logs an unavailable store or directory with its cause and responds with 503', async () => {
    const cause = new Error('db down')
    const unavailable = new HookswitchError('StoreUnavailable', "the directory's lineage failed", { cause })
    const { backend } = createFakeBackend({ faults: { read: unavailable } })
    const warned: unknown[] = []
    const log = { error() {}, warn: (...args: unknown[]) => void warned.push(args) }
    const response = await createHandler(backend, { log })(request('GET', WEBHOOK))
    expect(response.status).toBe(503)
    expect(response.body).not.toContain('db down')
    expect(warned).toEqual([
      [expect.objectContaining({ reason: "the directory's lineage failed: db down" }), expect.any(String)],
    ])
  })

  it('responds with JSON even if the backend itself is broken', async () => {
    const { backend } = createFakeBackend()
    const broken = {
      ...backend,
      now: () => {
        throw new Error('no clock')
      },
    }
    const response = await createHandler(broken, { log: silentLog })(request('GET', WEBHOOK))
    expect(response.status).toBe(500)
    expect(jsonOf(response)).toMatchObject({ error: '500', message: 'internal_error', status: 'error' })
  })

  it.each([undefined, null, 'text', 5, Object.create(null)])(
    'responds with 500 to any thrown value: %j',
    async (fault) => {
      expect((await respond('GET', WEBHOOK, {}, { read: fault })).status).toBe(500)
    },
  )
})

import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/errors.js'
import { createHandler } from '../../src/http/handle.js'
import { MAX_BODY_BYTES } from '../../src/http/message.js'
import { ROUTES } from '../../src/wire/routes.js'
import { createFakeBackend } from './fake-backend.js'
import {
  API_KEY,
  errorWithCode,
  jsonOf,
  NODE,
  OWN_ACCOUNT,
  REQUEST_ID,
  type RequestOptions,
  request,
  silentLog,
  TOKEN,
  VERSION,
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

describe('the error envelope', () => {
  it('has its keys in the order of the documentation, with token and version for an authenticated caller', async () => {
    const { response, body } = await respond('GET', `${WEBHOOKS}/unknown`)
    expect(body).toEqual({
      data: { cause: 'unknown', message: 'bad identifier' },
      error: '404',
      message: 'bad_identifier',
      status: 'error',
      request_id: REQUEST_ID,
      timestamp: '2030-01-15T12:00:00.250Z',
      node: NODE,
      auth_token: TOKEN,
      version: VERSION,
    })
    expect(response.headers).toEqual({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(response.body)),
      'x-request-id': REQUEST_ID,
    })
  })

  it.each<[string, string, RequestOptions, number, string, unknown]>([
    [
      'PUT',
      WEBHOOKS,
      { body: '{' },
      400,
      'validation error',
      { json: { invalid: { message: expect.any(String), target: 'body' } } },
    ],
    ['PUT', WEBHOOKS, { body: '{}' }, 400, 'validation error', { data: { required: expect.any(Object) } }],
    [
      'PUT',
      WEBHOOKS,
      { body: { data: [] } },
      400,
      'validation error',
      { data: { type: { message: 'Value did not match type(s): object', target: 'object' } } },
    ],
    ['GET', '/v1/nowhere', {}, 404, 'not_found', { message: 'not found' }],
    ['DELETE', WEBHOOKS, {}, 405, 'invalid_method', { message: 'invalid method' }],
    [
      'PUT',
      WEBHOOKS,
      { more: { bodyProblem: 'too_large' } },
      413,
      'validation error',
      { body: { maxSize: { message: expect.any(String), target: MAX_BODY_BYTES } } },
    ],
    [
      'PUT',
      WEBHOOKS,
      { more: { body: new Uint8Array(MAX_BODY_BYTES + 1) } },
      413,
      'validation error',
      { body: { maxSize: expect.any(Object) } },
    ],
    [
      'PUT',
      WEBHOOKS,
      { more: { bodyProblem: 'too_slow' } },
      408,
      'request_timeout',
      { message: expect.any(String) },
    ],
    ['GET', `/v1/${'x'.repeat(20_000)}`, {}, 414, 'uri_too_long', { message: expect.any(String) }],
    [
      'GET',
      WEBHOOKS,
      { headers: { accept: 'text/html' } },
      406,
      'not_acceptable',
      { message: expect.any(String) },
    ],
    [
      'PUT',
      WEBHOOKS,
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
      { message: expect.any(String) },
    ],
    [
      'GET',
      `${WEBHOOKS}?start_key=forged`,
      {},
      400,
      'validation error',
      { start_key: { wrong_format: expect.any(Object) } },
    ],
  ])('is returned for an invalid request: %s %s', async (method, url, sent, status, message, data) => {
    const { body, ...rest } = await respond(method, url, sent)
    expect(rest.status).toBe(status)
    expect(body).toMatchObject({ status: 'error', error: String(status), message, data })
  })

  it.each<[string, ErrorCode, string, string, number, string]>([
    ['authorize', 'Forbidden', 'GET', WEBHOOKS, 403, 'forbidden'],
    ['create', 'Conflict', 'PUT', WEBHOOKS, 409, 'datastore_conflict'],
    ['remove', 'RevisionConflict', 'DELETE', WEBHOOK, 412, 'precondition_failed'],
    ['signIn', 'AccountLocked', 'PUT', '/v1/api_auth', 423, 'locked'],
    ['signIn', 'TooManyLogins', 'PUT', '/v1/api_auth', 429, 'too_many_requests'],
    ['signIn', 'InvalidCredentials', 'PUT', '/v1/api_auth', 401, 'invalid_credentials'],
    ['ingest', 'QueueFull', 'PUT', `/v1/accounts/${OWN_ACCOUNT}/events`, 429, 'too_many_requests'],
    ['authenticate', 'StoreUnavailable', 'GET', WEBHOOKS, 503, 'datastore_unreachable'],
    ['read', 'StoreUnavailable', 'GET', WEBHOOK, 503, 'datastore_unreachable'],
    ['read', 'Closing', 'GET', WEBHOOK, 503, 'datastore_unreachable'],
    ['read', 'Internal', 'GET', WEBHOOK, 500, 'internal_error'],
    ['read', 'StoreCorrupt', 'GET', WEBHOOK, 503, 'datastore_unreachable'],
  ])('is returned if %s rejects with %s', async (call, code, method, url, status, message) => {
    const data = { api_key: API_KEY, hook: 'h', call_id: 'c' }
    const sent = method === 'PUT' ? { body: { data } } : {}
    const { response, body } = await respond(method, url, sent, {
      [call]: errorWithCode(code, { retryAfterSeconds: 7 }),
    })
    expect(response.status).toBe(status)
    const details =
      status === 423 ? { account: { disabled: expect.any(Object) } } : { message: expect.any(String) }
    expect(body).toMatchObject({ error: String(status), message, data: details })
    expect(response.headers['retry-after']).toBe(status === 429 || status === 503 ? '7' : undefined)
    expect(response.body).not.toContain('thrown:')
  })

  it('is not returned on a route without a token if the token that was sent cannot be checked', async () => {
    for (const code of ['StoreUnavailable', 'Closing', 'Internal'] as const) {
      const { response, body } = await respond(
        'GET',
        '/v1/webhooks',
        {},
        { authenticate: errorWithCode(code) },
      )
      expect(response.status).toBe(200)
      expect(body).not.toHaveProperty('auth_token')
    }
  })

  it("responds with 501 to an operation that the host's directory lacks, and names it", async () => {
    const url = `/v1/accounts/${OWN_ACCOUNT}/api_key`
    const { response, body } = await respond('PUT', url, {}, { rotateApiKey: errorWithCode('Unsupported') })
    expect(response.status).toBe(501)
    const data = { message: 'accounts are kept by the host', cause: 'rotateApiKey' }
    expect(body).toMatchObject({ error: '501', message: 'not_implemented', data })
  })

  it.each([
    ['PUT', `/v1/accounts/${OWN_ACCOUNT}/reseller`],
    ['POST', '/v1/user_auth/recovery'],
    ['PUT', `/v1/accounts/${OWN_ACCOUNT}/users/u/user_auth`],
    ['GET', `/v1/accounts/${OWN_ACCOUNT}/users/u/photo`],
  ])('responds with 501 to what other services have: %s %s', async (method, url) => {
    const { response, body } = await respond(method, url)
    expect(response.status).toBe(501)
    expect(body).toMatchObject({ message: 'not_implemented', data: { message: 'not implemented' } })
  })

  it('lists every method of a path in Allow', async () => {
    for (const { path } of ROUTES) {
      const methods = ROUTES.filter((route) => route.path === path).flatMap(({ method }) =>
        method === 'GET' ? ['GET', 'HEAD'] : [method],
      )
      const url = `/v1${path.replaceAll(/\{\w+\}/g, 'x')}`
      for (const method of ['TRACE', 'OPTIONS', 'BREW', 'get']) {
        const { response } = await respond(method, url)
        expect(response.status).toBe(405)
        expect(response.headers.allow!.split(', ').sort()).toEqual(methods.sort())
      }
    }
  })

  it('translates field names of failures to wire names', async () => {
    const failures = [{ path: 'httpVerb', rule: 'enum', message: 'm', target: ['post'], value: 'x' }]
    const { body } = await respond(
      'PUT',
      WEBHOOKS,
      { body: { data: {} } },
      { create: errorWithCode('InvalidInput', { failures }) },
    )
    expect(body.data).toEqual({ http_verb: { enum: { message: 'm', target: ['post'], value: 'x' } } })
    const events = await respond(
      'PUT',
      `/v1/accounts/${OWN_ACCOUNT}/events`,
      { body: { data: [{}] } },
      {
        ingest: errorWithCode('InvalidInput', {
          failures: [{ path: '0.callId', rule: 'required', message: 'm' }],
        }),
      },
    )
    expect(events.body.data).toEqual({ '0.call_id': { required: { message: 'm' } } })
  })

  it('does not echo secrets of a malformed login', async () => {
    const wrong = { api_key: ['SECRET'], credentials: 987654321, account_realm: {}, realm: 'r' }
    for (const path of ['/v1/api_auth', '/v1/user_auth']) {
      const { response, status } = await respond('PUT', path, { body: { data: wrong } })
      expect(status).toBe(400)
      expect(response.body).not.toMatch(/SECRET|987654321/)
      expect(response.headers['cache-control']).toBe('no-store')
    }
  })
})

import { describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/errors.js'
import { HookswitchError } from '../../src/errors.js'
import { createHandler } from '../../src/http/handle.js'
import { fakeWorld } from './fake-service.js'
import { HOOK, jsonOf, OWN, REQUEST_ID, request, type Sent, silent, TOKEN, thrown } from './records.js'

const WEBHOOKS = `/v1/accounts/${OWN}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${HOOK}`

async function answer(method: string, url: string, sent: Sent = {}, faults: Record<string, unknown> = {}) {
  const { service } = fakeWorld({ ingest: true, faults })
  const response = await createHandler(service, { log: silent })(request(method, url, sent))
  return { response, status: response.status, body: jsonOf(response) }
}

const _of = (code: ErrorCode, details = {}) => thrown(code, details)

describe('401', () => {
  it('is the same bytes for every wrong part of a login, with a good token too', async () => {
    const user = (data: object, token: string | null = null) =>
      answer('PUT', '/v1/user_auth', { token, body: { data: { account_realm: 'r', ...data } } })
    const answers = await Promise.all([
      user({ credentials: 'wrong' }),
      user({ credentials: 'c'.repeat(31) }),
      user({ credentials: '' }, TOKEN),
      user({ credentials: 'd'.repeat(32), account_realm: '' }),
      answer('PUT', '/v2/api_auth', { body: { data: { api_key: 'wrong' } } }),
    ])
    for (const { response } of answers) expect(response).toEqual(answers[0]!.response)
    expect(answers[0]!.response.headers['www-authenticate']).toBe('Bearer')
    expect(answers[0]!.body).not.toHaveProperty('auth_token')
  })
})

describe('faults', () => {
  it('are logged without the caller seeing them, even by a logger that throws', async () => {
    const { service } = fakeWorld({ faults: { read: new Error('SECRET /path at host') } })
    const logged: unknown[] = []
    const log = { error: (...args: unknown[]) => void logged.push(args), warn() {} }
    const seen = await createHandler(service, { log })(request('GET', WEBHOOK))
    expect(seen.status).toBe(500)
    expect(jsonOf(seen).data).toEqual({ message: 'internal error' })
    expect(seen.body).not.toContain('SECRET')
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
    expect((await createHandler(service, { log: throwing })(request('GET', WEBHOOK))).status).toBe(500)
  })

  it('of a storage or directory that is out are logged with their cause, and 503', async () => {
    const cause = new Error('db down')
    const out = new HookswitchError('StoreUnavailable', "the directory's lineage failed", { cause })
    const { service } = fakeWorld({ faults: { read: out } })
    const warned: unknown[] = []
    const log = { error() {}, warn: (...args: unknown[]) => void warned.push(args) }
    const seen = await createHandler(service, { log })(request('GET', WEBHOOK))
    expect(seen.status).toBe(503)
    expect(seen.body).not.toContain('db down')
    expect(warned).toEqual([
      [expect.objectContaining({ reason: "the directory's lineage failed: db down" }), expect.any(String)],
    ])
  })

  it('of the service itself still get an answer in JSON', async () => {
    const { service } = fakeWorld()
    const broken = {
      ...service,
      now: () => {
        throw new Error('no clock')
      },
    }
    const response = await createHandler(broken, { log: silent })(request('GET', WEBHOOK))
    expect(response.status).toBe(500)
    expect(jsonOf(response)).toMatchObject({ error: '500', message: 'internal_error', status: 'error' })
  })

  it.each([undefined, null, 'text', 5, Object.create(null)])('may be anything: %j', async (fault) => {
    expect((await answer('GET', WEBHOOK, {}, { read: fault })).status).toBe(500)
  })
})

import { describe, expect, it } from 'vitest'
import { HookswitchError } from '../../src/errors.js'
import { createHookswitch } from '../../src/hookswitch.js'
import { memoryStore } from '../../src/store/memory.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { CHILD_ACCOUNT, jsonOf, NOW, request } from './records.js'
import { startService } from './service.js'

const ID = { headers: { 'x-request-id': 'request-1' } }

/** A service whose store fails to read a webhook, and what it logs. */
async function failing(thrown: unknown) {
  const logged: [level: string, fields: object, message: string][] = []
  const logAt = (level: string) => (fields: object, message: string) => {
    logged.push([level, fields, message])
  }
  const log = { debug() {}, info() {}, warn: logAt('warn'), error: logAt('error') }
  const service = await startService({ log })
  service.store.webhooks.read = async () => {
    throw thrown
  }
  return { ...service, response: await service.send('GET', service.webhook, ID), logged }
}

describe('errors during a request', () => {
  it('are logged if they are internal, and hidden from the client', async () => {
    const { response, logged } = await failing(new Error('SECRET /path at host'))
    expect(response.status).toBe(500)
    expect(jsonOf(response).data).toEqual({ message: 'internal error' })
    expect(response.body).not.toContain('SECRET')
    const err = expect.objectContaining({ message: 'SECRET /path at host' })
    expect(logged).toEqual([
      ['error', { requestId: 'request-1', operation: 'readWebhook', err }, expect.any(String)],
    ])
  })

  it('are logged without the fields of what is no error', async () => {
    const { response, logged } = await failing({ config: { password: 'hunter2' } })
    expect(response.status).toBe(500)
    expect(logged).toHaveLength(1)
    expect(JSON.stringify(logged)).not.toContain('hunter2')
  })

  it('are logged with their cause if the store is unavailable: the response is 503', async () => {
    const cause = new Error('db down')
    const { response, logged } = await failing(new HookswitchError('StoreUnavailable', 'no store', { cause }))
    expect(response.status).toBe(503)
    expect(response.body).not.toContain('db down')
    expect(logged).toEqual([
      ['warn', expect.objectContaining({ reason: 'no store (db down)' }), expect.any(String)],
    ])
  })

  it('are those of an invalid token if it is revoked meanwhile', async () => {
    const { response, send, webhook } = await failing(
      new HookswitchError('InvalidCredentials', 'invalid credentials'),
    )
    expect(response.status).toBe(401)
    expect(response).toEqual(await send('GET', webhook, { ...ID, token: 'wrong' }))
  })

  it.each([undefined, null, 'text', 5, Object.create(null)])(
    'are internal whatever is thrown: %j',
    async (thrown) => {
      expect((await failing(thrown)).response.status).toBe(500)
    },
  )

  it('do not fail a route that needs no token if the token that was sent cannot be checked', async () => {
    const { send, store } = await startService()
    for (const code of ['StoreUnavailable', 'Closing', 'Internal'] as const) {
      store.tokens.read = async () => {
        throw new HookswitchError(code, code)
      }
      const response = await send('GET', '/v1/webhooks', { token: 'x'.repeat(43) })
      expect(response.status).toBe(200)
      expect(jsonOf(response)).not.toHaveProperty('auth_token')
      expect((await send('GET', '/v1/token_auth', { token: 'x'.repeat(43) })).status).toBe(
        code === 'Internal' ? 500 : 503,
      )
    }
  })

  it('are JSON even if the clock is broken', async () => {
    const fail = () => {
      throw new Error('no clock')
    }
    const clock = { now: fail, monotonic: () => 0, sleep: async () => {}, yield: async () => {} }
    let isBroken = false
    const hs = createHookswitch({
      store: memoryStore(),
      clock: { ...clock, now: () => (isBroken ? fail() : NOW) },
    })
    isBroken = true
    const response = await hs.handle(request('GET', '/v1/webhooks'))
    expect(response.status).toBe(500)
    expect(jsonOf(response)).toMatchObject({ error: '500', message: 'internal_error', status: 'error' })
  })
})

describe('an operation on ids', () => {
  it('does not take a store that is unavailable for an id that nothing has', async () => {
    const { send, store, webhookId, webhook } = await startService()
    store.deliveries.webhookOf = async () => {
      throw new HookswitchError('StoreUnavailable', 'the store is unavailable')
    }
    const lookup = webhook.replace(/webhooks.*/, 'lookup')
    expect((await send('GET', `${lookup}?q=${webhookId}`)).status).toBe(503)
  })

  it('queries the store for no id that nothing can have', async () => {
    const { send, store, webhook } = await startService()
    const lookup = webhook.replace(/webhooks.*/, 'lookup')
    store.deliveries.webhookOf =
      store.deliveries.search =
      store.deliveries.delivery =
      store.deliveries.legs =
        async () => {
          throw new Error('the store is queried')
        }
    for (const id of ['%00', 'a%0Ab', 'x'.repeat(256)]) {
      const found = await send('GET', `${lookup}?q=${id}`)
      expect([found.status, jsonOf(found).data]).toEqual([200, []])
      expect((await send('GET', webhook.replace(/webhooks.*/, `calls/${id}/attempts`))).status).toBe(404)
    }
    expect((await send('GET', `${lookup}?q=`)).status).toBe(400)
  })
})

describe('an instance that closes while a request is authorized', () => {
  expectNothingUnhandled()

  it('looks nothing up: no read is under way that nobody awaits', async () => {
    const { hs, send, store } = await startService()
    const { lineage } = store.accounts
    const closings: Promise<void>[] = []
    Object.assign(store.accounts, {
      async lineage(id: string) {
        if (id === CHILD_ACCOUNT) closings.push(hs.close())
        return lineage(id)
      },
    })
    const response = await send('GET', `/v1/accounts/${CHILD_ACCOUNT}/lookup?q=webhook`)
    expect([response.status, closings.length]).toEqual([503, 1])
    await Promise.all(closings)
  })
})

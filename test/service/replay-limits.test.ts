/** Tests and replays send requests to somebody: over HTTP they are limited, for the host they are not. */
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { API_KEY, created, type Options, services, told } from './running.js'

const running = services()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

/** A webhook with one delivered event, and a clock that only the test moves. */
async function replayable(options: Options = {}) {
  const clock = manualClock()
  const sender = { send: async () => OK, close: async () => {} }
  const { hs, ask, webhook } = await running({ clock, sender, ...options })
  const id = await webhook('/hook')
  const path = `/v1/accounts/parent/webhooks/${id}`
  const delivered = told(hs, 'delivered')
  await hs.publish(created('call'))
  const { deliveryId } = (await delivered)[0]!
  const replay = () => ask('PUT', `${path}/replay`, { data: { delivery_id: deliveryId } })
  const test = () => ask('PUT', `${path}/test`)
  return { hs, ask, webhook, clock, id, path, deliveryId, replay, test }
}

describe('over HTTP', () => {
  it('the twenty-first at once is refused with 429, until a second has passed', async () => {
    const { replay, test, clock } = await replayable()
    for (let n = 0; n < 10; n += 1) {
      expect((await replay()).status).toBe(202)
      expect((await test()).status).toBe(202)
    }
    for (const asked of [replay, test]) {
      const refused = await asked()
      expect(refused.status).toBe(429)
      expect(refused.headers['retry-after']).toBe('1')
      expect(refused.json).toMatchObject({
        status: 'error',
        error: '429',
        message: 'too_many_requests',
        data: { message: expect.any(String) },
      })
      expect(refused.json.data).not.toHaveProperty('delivery_ids')
    }
    await clock.advance(1000)
    expect((await test()).status).toBe(202)
    expect((await replay()).status).toBe(429)
  })

  it('a refusal sends nothing, and says how long to wait', async () => {
    const limit = { replayBurst: 1, replayRefillPerSecond: 0.1 }
    const { hs, replay, clock, id } = await replayable(limit)
    await replay()
    await clock.settle()
    const before = await hs.webhooks.deliveries('parent', id)
    await clock.advance(2500)
    const refused = await replay()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '8'])
    await clock.settle()
    expect(await hs.webhooks.deliveries('parent', id)).toEqual(before)
  })

  it('each webhook has its own, and other requests have none', async () => {
    const { ask, webhook, replay, path } = await replayable({ replayBurst: 1 })
    await replay()
    expect((await replay()).status).toBe(429)
    const other = await webhook('/other')
    expect((await ask('PUT', `/v1/accounts/parent/webhooks/${other}/test`)).status).toBe(202)
    for (let n = 0; n < 30; n += 1) expect((await ask('GET', `${path}/attempts`)).status).toBe(200)
    expect((await ask('PUT', '/v1/api_auth', { data: { api_key: API_KEY } })).status).toBe(201)
  })

  it('nothing is counted of who has no right to ask', async () => {
    const { ask, hs, path, test } = await replayable({ replayBurst: 1 })
    const { token } = await hs.auth.signIn({ apiKey: 'o'.repeat(64) })
    for (let n = 0; n < 5; n += 1) {
      expect((await ask('PUT', `${path}/test`, { token })).status).toBe(403)
      expect((await ask('PUT', `${path}/test`, { token: 'none' })).status).toBe(401)
    }
    expect((await test()).status).toBe(202)
  })

  it('may be without limit', async () => {
    const { test, replay } = await replayable({ replayBurst: Number.POSITIVE_INFINITY })
    for (let n = 0; n < 25; n += 1) {
      expect((await test()).status).toBe(202)
      expect((await replay()).status).toBe(202)
    }
  })
})

describe('the host', () => {
  it('may test and replay as often as it likes, and takes nothing from who asks over HTTP', async () => {
    const { hs, id, deliveryId, test } = await replayable({ replayBurst: 1 })
    for (let n = 0; n < 40; n += 1) {
      await hs.webhooks.test('parent', id)
      await hs.webhooks.replay('parent', id, { deliveryId })
    }
    expect((await test()).status).toBe(202)
    expect((await test()).status).toBe(429)
    await hs.webhooks.test('parent', id)
  })
})

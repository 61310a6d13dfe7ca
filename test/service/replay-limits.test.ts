/** Tests and replays send requests to receivers: over HTTP they are rate-limited, for the host they are not. */
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { API_KEY, channelCreate, nextEvents, type ServiceOptions, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

/** A webhook with one delivered event, on a manual clock. */
async function harness(options: ServiceOptions = {}) {
  const clock = manualClock()
  const sender = { send: async () => OK, close: async () => {} }
  const { hs, callApi, createWebhook } = await startService({ clock, sender, ...options })
  const id = await createWebhook('/hook')
  const path = `/v1/accounts/parent/webhooks/${id}`
  const delivered = nextEvents(hs, 'delivered')
  await hs.publish(channelCreate('call'))
  const { deliveryId } = (await delivered)[0]!
  const replay = () => callApi('PUT', `${path}/replay`, { data: { delivery_id: deliveryId } })
  const test = () => callApi('PUT', `${path}/test`)
  return { hs, callApi, createWebhook, clock, id, path, deliveryId, replay, test }
}

describe('tests and replays over HTTP', () => {
  it('are rejected with 429 after a burst of twenty, until a second has passed', async () => {
    const { replay, test, clock } = await harness()
    for (let n = 0; n < 10; n += 1) {
      expect((await replay()).status).toBe(202)
      expect((await test()).status).toBe(202)
    }
    for (const send of [replay, test]) {
      const refused = await send()
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

  it('send nothing if rejected, and the response says how long to wait', async () => {
    const limit = { replayBurst: 1, replayRefillPerSecond: 0.1 }
    const { hs, replay, clock, id } = await harness(limit)
    await replay()
    await clock.settle()
    const before = await hs.webhooks.deliveries('parent', id)
    await clock.advance(2500)
    const refused = await replay()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '8'])
    await clock.settle()
    expect(await hs.webhooks.deliveries('parent', id)).toEqual(before)
  })

  it('have a limit per webhook, and other requests are not limited', async () => {
    const { callApi, createWebhook, replay, path } = await harness({ replayBurst: 1 })
    await replay()
    expect((await replay()).status).toBe(429)
    const other = await createWebhook('/other')
    expect((await callApi('PUT', `/v1/accounts/parent/webhooks/${other}/test`)).status).toBe(202)
    for (let n = 0; n < 30; n += 1) expect((await callApi('GET', `${path}/attempts`)).status).toBe(200)
    expect((await callApi('PUT', '/v1/api_auth', { data: { api_key: API_KEY } })).status).toBe(201)
  })

  it('have a limit per account where they are of all its webhooks, and counting is not limited', async () => {
    const { callApi, replay } = await harness({ replayBurst: 1 })
    const all = (account: string, data = {}) =>
      callApi('PUT', `/v1/accounts/${account}/replay`, { data }).then(({ status }) => status)
    expect([await all('parent'), await all('parent'), await all('child')]).toEqual([202, 429, 202])
    expect((await replay()).status).toBe(202)
    for (let n = 0; n < 5; n += 1) expect(await all('parent', { dry_run: true })).toBe(200)
  })

  it('have one limit per webhook, whether of one delivery or of many', async () => {
    const { callApi, replay, path } = await harness({ replayBurst: 1 })
    expect((await callApi('PUT', `${path}/replay`, { data: {} })).status).toBe(202)
    expect((await replay()).status).toBe(429)
  })

  it('are not counted for unauthorized callers', async () => {
    const { callApi, hs, path, test } = await harness({ replayBurst: 1 })
    const { token } = await hs.auth.signIn({ apiKey: 'o'.repeat(64) })
    for (let n = 0; n < 5; n += 1) {
      expect((await callApi('PUT', `${path}/test`, { token })).status).toBe(403)
      expect((await callApi('PUT', `${path}/test`, { token: 'none' })).status).toBe(401)
    }
    expect((await test()).status).toBe(202)
  })

  it('are unlimited with replayBurst: Infinity', async () => {
    const { test, replay } = await harness({ replayBurst: Number.POSITIVE_INFINITY })
    for (let n = 0; n < 25; n += 1) {
      expect((await test()).status).toBe(202)
      expect((await replay()).status).toBe(202)
    }
  })
})

describe('tests and replays of the host', () => {
  it('are not limited, and do not count towards the limit over HTTP', async () => {
    const { hs, id, deliveryId, test } = await harness({ replayBurst: 1 })
    for (let n = 0; n < 40; n += 1) {
      await hs.webhooks.test('parent', id)
      await hs.webhooks.replay('parent', id, deliveryId)
    }
    expect((await test()).status).toBe(202)
    expect((await test()).status).toBe(429)
    await hs.webhooks.test('parent', id)
  })
})

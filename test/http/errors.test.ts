/** Errors of requests. Their responses are in `test/golden`, the status of each code in `test/wire/error-body.test.ts`. */
import { createHookswitch, HookswitchError, memoryStore } from 'hookswitch'
import { notWritten } from 'hookswitch/store'
import { expect, it } from 'vitest'
import { MAX_BODY_BYTES } from '../../src/http/message.js'
import { CHILD_ACCOUNT, jsonOf, OWN_ACCOUNT, type RequestOptions } from './records.js'
import { startService } from './service.js'

it.each<[number, string, RequestOptions]>([
  [413, 'a declared size', { more: { bodyProblem: 'too_large' } }],
  [413, 'its size', { more: { body: new Uint8Array(MAX_BODY_BYTES + 1) } }],
  [408, 'a slow body', { more: { bodyProblem: 'too_slow' } }],
  [406, 'Accept', { headers: { accept: 'text/html' } }],
  [415, 'its content type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
])('a request is refused with %i for %s', async (status, _, sent) => {
  const { send, webhooks } = await startService()
  expect((await send('PUT', webhooks, sent)).status).toBe(status)
})

it.each([
  ['PUT', `/v1/accounts/${OWN_ACCOUNT}/reseller`],
  ['POST', '/v1/user_auth/recovery'],
  ['PUT', `/v1/accounts/${OWN_ACCOUNT}/users/u/user_auth`],
  ['GET', `/v1/accounts/${OWN_ACCOUNT}/users/u/photo`],
])('what other services have is 501: %s %s', async (method, url) => {
  const { send } = await startService()
  const response = await send(method, url)
  expect(response.status).toBe(501)
  expect(jsonOf(response)).toMatchObject({
    message: 'not_implemented',
    data: { message: 'not implemented' },
  })
})

it('a failure of an event is named as on the wire, with its place in a list', async () => {
  const { send } = await startService({ ingest: true })
  for (const [data, name] of [
    [{ hook: 'channel_create' }, 'call_id'],
    [[{ hook: 'channel_create' }, {}], '0.call_id'],
  ] as const) {
    const response = await send('PUT', `/v1/accounts/${OWN_ACCOUNT}/events`, { body: { data } })
    expect(Object.keys(jsonOf(response).data as object)).toContain(name)
  }
})

it.each([
  ['Conflict', 409, 'nobody', 200],
  ['Conflict', 409, 'another account', 20],
  ['StoreUnavailable', 503, 'nobody', 200],
  ['StoreUnavailable', 503, 'another account', 20],
] as const)(
  '%s (%i) in the middle of a long list, while %s publishes, tells how many events were accepted',
  async (code, status, other, count) => {
    const { send, store, hs } = await startService({ ingest: true })
    if (other !== 'nobody') {
      const event = { hook: 'channel_bridge', callId: 'c' }
      await hs.publish({ ...event, accountId: OWN_ACCOUNT })
      await hs.publish({ ...event, accountId: CHILD_ACCOUNT })
    }
    const { commit } = store.deliveries
    let accepted = 0
    store.deliveries.commit = async (group) => {
      const events = group.accepted.flatMap(({ events }) => events).length
      if (events > 0 && accepted === count) throw notWritten(new HookswitchError(code, 'SECRET'))
      accepted += events
      return commit(group)
    }
    const data = Array.from({ length: 250 }, (_, index) => ({ hook: 'channel_create', call_id: `c${index}` }))
    const response = await send('PUT', `/v1/accounts/${OWN_ACCOUNT}/events`, { body: { data } })
    expect(response.status).toBe(status)
    expect(jsonOf(response).data).toEqual({
      message: expect.not.stringContaining('SECRET'),
      accepted_events: count,
    })
  },
)

it('secrets of a malformed login are not echoed', async () => {
  const { send } = await startService()
  const data = { api_key: ['SECRET'], credentials: 987654321, account_realm: {}, realm: 'r' }
  for (const path of ['/v1/api_auth', '/v1/user_auth']) {
    const response = await send('PUT', path, { body: { data } })
    expect(response.status).toBe(400)
    expect(response.body).not.toMatch(/SECRET|987654321/)
    expect(response.headers['cache-control']).toBe('no-store')
  }
})

it('what an error repeats of a request is bounded, whatever its length', async () => {
  const { send, hs } = await startService()
  const long = 'n'.repeat(500_000)
  const erase = `/v1/accounts/${OWN_ACCOUNT}/erase`
  const response = await send('PUT', erase, { body: { data: { [long]: 1, [`a${long}`]: 1 } } })
  expect(response.status).toBe(400)
  expect(response.body.length).toBeLessThan(2_000)
  const calls: (() => unknown)[] = [
    () => hs.publish({ hook: 'channel_create', accountId: OWN_ACCOUNT, callId: 'c', [long]: 1 } as never),
    () => hs.publish({ hook: long, accountId: OWN_ACCOUNT, callId: 'c' } as never),
    () => hs.webhooks.create(OWN_ACCOUNT, { [long]: 1 } as never),
    () => hs.webhooks.read(OWN_ACCOUNT, long),
    () => hs.accounts.create({ name: 'a', realm: 'r.example', [long]: 1 } as never),
    () => hs.accounts.get(long),
    () => hs.setLimits({ [long]: 1 } as never),
    () => hs.close({ [long]: 1 } as never),
    () => hs.events.on(long as never, () => {}),
    () => createHookswitch({ store: memoryStore(), [long]: 1 } as never),
    () => createHookswitch({ store: memoryStore(), trustProxy: [long] }),
  ]
  for (const [index, call] of calls.entries()) {
    const thrown = await Promise.resolve()
      .then(call)
      .then(
        () => undefined,
        (error: HookswitchError) => error,
      )
    const { code, message, field = '', id = '', failures = [] } = thrown ?? ({} as HookswitchError)
    expect(code, String(index)).toMatch(/^[A-Z]/)
    expect(JSON.stringify([message, field, id, failures]).length, String(index)).toBeLessThan(15_000)
  }
})

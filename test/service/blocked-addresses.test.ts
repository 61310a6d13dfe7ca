/** The delivery guarantee: no request ever goes to a blocked address. */
import { memoryStore } from 'hookswitch'
import type { Resolution } from 'hookswitch/adapter'
import { redirect, scriptedReceiver, status } from 'hookswitch/testkit'
import { afterEach, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const canary = scriptedReceiver()
afterEach(() => canary.close())

const resolverOf = (...results: readonly (readonly string[])[]) => {
  let lookups = 0
  return {
    lookups: () => lookups,
    async resolve(): Promise<Resolution> {
      const addresses = results[Math.min(lookups, results.length - 1)]!
      lookups += 1
      return { kind: 'addresses', addresses }
    },
    close() {},
  }
}

it('a redirect is never followed, wherever it leads', async () => {
  const { hs, receiver, createWebhook } = await startService()
  await canary.start()
  const targets = [
    canary.url('/internal'),
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    '/elsewhere',
  ]
  receiver.on(
    '/hook',
    targets.map((target, index) => redirect(target, [301, 302, 307, 308][index]!)),
  )
  await createWebhook('/hook', { retries: targets.length - 1 })
  const exhausted = nextEvents(hs, 'exhausted')
  await hs.publish(channelCreate('call'))
  expect(await exhausted).toMatchObject([{ attempts: targets.length }])
  expect(canary.connections).toBe(0)
  expect(receiver.requests.map(({ path }) => path)).toEqual(targets.map(() => '/hook'))
  const attempts = await hs.webhooks.attempts('parent')
  expect(attempts.map(({ clientError }) => clientError)).toEqual(targets.map(() => 'redirect'))
})

it('a webhook created while local addresses were allowed is no longer called', async () => {
  const store = memoryStore()
  const secret = 'a secret shared by both instances'
  const before = await startService({ store, secret })
  await canary.start()
  const { id } = await before.hs.webhooks.create('parent', {
    name: 'old',
    uri: canary.url('/'),
    hook: 'all',
    retries: 2,
  })
  await before.close()

  const { hs, callApi } = await startService({ store, secret, allowLocal: false })
  const exhausted = nextEvents(hs, 'exhausted')
  await hs.publish(channelCreate('call'))
  await exhausted
  expect(canary.connections).toBe(0)
  const { json } = await callApi('GET', `/v1/accounts/parent/webhooks/${id}/attempts`)
  expect(json.data).toHaveLength(3)
  for (const attempt of json.data)
    expect(attempt).toMatchObject({ reason: 'kazoo http client error', client_error: 'blocked_address' })
  const again = await callApi('PUT', '/v1/accounts/parent/webhooks', {
    data: { name: 'new', uri: canary.url('/'), hook: 'all' },
  })
  expect(again.json.data).toMatchObject({ uri: { error: { message: 'invalid client URL' } } })
})

it('a name with one blocked address is not called, whatever its other addresses are', async () => {
  await canary.start()
  for (const addresses of [
    ['127.0.0.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
  ]) {
    const { hs } = await startService({ allowLocal: false, resolver: resolverOf(addresses) })
    const uri = canary.url('/').replace('127.0.0.1', 'hooks.example.com')
    await hs.webhooks.create('parent', { name: 'name', uri, hook: 'all', retries: 0 })
    const attempt = nextEvents(hs, 'attempt')
    await hs.publish(channelCreate('call'))
    expect(await attempt, addresses.join()).toMatchObject([{ clientError: 'blocked_address' }])
  }
  expect(canary.connections).toBe(0)
})

it('a name whose addresses change between attempts is checked each time', async () => {
  await canary.start()
  canary.on('*', [status(500, { headers: { connection: 'close' } })])
  const resolver = resolverOf(['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1'])
  const { hs } = await startService({ resolver })
  const uri = canary.url('/').replace('127.0.0.1', 'hooks.example.com')
  await hs.webhooks.create('parent', { name: 'name', uri, hook: 'all', retries: 2 })
  const attempts = nextEvents(hs, 'attempt', 3)
  await hs.publish(channelCreate('call'))
  expect((await attempts).map(({ status: code, clientError }) => code ?? clientError)).toEqual([
    500,
    'blocked_address',
    500,
  ])
  expect(resolver.lookups()).toBe(3)
  expect(canary.requests.map(({ headers }) => headers.host)).toEqual([1, 2].map(() => new URL(uri).host))
})

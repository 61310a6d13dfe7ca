/** Faults of listeners, loggers, directories, policies and senders of the host affect nothing else. */
import { custom, type Directory, type PolicyFunction } from 'hookswitch'
import { manualClock, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { API_KEY, channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

expectNothingUnhandled()

describe('a listener', () => {
  it('that throws or rejects stops neither other listeners nor deliveries', async () => {
    const { hs, receiver, createWebhook } = await startService()
    receiver.on('/hook', [status(500), status(200)])
    await createWebhook('/hook')
    const received: string[] = []
    for (const name of ['event', 'channel_create', 'attempt', 'delivered'] as const) {
      hs.events.on(name, () => {
        throw new Error('the listener is broken')
      })
      hs.events.on(name, async () => {
        throw new Error('the listener is broken, asynchronously')
      })
      hs.events.on(name, () => Promise.reject('not an error'))
      hs.events.on(name, () => void received.push(name))
    }
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call'))
    await delivered
    expect(received.sort()).toEqual(['attempt', 'attempt', 'channel_create', 'delivered', 'event'])
  })

  it('cannot change the payload', async () => {
    const { hs, receiver, createWebhook } = await startService()
    await createWebhook('/hook')
    const vandal = (payload: object) => {
      for (const key of Object.keys(payload)) Reflect.set(payload, key, 'vandalised')
    }
    hs.events.on('channel_create', vandal)
    hs.events.on('attempt', vandal)
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call', { callerIdName: 'Ada' }))
    await delivered
    expect(JSON.parse((await receiver.next()).body)).toMatchObject({ call_id: 'call', caller_id_name: 'Ada' })
    expect(await hs.webhooks.attempts('parent')).toMatchObject([{ result: 'success', callId: 'call' }])
  })
})

describe('a logger', () => {
  it('that throws or rejects affects nothing else', async () => {
    let lines = 0
    const level = () => {
      lines += 1
      if (lines % 2 === 0) return Promise.reject(new Error('the log is full, asynchronously')) as never
      throw new Error('the log is full')
    }
    const { hs, createWebhook, callApi } = await startService({
      log: { debug: level, info: level, warn: level, error: level },
    })
    await createWebhook('/hook')
    hs.events.on('event', () => {
      throw new Error('logged')
    })
    const delivered = nextEvents(hs, 'delivered', 3)
    for (const call of ['a', 'b', 'c']) await hs.publish(channelCreate(call))
    await delivered
    expect(lines).toBeGreaterThan(2)
    expect((await callApi('GET', '/v1/accounts/parent/webhooks')).status).toBe(200)
  })
})

describe('a directory', () => {
  const account = {
    id: 'parent',
    name: 'Parent',
    realm: 'parent.example.com',
    enabled: true,
    language: 'en-us',
    isReseller: false,
    createdMs: 0,
    modifiedMs: 0,
  }
  const healthy: Directory = {
    lineage: async (id) => (id === 'parent' ? [account] : []),
    descendants: async () => [],
    accountsByRealm: async () => [account],
    accountsByName: async () => [account],
    holderOfApiKey: async (key) =>
      key === API_KEY ? { accountId: 'parent', credentialVersion: '1' } : undefined,
    holderOfCredentials: async () => undefined,
    credentialVersion: async () => '1',
    readApiKey: async () => API_KEY,
  }

  const broken = new Error('SELECT failed on db7.internal')
  const FAILURES: readonly (readonly [how: string, fail: () => unknown])[] = [
    [
      'throws',
      () => {
        throw broken
      },
    ],
    ['rejects', () => Promise.reject(broken)],
    ['returns an invalid value', () => Promise.resolve('nonsense')],
    ['returns undefined', () => Promise.resolve(undefined)],
  ]

  it.each(FAILURES)('that %s fails only the requests that need it', async (_how, fail) => {
    let failing = false
    const methods = Object.entries(healthy) as [string, (...args: unknown[]) => unknown][]
    const directory = Object.fromEntries(
      methods.map(([name, method]) => [
        name,
        (...args: unknown[]) => (failing && name !== 'credentialVersion' ? fail() : method(...args)),
      ]),
    ) as unknown as Directory
    const { hs, receiver, createWebhook, callApi } = await startService({ directory })
    await createWebhook('/hook')
    failing = true
    const login = await callApi('PUT', '/v1/user_auth', {
      data: { credentials: 'a'.repeat(32), account_realm: 'x' },
    })
    expect([login.status, login.headers['retry-after']]).toEqual([503, '1'])
    expect(login.text).not.toMatch(/SELECT|db7\.internal|nonsense/)
    expect((await callApi('GET', '/v1/accounts/unseen/webhooks')).status).toBe(503)
    await expect(hs.publish({ ...channelCreate('call'), accountId: 'unseen' })).rejects.toMatchObject({
      code: 'StoreUnavailable',
    })
    failing = false
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call'))
    await delivered
    expect(receiver.requests).toHaveLength(1)
    expect((await callApi('GET', '/v1/accounts/parent/webhooks')).status).toBe(200)
  })
})

describe('a policy function', () => {
  const POLICIES: readonly (readonly [how: string, policy: PolicyFunction])[] = [
    [
      'throws',
      () => {
        throw new Error('the policy is broken')
      },
    ],
    ['returns no number', () => Number.NaN],
    ['returns a negative number', () => -5],
    ['returns a promise', () => Promise.resolve(1) as never],
  ]

  it.each(POLICIES)('that %s affects neither its delivery nor others', async (_how, policy) => {
    const retryPolicy = custom('mine')
    const { hs, receiver, createWebhook } = await startService({ retryPolicy, policies: { mine: policy } })
    receiver.on('/fails', [status(500), status(200)])
    const fails = await createWebhook('/fails', { retries: 1 })
    await createWebhook('/works')
    const attempt = nextEvents(hs, 'attempt', 2)
    await hs.publish(channelCreate('call'))
    await attempt
    await receiver.received(({ path }) => path === '/works')
    const [delivery] = await hs.webhooks.deliveries('parent', fails)
    // It ended or has a finite due time: it is neither lost nor stuck.
    if (delivery!.state === 'waiting') expect(Number.isFinite(delivery!.dueMs)).toBe(true)
    else expect(delivery!.state).toMatch(/^(exhausted|delivered|in_flight)$/)
    expect(await hs.webhooks.explain('parent', delivery!.id)).toMatch(/\.$/)
  })

  it('that returns null ends the delivery', async () => {
    const { hs, receiver, createWebhook } = await startService({
      retryPolicy: custom('mine'),
      policies: { mine: () => null },
    })
    receiver.on('/fails', [status(500)])
    await createWebhook('/fails', { retries: 5 })
    const exhausted = nextEvents(hs, 'exhausted')
    await hs.publish(channelCreate('call'))
    expect(await exhausted).toMatchObject([{ attempts: 1 }])
  })
})

describe('a sender', () => {
  it('that throws or rejects is an internal fault: the delivery is retried and not charged', async () => {
    let sent = 0
    const clock = manualClock()
    const { hs, createWebhook } = await startService({
      clock,
      sender: {
        send() {
          sent += 1
          if (sent === 1) throw new Error('the sender is broken')
          if (sent === 2) return Promise.reject(new Error('the sender is broken, asynchronously'))
          return Promise.resolve({
            kind: 'response',
            status: 200,
            headers: [],
            body: '',
            bodyEnd: 'complete',
          })
        },
        close: async () => {},
      },
    })
    const id = await createWebhook('/hook', { retries: 0 })
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call'))
    await clock.runUntil(() => sent === 3, { limitMs: 60_000 })
    expect(await delivered).toMatchObject([{ attempts: 3 }])
    const attempts = await hs.webhooks.attempts('parent', id, { ascending: true })
    expect(attempts.map(({ attempt, clientError, result }) => [attempt, clientError, result])).toEqual([
      [1, 'own_fault', 'failure'],
      [2, 'own_fault', 'failure'],
      [3, undefined, 'success'],
    ])
  })
})

/** What the host brings may fail: it hurts itself, and nobody else. */
import { custom, type Directory, type PolicyFunction } from 'hookswitch'
import { manualClock, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { nothingUnhandled } from '../unhandled.js'
import { API_KEY, created, services, told } from './running.js'

const running = services()

nothingUnhandled()

describe('a listener', () => {
  it('that throws, at once or later, stops neither the others nor the deliveries', async () => {
    const { hs, receiver, webhook } = await running()
    receiver.on('/hook', [status(500), status(200)])
    await webhook('/hook')
    const heard: string[] = []
    for (const name of ['event', 'channel_create', 'attempt', 'delivered'] as const) {
      hs.events.on(name, () => {
        throw new Error('the listener is broken')
      })
      hs.events.on(name, async () => {
        throw new Error('the listener is broken, later')
      })
      hs.events.on(name, () => Promise.reject('no error at all'))
      hs.events.on(name, () => void heard.push(name))
    }
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call'))
    await delivered
    expect(heard.sort()).toEqual(['attempt', 'attempt', 'channel_create', 'delivered', 'event'])
  })

  it('that changes what it is told changes nothing of ours', async () => {
    const { hs, receiver, webhook } = await running()
    await webhook('/hook')
    const vandal = (payload: object) => {
      for (const key of Object.keys(payload)) Reflect.set(payload, key, 'vandalised')
    }
    hs.events.on('channel_create', vandal)
    hs.events.on('attempt', vandal)
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call', { callerIdName: 'Ada' }))
    await delivered
    expect(JSON.parse((await receiver.next()).body)).toMatchObject({ call_id: 'call', caller_id_name: 'Ada' })
    expect(await hs.webhooks.attempts('parent')).toMatchObject([{ result: 'success', callId: 'call' }])
  })
})

describe('a logger', () => {
  it('that throws, at once or later, hurts nobody', async () => {
    let lines = 0
    const level = () => {
      lines += 1
      if (lines % 2 === 0) return Promise.reject(new Error('the log is full, later')) as never
      throw new Error('the log is full')
    }
    const { hs, webhook, ask } = await running({
      log: { debug: level, info: level, warn: level, error: level },
    })
    await webhook('/hook')
    hs.events.on('event', () => {
      throw new Error('logged')
    })
    const delivered = told(hs, 'delivered', 3)
    for (const call of ['a', 'b', 'c']) await hs.publish(created(call))
    await delivered
    expect(lines).toBeGreaterThan(2)
    expect((await ask('GET', '/v1/accounts/parent/webhooks')).status).toBe(200)
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
      'throws at once',
      () => {
        throw broken
      },
    ],
    ['rejects', () => Promise.reject(broken)],
    ['answers nonsense', () => Promise.resolve('nonsense')],
    ['answers nothing', () => Promise.resolve(undefined)],
  ]

  it.each(FAILURES)('that %s hurts only the request that asked', async (_how, fail) => {
    let failing = false
    const answers = Object.entries(healthy) as [string, (...args: unknown[]) => unknown][]
    const directory = Object.fromEntries(
      answers.map(([name, answer]) => [
        name,
        (...args: unknown[]) => (failing && name !== 'credentialVersion' ? fail() : answer(...args)),
      ]),
    ) as unknown as Directory
    const { hs, receiver, webhook, ask } = await running({ directory })
    await webhook('/hook')
    failing = true
    const login = await ask('PUT', '/v1/user_auth', {
      data: { credentials: 'a'.repeat(32), account_realm: 'x' },
    })
    expect([login.status, login.headers['retry-after']]).toEqual([503, '1'])
    expect(login.text).not.toMatch(/SELECT|db7\.internal|nonsense/)
    expect((await ask('GET', '/v1/accounts/unseen/webhooks')).status).toBe(503)
    await expect(hs.publish({ ...created('call'), accountId: 'unseen' })).rejects.toMatchObject({
      code: 'StoreUnavailable',
    })
    failing = false
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call'))
    await delivered
    expect(receiver.requests).toHaveLength(1)
    expect((await ask('GET', '/v1/accounts/parent/webhooks')).status).toBe(200)
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
    ['answers no number', () => Number.NaN],
    ['answers less than nothing', () => -5],
    ['answers a promise', () => Promise.resolve(1) as never],
  ]

  it.each(POLICIES)('that %s hurts neither its delivery nor others', async (_how, policy) => {
    const retryPolicy = custom('mine')
    const { hs, receiver, webhook } = await running({ retryPolicy, policies: { mine: policy } })
    receiver.on('/fails', [status(500), status(200)])
    const fails = await webhook('/fails', { retries: 1 })
    await webhook('/works')
    const attempt = told(hs, 'attempt', 2)
    await hs.publish(created('call'))
    await attempt
    await receiver.received(({ path }) => path === '/works')
    const [delivery] = await hs.webhooks.deliveries('parent', fails)
    // It ended, or is tried again at a moment that exists: it is neither lost nor stuck.
    if (delivery!.state === 'waiting') expect(Number.isFinite(delivery!.dueMs)).toBe(true)
    else expect(delivery!.state).toMatch(/^(exhausted|delivered|in_flight)$/)
    expect(await hs.webhooks.explain('parent', delivery!.id)).toMatch(/\.$/)
  })

  it('that answers null ends the delivery', async () => {
    const { hs, receiver, webhook } = await running({
      retryPolicy: custom('mine'),
      policies: { mine: () => null },
    })
    receiver.on('/fails', [status(500)])
    await webhook('/fails', { retries: 5 })
    const exhausted = told(hs, 'exhausted')
    await hs.publish(created('call'))
    expect(await exhausted).toMatchObject([{ attempts: 1 }])
  })
})

describe('a sender', () => {
  it('that throws or rejects is a fault of ours: the delivery is not charged, and tried again', async () => {
    let sent = 0
    const clock = manualClock()
    const { hs, webhook } = await running({
      clock,
      sender: {
        send() {
          sent += 1
          if (sent === 1) throw new Error('the sender is broken')
          if (sent === 2) return Promise.reject(new Error('the sender is broken, later'))
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
    const id = await webhook('/hook', { retries: 0 })
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call'))
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

/** What became of a call, number, event, delivery or webhook, over HTTP, on all stores. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HookswitchOptions, memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { type RunningService, serviceFixture } from './service-fixture.js'

const server = await postgresForTests()

const STORES: readonly (readonly [name: string, make: () => Store])[] = [
  ['memory', memoryStore],
  [
    'SQLite',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'why-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      return sqliteStore({ path: join(folder, 'calls.db'), inThread: true })
    },
  ],
  ...(server
    ? [
        [
          'PostgreSQL',
          () =>
            postgresStore({ connectionString: server.url, schema: server.freshSchema(), maxConnections: 3 }),
        ] as const,
      ]
    : []),
]

const SECRET = 'a secret of the service'
const start = serviceFixture()

const startWith = (make: () => Store, options: Partial<HookswitchOptions> = {}) =>
  start({
    store: make() as ReturnType<typeof memoryStore>,
    secret: SECRET,
    operators: ['parent'],
    ...options,
  })

/** Asks for all accounts, or for one. */
async function ask(service: RunningService, q: string, accountId?: string, token?: string) {
  const path = accountId === undefined ? '/v1/system/why' : `/v1/accounts/${accountId}/why`
  const response = await service.callApi('PUT', path, { data: { q }, ...(token !== undefined && { token }) })
  expect(response.status, response.text).toBe(200)
  return response.json.data
}

// biome-ignore lint/suspicious/noExplicitAny: responses are read as plain data.
const namesOf = (event: any, why: string): string[] =>
  event.unmatched
    .filter((reason: { why: string }) => reason.why === why)
    .flatMap(({ webhooks }: { webhooks: { name: string }[] }) => webhooks.map(({ name }) => name))

describe.each(STORES)('why, %s', (_, make) => {
  it('says what was accepted, who got it, and why others did not', async () => {
    const service = await startWith(make)
    const { hs, receiver } = service
    const settings = { uri: receiver.url('/hook'), retries: 0 }
    const created = await hs.webhooks.create('child', {
      ...settings,
      name: 'creates',
      hook: 'channel_create',
    })
    await hs.webhooks.create('child', { ...settings, name: 'off', hook: 'all', enabled: false })
    await hs.webhooks.create('child', {
      ...settings,
      name: 'no legs',
      hook: 'all',
      includeInternalLegs: false,
    })
    await hs.webhooks.create('child', {
      ...settings,
      name: 'sales',
      hook: 'all',
      filter: { exact: { caller_id_number: '42' } },
    })
    await hs.webhooks.create('parent', { ...settings, name: 'above', hook: 'all' })
    await clocksApart()
    const call = { accountId: 'child', callId: 'leg-1', isInternalLeg: true, callerIdNumber: '+49 30 123456' }
    const wanted = await hs.publish({ ...call, hook: 'channel_create' }, { source: 'asterisk 10.0.0.1:5038' })
    const unwanted = await hs.publish(
      { ...call, hook: 'channel_answer' },
      { source: 'asterisk 10.0.0.1:5038' },
    )
    await until(async () => (await hs.webhooks.attempts('child', created.id, { limit: 1 })).length > 0)

    for (const q of ['leg-1', '004930123456', '+49 (30) 123-456']) {
      const { calls, other_calls, truncated } = await ask(service, q)
      expect([calls.length, other_calls, truncated]).toEqual([1, [], false])
      expect(calls[0]).toMatchObject({ account_id: 'child', account_name: 'Child', call_id: 'leg-1' })
      const [first, second] = calls[0].events
      expect(first).toMatchObject({ id: wanted.eventId, hook: 'channel_create', sequence: 1, wanted: true })
      expect(first.source).toBe('asterisk 10.0.0.1:5038')
      expect(first.deliveries).toHaveLength(1)
      expect(first.deliveries[0]).toMatchObject({
        hook_name: 'creates',
        state: 'delivered',
        explain: 'Delivered after 1 attempt.',
        explanation: { code: 'delivered', attempts: 1 },
      })
      expect(second).toMatchObject({
        id: unwanted.eventId,
        hook: 'channel_answer',
        sequence: 2,
        wanted: false,
      })
      expect(second.source).toBe('asterisk 10.0.0.1:5038')
      expect(namesOf(second, 'hook')).toEqual(['creates'])
      for (const event of [first, second]) {
        expect(namesOf(event, 'disabled')).toEqual(['off'])
        expect(namesOf(event, 'internal_leg')).toEqual(['no legs'])
        expect(namesOf(event, 'filter')).toEqual(['sales'])
        expect(namesOf(event, 'account')).toEqual(['above'])
      }
    }

    const byEvent = await ask(service, unwanted.eventId)
    expect(byEvent.calls[0].events.map(({ id }: { id: string }) => id)).toEqual([unwanted.eventId])
    const deliveryId = (await ask(service, wanted.eventId)).calls[0].events[0].deliveries[0].id
    const byDelivery = await ask(service, deliveryId)
    expect(byDelivery.delivery).toMatchObject({ id: deliveryId, hook_name: 'creates' })
    expect(byDelivery.calls[0].events.map(({ id }: { id: string }) => id)).toEqual([wanted.eventId])
    const { webhook } = await ask(service, created.id)
    expect(webhook).toMatchObject({ name: 'creates', hook: 'channel_create', enabled: true })
    expect(webhook.deliveries.map(({ id }: { id: string }) => id)).toEqual([deliveryId])
    expect(webhook.unmatched).toMatchObject([{ id: unwanted.eventId, why: 'hook', hook: 'channel_answer' }])
    expect(await ask(service, 'unknown')).toEqual({ calls: [], other_calls: [], truncated: false })
  })

  it('shows an account what is its own', async () => {
    const service = await startWith(make)
    const { hs, receiver } = service
    const settings = { uri: receiver.url('/hook'), hook: 'channel_create', retries: 0 }
    await hs.webhooks.create('parent', { ...settings, name: 'above', includeSubaccounts: true })
    const { id: ownId } = await hs.webhooks.create('child', { ...settings, name: 'own' })
    const call = { accountId: 'child', callId: 'leg-1', from: '1001@x' }
    const source = 'asterisk 10.0.0.1:5038'
    await hs.publish({ ...call, hook: 'channel_create' }, { source })
    await hs.publish({ ...call, hook: 'channel_answer' }, { source })
    const { token: child } = await hs.auth.signIn({ apiKey: 'c'.repeat(64) })
    const { token: other } = await hs.auth.signIn({ apiKey: 'o'.repeat(64) })
    for (const q of ['leg-1', '1001']) {
      const [own] = (await ask(service, q, 'child', child)).calls
      expect(own.events.map(({ wanted }: { wanted: boolean }) => wanted)).toEqual([true, false])
      expect(JSON.stringify(own)).not.toContain('above')
      expect(JSON.stringify(own)).not.toContain('10.0.0.1')
      expect((await ask(service, q, 'other', other)).calls).toEqual([])
    }
    const { unmatched } = (await ask(service, ownId, 'child', child)).webhook
    expect(unmatched).toMatchObject([{ hook: 'channel_answer' }])
    expect(JSON.stringify(unmatched)).not.toContain('10.0.0.1')
    // What the webhook above got, and nothing that no webhook wanted.
    const [above] = (await ask(service, 'leg-1', 'parent')).calls
    expect(above.events).toHaveLength(1)
    expect(JSON.stringify(above)).not.toContain('own')
    const everything = await ask(service, 'leg-1')
    expect(everything.calls[0].events[0].deliveries).toHaveLength(2)
    expect(everything.calls[0].events[0].source).toBe(source)
    for (const [path, token] of [
      ['/v1/accounts/child/why', other],
      ['/v1/system/why', child],
    ] as const) {
      const response = await service.callApi('PUT', path, { token, data: { q: 'leg-1' } })
      expect(response.status).toBe(403)
    }
  })

  it('erases what it knows of a number or call', async () => {
    const service = await startWith(make)
    const { hs } = service
    for (const callId of ['a', 'b'])
      await hs.publish({
        hook: 'channel_create',
        accountId: 'child',
        callId,
        callerIdNumber: `+4930000${callId === 'a' ? 1 : 2}`,
      })
    const shown = async (q: string) =>
      (await ask(service, q)).calls.map(({ call_id }: { call_id: string }) => call_id)
    expect(await shown('+49300001')).toEqual(['a'])
    // Noted, and not written yet.
    const noted = { accountId: 'child', callId: 'c', callerIdNumber: '+49300003' }
    await hs.publish({ ...noted, hook: 'channel_create' })
    expect(await hs.erase({ accountId: 'child', number: '+49300003' })).toMatchObject({ callIds: ['c'] })
    expect(await shown('c')).toEqual([])
    // Nobody wanted it, so that only the index knows the number.
    expect(await hs.erase({ accountId: 'child', number: '+49300001' })).toMatchObject({ callIds: ['a'] })
    expect([await shown('+49300001'), await shown('a')]).toEqual([[], []])
    expect(await shown('b')).toEqual(['b'])
    await hs.erase({ accountId: 'child' })
    expect([await shown('+49300002'), await shown('b')]).toEqual([[], []])
  })
})

/** More than the times of two nodes may differ by. */
const clocksApart = () => new Promise((resolve) => setTimeout(resolve, 200))

describe('why', () => {
  it('says that a webhook was created, or changed, after the event', async () => {
    const service = await startWith(memoryStore)
    const { hs, receiver } = service
    const settings = { uri: receiver.url('/hook'), retries: 0 }
    const old = await hs.webhooks.create('child', { ...settings, name: 'old', hook: 'channel_create' })
    await hs.publish({ hook: 'channel_answer', accountId: 'child', callId: 'leg-1' })
    await clocksApart()
    await hs.webhooks.patch('child', old.id, { hook: 'channel_answer' })
    await hs.webhooks.create('child', { ...settings, name: 'new', hook: 'channel_answer' })
    const [event] = (await ask(service, 'leg-1')).calls[0].events
    expect([namesOf(event, 'changed_later'), namesOf(event, 'created_later')]).toEqual([['old'], ['new']])
    expect(event.source).toBe('application')
  })

  it('leaves out the older ones of large events, and says so', async () => {
    const service = await startWith(memoryStore)
    const { hs, receiver } = service
    const filter = { exact: { caller_id_number: '42' } }
    const settings = { uri: receiver.url('/hook'), retries: 0, hook: 'all' } as const
    await hs.webhooks.create('child', { ...settings, name: 'all' })
    await hs.webhooks.create('child', { ...settings, name: '42', filter })
    const publish = (callId: string, size: number) =>
      hs.publish({
        hook: 'channel_answer',
        accountId: 'child',
        callId,
        customChannelVars: { large: 'x'.repeat(size) },
      })
    for (let event = 0; event < 45; event += 1) await publish('large', 60_000)
    for (let event = 0; event < 45; event += 1) await publish('small', 10)
    const [small] = (await ask(service, 'small')).calls
    expect([small.events.length, small.truncated]).toEqual([45, false])
    const [large] = (await ask(service, 'large')).calls
    expect(large.truncated).toBe(true)
    expect(large.events.length).toBeGreaterThan(30)
    expect(large.events.length).toBeLessThan(41)
    expect(large.events.at(-1).sequence).toBe(45)
    for (const event of large.events) expect(namesOf(event, 'filter')).toEqual(['42'])
  })

  it('finds an event of a call with many legs and deliveries, and says that there are more legs', async () => {
    const service = await startWith(memoryStore)
    const { hs, receiver } = service
    const settings = { uri: receiver.url('/hook'), retries: 0, hook: 'all' } as const
    for (let index = 0; index < 7; index += 1)
      await hs.webhooks.create('child', { ...settings, name: `${index}` })
    const publish = (callId: string, otherLegCallId?: string) =>
      hs.publish({
        hook: 'channel_answer',
        accountId: 'child',
        callId,
        ...(otherLegCallId !== undefined && { otherLegCallId }),
      })
    const { eventId } = await publish('busy')
    for (let event = 0; event < 10; event += 1) await publish('busy')
    await publish('quiet')
    for (const first of ['busy', 'quiet'])
      for (let leg = 2; leg <= 10; leg += 1) await publish(`${first}-${leg}`, first)
    const [ofEvent] = (await ask(service, eventId)).calls
    expect(ofEvent.events.map(({ id }: { id: string }) => id)).toEqual([eventId])
    expect(ofEvent.events[0].deliveries).toHaveLength(7)
    const isTruncated = async () => (await ask(service, 'quiet')).calls[0].truncated
    expect(await isTruncated()).toBe(false)
    await publish('quiet-11', 'quiet')
    expect(await isTruncated()).toBe(true)
  })

  it('reads a bounded part of many deliveries and of large webhooks, and says so', async () => {
    const service = await startWith(memoryStore)
    const { hs, receiver } = service
    const settings = { uri: receiver.url('/hook'), retries: 0, hook: 'channel_create' } as const
    for (let index = 0; index < 60; index += 1)
      await hs.webhooks.create('child', {
        ...settings,
        name: `large ${index}`,
        customData: { large: 'x'.repeat(60_000) },
      })
    await hs.publish({ hook: 'channel_answer', accountId: 'child', callId: 'leg-1' })
    const [call] = (await ask(service, 'leg-1')).calls
    expect([call.truncated, call.events[0].unmatched[0].count]).toEqual([true, 50])
  })

  it('searches for one request of an account at a time', async () => {
    const store = memoryStore()
    const waiting: (() => void)[] = []
    const { calls } = store.callIndex
    const slow: typeof calls = async (query) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return calls(query)
    }
    const service = await startWith(() => ({ ...store, callIndex: { ...store.callIndex, calls: slow } }))
    const searches = Array.from({ length: 6 }, () => ask(service, '4930'))
    await until(() => waiting.length === 2)
    await service.callApi('GET', '/v1/accounts/child')
    // Each asks for a call and for a number.
    expect(waiting).toHaveLength(2)
    while (waiting.length > 0) {
      for (const finish of waiting.splice(0)) finish()
      await new Promise((resolve) => setImmediate(resolve))
      await service.callApi('GET', '/v1/accounts/child')
    }
    expect(await Promise.all(searches)).toHaveLength(6)
  })

  it('keeps no event that nobody wanted with a retention of 0', async () => {
    const service = await startWith(memoryStore, { unwantedRetentionSeconds: 0 })
    await service.hs.publish({ hook: 'channel_answer', accountId: 'child', callId: 'leg-1', from: '1001@x' })
    for (const q of ['leg-1', '1001']) expect((await ask(service, q)).calls).toEqual([])
  })

  it('names the source of events over HTTP, and refuses a wrong one', async () => {
    const service = await startWith(memoryStore, { ingest: true })
    const event = { hook_event: 'channel_answer', call_id: 'leg-1' }
    const accepted = await service.callApi('PUT', '/v1/accounts/child/events', { data: event })
    expect(accepted.status, accepted.text).toBe(202)
    expect((await ask(service, 'leg-1')).calls[0].events[0].source).toBe('http')
    for (const source of ['', 'x'.repeat(256), 7, '\0']) {
      const published = service.hs.publish(
        { hook: 'channel_answer', accountId: 'child', callId: 'leg-1' },
        { source: source as string },
      )
      await expect(published).rejects.toMatchObject({
        code: 'InvalidInput',
        failures: [{ path: 'source', message: 'must be a text of 1 to 255 characters' }],
      })
    }
  })

  it.each([[{}], [{ q: '' }], [{ q: 'x'.repeat(256) }], [{ q: 'x', p: 1 }], [{ q: ['x'] }]])(
    'refuses %j by its field',
    async (data) => {
      const service = await startWith(memoryStore)
      const response = await service.callApi('PUT', '/v1/system/why', { data })
      expect(response.status).toBe(400)
      expect(Object.keys(response.json.data)).toEqual(['p' in data ? 'p' : 'q'])
    },
  )

  it('writes no number and no name to the log', async () => {
    const lines: string[] = []
    const write = (fields: object, message: string) => void lines.push(JSON.stringify(fields) + message)
    const log = { debug: write, info: write, warn: write, error: write }
    const service = await startWith(memoryStore, { log, accessLog: true })
    await service.hs.publish({
      hook: 'channel_answer',
      accountId: 'child',
      callId: 'leg-1',
      from: '4930987654@x',
    })
    expect((await ask(service, '+4930987654')).calls).toHaveLength(1)
    expect(lines.some((line) => line.includes('/system/why'))).toBe(true)
    expect(lines.join('\n')).not.toContain('4930987654')
  })
})

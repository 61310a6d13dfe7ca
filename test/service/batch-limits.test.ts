/** The limits of one request with several events, through every door by which events arrive. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHookswitch, memoryStore } from 'hookswitch'
import { sqliteStore } from 'hookswitch/sqlite'
import { until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { burstOf, startPipeline } from '../adapters/telephony/source/burst.js'
import { withInbox } from '../support/inbox-store.js'
import { channelCreate, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const EVENTS = '/v2/accounts/parent/events'
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

/** A sender whose receivers answer at once; the calls and paths of its requests. */
function countingSender() {
  const sent: string[] = []
  const sender = {
    async send({ url, body }: { readonly url: string; readonly body: string | undefined }) {
      sent.push(`${JSON.parse(body!).call_id} ${new URL(url).pathname}`)
      return OK
    },
    close: async () => {},
  }
  return { sent, sender }
}

const listOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ hook: 'channel_create', call_id: `call ${n}` }))

describe('the events of one request over HTTP', () => {
  it('are at most 1,000: above that the request is refused, and nothing is done', async () => {
    const { sent, sender } = countingSender()
    const { callApi, createWebhook } = await startService({ ingest: true, sender })
    await createWebhook('/hook')
    for (const count of [1_001, 10_000]) {
      const { status: code, json } = await callApi('PUT', EVENTS, { data: listOf(count) })
      const message = `${count} events are above the limit of 1000 for one request (option maxEventsPerRequest)`
      expect([code, json.message, json.data]).toEqual([
        413,
        'validation error',
        { data: { maxItems: { message, target: 1_000 } } },
      ])
    }
    const accepted = await callApi('PUT', EVENTS, { data: listOf(1_000) })
    expect([accepted.status, accepted.json.data.event_ids.length]).toEqual([202, 1_000])
    await until(() => sent.length === 1_000)
    expect(sent[0]).toBe('call 0 /hook')
  })

  it('are refused by their number before anybody looks at them', async () => {
    const { callApi } = await startService({ ingest: true, maxEventsPerRequest: 2 })
    const refused = await callApi('PUT', EVENTS, { data: [1, 2, 3] })
    expect(refused.status).toBe(413)
    expect((await callApi('PUT', EVENTS, { data: [1, 2] })).status).toBe(400)
  })

  it('make at most as many deliveries as the option allows', async () => {
    const { sent, sender } = countingSender()
    const { callApi, createWebhook, hs } = await startService({
      ingest: true,
      sender,
      maxDeliveriesPerRequest: 8,
    })
    for (let n = 0; n < 4; n++) await createWebhook(`/${n}`)
    const counted: number[] = []
    hs.events.on('event', ({ sequence }) => void counted.push(sequence))
    for (const count of [3, 20]) {
      const refused = await callApi('PUT', EVENTS, { data: listOf(count) })
      const message =
        'the events and their webhooks are above the limit of 8 deliveries for one request with several events (option maxDeliveriesPerRequest)'
      expect([refused.status, refused.json.data]).toEqual([
        413,
        { data: { maxItems: { message, target: 8 } } },
      ])
    }
    expect((await callApi('PUT', EVENTS, { data: listOf(2) })).status).toBe(202)
    await until(() => sent.length === 8)
    // The refused events took no number.
    expect(counted).toEqual([1, 1])
    hs.setLimits({ maxDeliveriesPerRequest: 80, maxEventsPerRequest: 20 })
    expect((await callApi('PUT', EVENTS, { data: listOf(20) })).status).toBe(202)
    expect((await callApi('PUT', EVENTS, { data: listOf(21) })).status).toBe(413)
    await until(() => sent.length === 88)
  })

  it('count with the webhooks that match, not with those that exist', async () => {
    const { callApi, createWebhook } = await startService({ ingest: true, maxDeliveriesPerRequest: 2 })
    await createWebhook('/all')
    for (let n = 0; n < 9; n++) await createWebhook(`/${n}`, { filter: { exact: { call_id: 'another' } } })
    expect((await callApi('PUT', EVENTS, { data: listOf(2) })).status).toBe(202)
    expect((await callApi('PUT', EVENTS, { data: listOf(3) })).status).toBe(413)
  })

  it('have bodies of a limited length, 4,096 characters for each delivery', async () => {
    const { callApi, createWebhook } = await startService({ ingest: true, maxDeliveriesPerRequest: 4 })
    const customData = { text: 'x'.repeat(8_000) }
    for (let n = 0; n < 2; n++) await createWebhook(`/${n}`, { customData: { ...customData, n: `${n}` } })
    const refused = await callApi('PUT', EVENTS, { data: listOf(2) })
    const message =
      'the bodies for the webhooks are above the limit of 16384 characters for one request with several events, 4096 for each delivery (option maxDeliveriesPerRequest)'
    expect([refused.status, refused.json.data]).toEqual([
      413,
      { data: { maxSize: { message, target: 16_384 } } },
    ])
    expect((await callApi('PUT', EVENTS, { data: listOf(1) })).status).toBe(202)
  })
})

it('one event is accepted whatever the number of its webhooks, over HTTP and from the host', async () => {
  const { sent, sender } = countingSender()
  const { callApi, createWebhook, hs } = await startService({
    ingest: true,
    sender,
    maxDeliveriesPerRequest: 1,
  })
  for (let n = 0; n < 10; n++) await createWebhook(`/${n}`)
  expect((await callApi('PUT', EVENTS, { data: listOf(1) })).status).toBe(202)
  expect((await callApi('PUT', EVENTS, { data: listOf(1)[0] })).status).toBe(202)
  await hs.publish(channelCreate('third'))
  await until(() => sent.length === 30)
})

it.each([1, 2, 20])('%i events of transactions of the host are relayed in groups that fit', async (count) => {
  const { sent, sender } = countingSender()
  const inbox = withInbox(memoryStore())
  const groups: number[] = []
  const { commit } = inbox.store.deliveries
  const store = {
    ...inbox.store,
    deliveries: {
      ...inbox.store.deliveries,
      commit(group: Parameters<typeof commit>[0]) {
        for (const { events, deliveries } of group.accepted)
          if (events.length > 0) groups.push(deliveries.length)
        return commit(group)
      },
    },
  }
  const limits = { maxEventsPerRequest: 1, maxDeliveriesPerRequest: 7 }
  const { hs, createWebhook } = await startService({ sender, store, ...limits })
  for (let n = 0; n < 3; n++) await createWebhook(`/${n}`)
  const refused: unknown[] = []
  hs.events.on('event_refused', (event) => void refused.push(event))
  const tx = inbox.begin()
  for (let n = 0; n < count; n++) await hs.publish(channelCreate(`call ${n}`), { tx })
  inbox.commit(tx)
  await until(() => sent.length === 3 * count)
  expect(refused).toEqual([])
  expect(inbox.rows.size).toBe(0)
  expect(Math.max(...groups)).toBe(count === 1 ? 3 : 6)
  const calls = sent.filter((request) => request.endsWith('/0')).map((request) => request.split(' /')[0])
  expect(calls).toEqual(Array.from({ length: count }, (_, n) => `call ${n}`))
})

it('an entry of a transaction whose webhooks alone are too many for a group is relayed alone', async () => {
  const { sent, sender } = countingSender()
  const inbox = withInbox(memoryStore())
  const { hs, createWebhook } = await startService({
    sender,
    store: inbox.store,
    maxDeliveriesPerRequest: 2,
  })
  for (let n = 0; n < 20; n++) await createWebhook(`/${n}`)
  const tx = inbox.begin()
  for (const callId of ['a', 'b', 'c']) await hs.publish(channelCreate(callId), { tx })
  inbox.commit(tx)
  await until(() => sent.length === 60)
  expect(inbox.rows.size).toBe(0)
})

it('a source publishes one event at a time: no limit of a request refuses what a switch sends', async () => {
  const { sender } = countingSender()
  const limits = { maxEventsPerRequest: 1, maxDeliveriesPerRequest: 1 }
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true, sender, ...limits })
  cleanups.push(() => hs.close())
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  for (const n of [1, 2, 3])
    await hs.webhooks.create('acme', { name: `${n}`, uri: `http://127.0.0.1:9/${n}`, hook: 'all' })
  const { push, counts, close, rejected } = startPipeline(hs)
  push({ updates: burstOf(10), problems: [] })
  await until(() => counts().published === 40)
  await close(1_000)
  expect(rejected).toEqual([])
})

it('what was accepted before a restart is sent although the limits have become smaller', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-limits-'))
  cleanups.push(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'hooks.db')
  const silent = { send: () => new Promise<never>(() => {}), close: async () => {} }
  const open = () => sqliteStore({ path, inThread: true })
  const first = await startService({ store: open(), sender: silent as never, ingest: true })
  for (let n = 0; n < 5; n++) await first.createWebhook(`/${n}`)
  expect((await first.callApi('PUT', EVENTS, { data: listOf(4) })).status).toBe(202)
  await first.hs.close({ drainMs: 0 })
  const { sent, sender } = countingSender()
  const limits = { maxEventsPerRequest: 1, maxDeliveriesPerRequest: 1 }
  const second = await startService({ store: open(), sender, ingest: true, ...limits })
  await until(() => sent.length === 20)
  expect((await second.callApi('PUT', EVENTS, { data: listOf(2) })).status).toBe(413)
})

it.each([
  ['maxEventsPerRequest', [0, 10_001, 1.5, '5']],
  ['maxDeliveriesPerRequest', [0, 1_000_001, Number.NaN]],
] as const)('%s must be a whole number within its range', (option, values) => {
  for (const value of values)
    expect(() => createHookswitch({ store: memoryStore(), [option]: value } as never)).toThrow(option)
})

it('a refused request is counted with the number of its events', async () => {
  const counted: [string, number, unknown][] = []
  const metrics = {
    count: (name: string, count: number, label: unknown) => void counted.push([name, count, label]),
    observe() {},
    watch: () => () => {},
  }
  const { callApi } = await startService({ ingest: true, metrics: metrics as never, maxEventsPerRequest: 2 })
  await callApi('PUT', EVENTS, { data: listOf(3) })
  expect(counted).toContainEqual(['hookswitch_events_refused_total', 3, 'invalid'])
})

import { createHookswitch, errorCode, HookswitchError, type HookswitchOptions, memoryStore } from 'hookswitch'
import { gate, scriptedReceiver } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import type { DeliveryEvents } from '../../src/delivery/delivery-events.js'
import { withInbox } from '../support/inbox-store.js'

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function harness(options: Partial<Omit<HookswitchOptions, 'store'>> = {}) {
  const inbox = withInbox(memoryStore())
  const receiver = scriptedReceiver()
  await receiver.start()
  const logged: string[] = []
  const record = (_: object, message: string) => void logged.push(message)
  const log = { debug() {}, info() {}, warn: record, error: record }
  const hs = createHookswitch({ store: inbox.store, allowLocal: true, log, ...options })
  const refused: DeliveryEvents['event_refused'][] = []
  hs.events.on('event_refused', (event) => void refused.push(event))
  await hs.start()
  cleanups.push(() => receiver.close())
  cleanups.push(() => hs.close())
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const hook = await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'all' })
  const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body))
  return { hs, inbox, receiver, refused, logged, hook, bodies }
}

const event = (changes: object = {}) => ({
  hook: 'channel_create' as const,
  accountId: 'acme',
  callId: 'leg',
  ...changes,
})

describe('an event published in a transaction of the host', () => {
  it('is written when publish returns; after the commit it is delivered and emitted', async () => {
    const { hs, inbox, bodies } = await harness()
    const emitted: unknown[] = []
    hs.events.on('channel_create', ({ eventId, sequence }) => void emitted.push([eventId, sequence]))
    const tx = inbox.begin()
    const publishing = hs.publish(event({ callerIdNumber: '+15551234' }), { tx })
    expect(tx).toHaveLength(1)
    const { eventId } = await publishing
    expect([emitted, bodies()]).toEqual([[], []])
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(bodies()[0]).toMatchObject({
      event_id: eventId,
      sequence: 1,
      caller_id_number: '+15551234',
    })
    expect(emitted).toEqual([[eventId, 1]])
    expect(inbox.rows.size).toBe(0)
  })

  it('is never sent when the transaction is rolled back', async () => {
    const { hs, inbox, bodies } = await harness()
    await hs.publish(event({ callId: 'rolled back' }), { tx: inbox.begin() })
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(bodies()[0]).toMatchObject({ call_id: 'leg', sequence: 1 })
  })

  it('is found by hs.wake(), or by start() if it was staged before', async () => {
    const { hs, inbox, bodies } = await harness()
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    for (const entry of tx) inbox.rows.set(entry.id, entry)
    hs.wake()
    await expect.poll(() => bodies().length).toBe(1)
    await hs.publish(event({ callId: 'later' }), { tx })
    await hs.close()
    inbox.rows.set(tx[1]!.id, tx[1]!)
    const next = createHookswitch({ store: inbox.store, allowLocal: true })
    cleanups.push(() => next.close())
    await next.start()
    await expect.poll(() => inbox.rows.size).toBe(0)
  })

  it('is matched and numbered when the relay accepts it, in order', async () => {
    const { hs, inbox, receiver, bodies, hook } = await harness()
    const tx = inbox.begin()
    for (const request of ['1', '2', '3']) await hs.publish(event({ request }), { tx })
    await hs.publish(event({ callId: 'before' }))
    await hs.webhooks.patch('acme', hook.id, { uri: receiver.url('/moved') })
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(4)
    const moved = receiver.requests
      .filter(({ path }) => path === '/moved')
      .map(({ body }) => JSON.parse(body))
    const bodiesOfLeg = moved.filter((body) => body.call_id === 'leg')
    expect(bodiesOfLeg.map(({ request, sequence }) => [request, sequence])).toEqual([
      ['1', 1],
      ['2', 2],
      ['3', 3],
    ])
  })

  it('keeps its trace context', async () => {
    const { hs, inbox, receiver } = await harness()
    const tx = inbox.begin()
    await hs.publish(event(), { tx, traceparent: TRACE })
    inbox.commit(tx)
    await expect.poll(() => receiver.requests.length).toBe(1)
    expect(receiver.requests[0]!.headers.traceparent).toContain('4bf92f3577b34da6a3ce929d0e0e4736')
  })

  it('is a duplicate if its idempotency key was used before', async () => {
    const { hs, inbox, bodies, refused } = await harness()
    await hs.publish(event(), { idempotencyKey: 'key' })
    const tx = inbox.begin()
    await hs.publish(event(), { tx, idempotencyKey: 'key' })
    await hs.publish(event({ callId: 'other' }), { tx })
    inbox.commit(tx)
    await expect.poll(() => inbox.rows.size).toBe(0)
    await expect.poll(() => bodies().length).toBe(2)
    expect(refused).toEqual([])
  })

  it('is reported as refused if it can no longer be accepted, and does not block later events', async () => {
    const { hs, inbox, bodies, refused, logged } = await harness()
    await hs.accounts.create({ id: 'gone', name: 'Gone', realm: 'gone.example' })
    await hs.publish(event(), { idempotencyKey: 'key' })
    const tx = inbox.begin()
    const { eventId } = await hs.publish(event({ accountId: 'gone' }), { tx })
    await hs.publish(event({ callId: 'other' }), { tx, idempotencyKey: 'key' })
    await hs.publish(event({ callId: 'fine' }), { tx })
    tx.push({ id: 'broken', accountId: 'acme', event: 'no json' })
    await hs.accounts.remove('gone')
    inbox.commit(tx)
    await expect.poll(() => inbox.rows.size).toBe(0)
    await expect.poll(() => bodies().map((body) => body.call_id)).toEqual(['leg', 'fine'])
    expect(refused.map(({ accountId, code }) => [accountId, code])).toEqual([
      ['gone', 'NotFound'],
      ['acme', 'Conflict'],
      ['acme', 'InvalidInput'],
    ])
    expect(refused[0]).toMatchObject({ eventId, callId: 'leg' })
    expect(logged.filter((line) => line.includes('refused'))).toHaveLength(3)
  })

  it('waits while the store fails', async () => {
    const { hs, inbox, bodies, logged } = await harness()
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    inbox.failOnce(new HookswitchError('StoreUnavailable', 'temporarily unavailable'))
    inbox.failOnce(new HookswitchError('StoreUnavailable', 'still unavailable'))
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(logged.filter((line) => line.includes('retrying'))).toHaveLength(2)
  })

  it('takes part in the share of its webhook: above it the oldest waiting delivery expires', async () => {
    const { hs, inbox, receiver, hook } = await harness({ maxPendingPerWebhook: 2, inFlightPerEndpoint: 1 })
    const held = gate()
    receiver.on('/w', [held])
    const tx = inbox.begin()
    for (const callId of ['a', 'b', 'c', 'd']) await hs.publish(event({ callId }), { tx })
    inbox.commit(tx)
    const states = async () =>
      (await hs.webhooks.deliveries('acme', hook.id, { ascending: true })).map(({ state }) => state)
    await expect.poll(states).toEqual(['in_flight', 'expired', 'waiting', 'waiting'])
    held.release()
    await expect.poll(states).toEqual(['delivered', 'expired', 'delivered', 'delivered'])
  })

  it('is checked before it is written', async () => {
    const { hs, inbox } = await harness()
    const tx = inbox.begin()
    const publishes = [
      hs.publish(event({ hook: 'nonsense' }), { tx }),
      hs.publish(event({ callId: '' }), { tx }),
      hs.publish(event(), { tx, traceparent: 'nonsense' }),
      hs.publish(event({ customChannelVars: { long: 'x'.repeat(70_000) } }), { tx }),
    ]
    for (const publish of publishes) expect(await publish.catch(errorCode)).toBe('InvalidInput')
    expect(await hs.publish(event(), { tx: 'no transaction' }).catch(errorCode)).toBe('InvalidOption')
    expect(tx).toEqual([])
  })

  it('is rejected by a store without an inbox, and before start()', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    expect(await hs.publish(event(), { tx: [] }).catch(errorCode)).toBe('StoreUnavailable')
    await hs.start()
    cleanups.push(() => hs.close())
    expect(await hs.publish(event(), { tx: [] }).catch(errorCode)).toBe('Unsupported')
  })
})

import { createHookswitch, errorCode, HookswitchError, memoryStore } from 'hookswitch'
import { scriptedReceiver } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import type { RefusedEvent } from '../src/delivery/admit.js'
import { withInbox } from './inbox-store.js'

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function world(options: { readonly maxPending?: number } = {}) {
  const inbox = withInbox(memoryStore())
  const receiver = scriptedReceiver()
  await receiver.start()
  const logged: string[] = []
  const note = (_: object, message: string) => void logged.push(message)
  const log = { debug() {}, info() {}, warn: note, error: note }
  const hs = createHookswitch({ store: inbox.store, allowLocal: true, log, ...options })
  const refused: RefusedEvent[] = []
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
  hook: 'channel_create',
  accountId: 'acme',
  callId: 'leg',
  ...changes,
})

describe('an event in a transaction of the host', () => {
  it('is written when publish returns, delivered after the commit, and heard of then', async () => {
    const { hs, inbox, bodies } = await world()
    const heard: unknown[] = []
    hs.events.on('channel_create', ({ eventId, sequence }) => void heard.push([eventId, sequence]))
    const tx = inbox.begin()
    const publishing = hs.publish(event({ callerIdNumber: '+15551234' }), { tx })
    expect(tx).toHaveLength(1)
    const { eventId } = await publishing
    expect([heard, bodies()]).toEqual([[], []])
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(bodies()[0]).toMatchObject({
      event_id: eventId,
      sequence: 1,
      caller_id_number: '+15551234',
    })
    expect(heard).toEqual([[eventId, 1]])
    expect(inbox.rows.size).toBe(0)
  })

  it('never was when the transaction is rolled back', async () => {
    const { hs, inbox, bodies } = await world()
    await hs.publish(event({ callId: 'rolled back' }), { tx: inbox.begin() })
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(bodies()[0]).toMatchObject({ call_id: 'leg', sequence: 1 })
  })

  it('is found by hs.wake(), and what was staged before the start is found by the start', async () => {
    const { hs, inbox, bodies } = await world()
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    for (const entry of tx) inbox.rows.set(entry.id, entry)
    hs.wake()
    await expect.poll(() => bodies().length).toBe(1)
    await hs.publish(event({ callId: 'later' }), { tx })
    await hs.close()
    inbox.rows.set(tx[1]!.id, tx[1]!)
    const next = createHookswitch({ store: inbox.store, allowLocal: true, secret: 'x'.repeat(32) })
    cleanups.push(() => next.close())
    await next.start()
    await expect.poll(() => inbox.rows.size).toBe(0)
  })

  it('is numbered and matched as of its admission, in order', async () => {
    const { hs, inbox, receiver, bodies, hook } = await world()
    const tx = inbox.begin()
    for (const request of ['1', '2', '3']) await hs.publish(event({ request }), { tx })
    await hs.publish(event({ callId: 'before' }))
    await hs.webhooks.patch('acme', hook.id, { uri: receiver.url('/moved') })
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(4)
    const moved = receiver.requests
      .filter(({ path }) => path === '/moved')
      .map(({ body }) => JSON.parse(body))
    const ofLeg = moved.filter((body) => body.call_id === 'leg')
    expect(ofLeg.map(({ request, sequence }) => [request, sequence])).toEqual([
      ['1', 1],
      ['2', 2],
      ['3', 3],
    ])
  })

  it('carries its trace', async () => {
    const { hs, inbox, receiver } = await world()
    const tx = inbox.begin()
    await hs.publish(event(), { tx, traceparent: TRACE })
    inbox.commit(tx)
    await expect.poll(() => receiver.requests.length).toBe(1)
    expect(receiver.requests[0]!.headers.traceparent).toContain('4bf92f3577b34da6a3ce929d0e0e4736')
  })

  it('with a known idempotency key is the first one again', async () => {
    const { hs, inbox, bodies, refused } = await world()
    await hs.publish(event(), { idempotencyKey: 'key' })
    const tx = inbox.begin()
    await hs.publish(event(), { tx, idempotencyKey: 'key' })
    await hs.publish(event({ callId: 'other' }), { tx })
    inbox.commit(tx)
    await expect.poll(() => inbox.rows.size).toBe(0)
    await expect.poll(() => bodies().length).toBe(2)
    expect(refused).toEqual([])
  })

  it('that cannot be accepted any more is refused loudly, and holds nobody up', async () => {
    const { hs, inbox, bodies, refused, logged } = await world()
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

  it('waits while the store fails or another node was first', async () => {
    const { hs, inbox, bodies, logged } = await world()
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    inbox.failOnce(new HookswitchError('StoreUnavailable', 'gone for a moment'))
    inbox.failOnce(new HookswitchError('StoreUnavailable', 'and again'))
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(logged.filter((line) => line.includes('trying again'))).toHaveLength(2)
  })

  it('waits while the queue is full', async () => {
    const { hs, inbox, receiver, bodies } = await world({ maxPending: 1 })
    const tx = inbox.begin()
    for (const callId of ['a', 'b', 'c']) await hs.publish(event({ callId }), { tx })
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(3)
    expect(receiver.requests.map(({ body }) => JSON.parse(body).call_id)).toEqual(['a', 'b', 'c'])
  })

  it('that makes more deliveries than may ever be pending is refused, and holds nobody up', async () => {
    const { hs, inbox, receiver, bodies, refused } = await world({ maxPending: 1 })
    await hs.webhooks.create('acme', { name: 'second', uri: receiver.url('/2'), hook: 'channel_create' })
    const tx = inbox.begin()
    await hs.publish(event(), { tx })
    await hs.publish(event({ hook: 'channel_answer' }), { tx })
    inbox.commit(tx)
    await expect.poll(() => bodies().length).toBe(1)
    expect(refused.map(({ code }) => code)).toEqual(['QueueFull'])
    expect(bodies()[0].hook_event).toBe('channel_answer')
  })

  it('is checked before it is written', async () => {
    const { hs, inbox } = await world()
    const tx = inbox.begin()
    const wrong = [
      hs.publish(event({ hook: 'nonsense' }), { tx }),
      hs.publish(event({ callId: '' }), { tx }),
      hs.publish(event(), { tx, traceparent: 'nonsense' }),
      hs.publish(event({ customChannelVars: { long: 'x'.repeat(70_000) } }), { tx }),
    ]
    for (const one of wrong) expect(await one.catch(errorCode)).toBe('InvalidInput')
    expect(await hs.publish(event(), { tx: 'no transaction' }).catch(errorCode)).toBe('InvalidOption')
    expect(tx).toEqual([])
  })

  it('is refused by a store that takes none, and before the start', async () => {
    const hs = createHookswitch({ store: memoryStore() })
    expect(await hs.publish(event(), { tx: [] }).catch(errorCode)).toBe('StoreUnavailable')
    await hs.start()
    cleanups.push(() => hs.close())
    expect(await hs.publish(event(), { tx: [] }).catch(errorCode)).toBe('Unsupported')
  })
})

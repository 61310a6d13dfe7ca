import assert from 'node:assert/strict'
import { newDelivery, newEvent } from './fixtures.js'
import { codeOf, type Promised, type Workbench } from './workbench.js'

async function numberOf(bench: Workbench, overrides: Parameters<typeof newEvent>[0]): Promise<number> {
  const [accepted] = await bench.acceptEvents(newEvent(overrides))
  return accepted!.sequence
}

function keyed(key: string, bodyHash: string, untilMs: number) {
  return { idempotency: { key, bodyHash, untilMs } }
}

export function numberingPromises(promised: Promised): void {
  promised('events are numbered 1, 2, 3 for each account and call', async (bench) => {
    assert.equal(await numberOf(bench, { callId: 'a' }), 1)
    assert.equal(await numberOf(bench, { callId: 'a' }), 2)
    assert.equal(await numberOf(bench, { callId: 'b' }), 1)
    assert.equal(await numberOf(bench, { callId: 'a', accountId: 'other' }), 1)
    assert.equal(await numberOf(bench, { callId: 'a', otherLegCallId: 'b' }), 3)
  })

  promised('an event that is not numbered gets 0 and takes no number', async (bench) => {
    assert.equal(await numberOf(bench, { callId: 'a' }), 1)
    assert.equal(await numberOf(bench, { callId: 'a', numbered: false }), 0)
    assert.equal(await numberOf(bench, { callId: 'a' }), 2)
  })

  promised('events of one call accepted at once get each number once', async (bench) => {
    const numbers = await Promise.all(Array.from({ length: 20 }, () => numberOf(bench, { callId: 'a' })))
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
  })

  promised('the same key with the same body is the same event: nothing is written for it', async (bench) => {
    const webhook = await bench.webhook()
    const until = bench.now() + 86_400_000
    const first = newEvent({ callId: 'a', ...keyed('key', 'hash', until) })
    await bench.acceptEvents(newEvent({ callId: 'a' }), first)
    const again = newEvent({ callId: 'a', otherLegCallId: 'b', ...keyed('key', 'hash', until) })
    const late = newDelivery(webhook, again)
    const accepted = await bench.store.deliveries.accept(
      { events: [again], deliveries: [late], maxPending: 0 },
      bench.now(),
    )
    assert.deepEqual(accepted, [{ id: first.id, sequence: 2, duplicate: true }])
    assert.equal(await bench.store.deliveries.delivery('account', late.id), undefined)
    assert.equal(await bench.store.deliveries.pending(), 0)
    assert.equal(await numberOf(bench, { callId: 'a' }), 3)
  })

  promised('a key is of its account', async (bench) => {
    const until = bench.now() + 86_400_000
    await bench.acceptEvents(newEvent({ accountId: 'one', ...keyed('key', 'hash', until) }))
    const [other] = await bench.acceptEvents(
      newEvent({ accountId: 'two', ...keyed('key', 'another', until) }),
    )
    assert.equal(other?.duplicate, false)
  })

  promised('a key twice in one acceptance is one event', async (bench) => {
    const webhook = await bench.webhook()
    const until = bench.now() + 86_400_000
    const events = [1, 2].map(() => newEvent({ callId: 'a', ...keyed('key', 'hash', until) }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const accepted = await bench.store.deliveries.accept({ events, deliveries, maxPending: 1 }, bench.now())
    assert.deepEqual(accepted, [
      { id: events[0]!.id, sequence: 1, duplicate: false },
      { id: events[0]!.id, sequence: 1, duplicate: true },
    ])
    assert.equal(await bench.state(webhook, deliveries[0]!.id), 'waiting')
    assert.equal(await bench.state(webhook, deliveries[1]!.id), undefined)
  })

  promised(
    'the same key with another body is a conflict, and nothing of the whole acceptance is written',
    async (bench) => {
      const webhook = await bench.webhook()
      const until = bench.now() + 86_400_000
      await bench.acceptEvents(newEvent(keyed('key', 'hash', until)))
      const before = newEvent({ callId: 'a', ...keyed('key before', 'hash', until) })
      const clash = newEvent({ callId: 'a', ...keyed('key', 'another hash', until) })
      const after = newEvent({ callId: 'a' })
      const events = [before, clash, after]
      const deliveries = events.map((event) => newDelivery(webhook, event))
      const accept = bench.store.deliveries.accept({ events, deliveries, maxPending: 10 }, bench.now())
      assert.equal(await codeOf(accept), 'Conflict')
      assert.equal(await bench.store.deliveries.pending(), 0)
      for (const { id } of deliveries)
        assert.equal(await bench.store.deliveries.delivery('account', id), undefined)
      assert.equal(await numberOf(bench, { callId: 'a' }), 1)
      const [retried] = await bench.acceptEvents(newEvent(keyed('key before', 'yet another', until)))
      assert.equal(retried?.duplicate, false)
    },
  )

  promised('a key is free again when its window has ended, pruned or not', async (bench) => {
    const until = bench.now() + 1_000
    await bench.acceptEvents(newEvent(keyed('key', 'hash', until)))
    await bench.advance(999)
    const [within] = await bench.acceptEvents(newEvent(keyed('key', 'hash', until)))
    assert.equal(within?.duplicate, true)
    await bench.advance(1)
    const again = newEvent(keyed('key', 'another hash', bench.now() + 1_000))
    const [after] = await bench.acceptEvents(again)
    assert.deepEqual(after, { id: again.id, sequence: 1, duplicate: false })
  })

  promised('under many acceptances of one key at once there is one event', async (bench) => {
    const until = bench.now() + 86_400_000
    const accepted = await Promise.all(
      Array.from({ length: 10 }, () =>
        bench.acceptEvents(newEvent({ callId: 'a', ...keyed('key', 'hash', until) })),
      ),
    )
    const events = accepted.map(([event]) => event!)
    assert.equal(new Set(events.map((event) => event.id)).size, 1)
    assert.equal(events.filter((event) => !event.duplicate).length, 1)
    assert.deepEqual([...new Set(events.map((event) => event.sequence))], [1])
  })

  promised('a refusal for lack of room leaves the key unused', async (bench) => {
    const webhook = await bench.webhook()
    const event = newEvent(keyed('key', 'hash', bench.now() + 1_000))
    const acceptance = { events: [event], deliveries: [newDelivery(webhook, event)] }
    const refused = bench.store.deliveries.accept({ ...acceptance, maxPending: 0 }, bench.now())
    assert.equal(await codeOf(refused), 'QueueFull')
    const [accepted] = await bench.store.deliveries.accept({ ...acceptance, maxPending: 1 }, bench.now())
    assert.deepEqual(accepted, { id: event.id, sequence: 1, duplicate: false })
  })
}

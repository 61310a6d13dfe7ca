import assert from 'node:assert/strict'
import type { InboxEntry, InboxStore } from '../../delivery/inbox-store.js'
import { inboxShard } from '../shards.js'
import { freshId, newDelivery, newEvent } from './fixtures.js'
import { wakeOf } from './wakeups.js'
import { codeOf, ids, LEASE_MS, type Promised, type Workbench } from './workbench.js'

function newEntry(overrides: Partial<InboxEntry> = {}): InboxEntry {
  const id = freshId('event')
  return { id, accountId: 'account', callId: `call-of-${id}`, event: `{"id":"${id}"}`, ...overrides }
}

function inboxOf(bench: Workbench): InboxStore {
  assert.ok(bench.store.inbox, 'a store with `supports.transactions` has an inbox')
  return bench.store.inbox
}

/** Puts entries in one transaction of the host, and ends it. */
function put(bench: Workbench, end: 'commit' | 'rollback', ...entries: InboxEntry[]): Promise<void> {
  assert.ok(
    bench.harness.transaction,
    'the harness of a store with `supports.transactions` has `transaction`',
  )
  return bench.harness.transaction(bench.store, end, async (tx) => {
    for (const entry of entries) await inboxOf(bench).put(tx, entry)
  })
}

const staged = (bench: Workbench, limit = 99, owner = bench.owner) => inboxOf(bench).staged(owner, limit)

export function inboxPromises(promised: Promised): void {
  promised(
    'what a committed transaction put is staged, as it was put; what one rolled back is not',
    async (bench) => {
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
      const entries = [newEntry({ callId: 'a', traceparent }), newEntry({ callId: 'a' })]
      await put(bench, 'commit', ...entries)
      await put(bench, 'rollback', newEntry({ callId: 'a' }))
      const { callId: _none, ...without } = newEntry()
      await put(bench, 'commit', without)
      const found = await staged(bench)
      assert.deepEqual(
        found.filter((entry) => entry.callId === 'a'),
        entries,
      )
      assert.deepEqual(
        found.filter((entry) => entry.callId !== 'a'),
        [without],
      )
    },
  )

  promised('entries of one call come in the order in which their transactions committed', async (bench) => {
    const made: string[] = []
    for (let index = 0; index < 20; index += 1) {
      const entry = newEntry({ callId: 'a' })
      made.push(entry.id)
      await put(bench, 'commit', entry, newEntry())
    }
    const found = (await staged(bench)).filter((entry) => entry.callId === 'a')
    assert.deepEqual(ids(found), made)
    const [first] = ids(found)
    assert.equal((await staged(bench, 1)).length, 1)
    assert.ok(first)
  })

  promised('an acceptance takes what it admits out of the inbox, in the same transaction', async (bench) => {
    const webhook = await bench.webhook()
    const entry = newEntry({ callId: 'a' })
    await put(bench, 'commit', entry, newEntry({ callId: 'b' }))
    const event = newEvent({ id: entry.id, callId: 'a' })
    const deliveries = [newDelivery(webhook, event)]
    const acceptance = { events: [event], deliveries, maxPending: 9, admits: [entry.id] }
    const full = { ...acceptance, maxPending: 0 }
    assert.equal(await codeOf(bench.store.deliveries.accept(full, bench.now())), 'QueueFull')
    assert.equal((await staged(bench)).length, 2)
    const [accepted] = await bench.store.deliveries.accept(acceptance, bench.now())
    assert.deepEqual(accepted, { id: entry.id, sequence: 1, duplicate: false })
    assert.deepEqual(
      (await staged(bench)).map((one) => one.callId),
      ['b'],
    )
    assert.equal((await bench.claim(webhook)).length, 1)
  })

  promised('what was admitted is admitted once: the second acceptance is refused whole', async (bench) => {
    const webhook = await bench.webhook()
    const entries = [newEntry({ callId: 'a' }), newEntry({ callId: 'a' })]
    await put(bench, 'commit', ...entries)
    const events = entries.map(({ id }) => newEvent({ id, callId: 'a' }))
    const admit = (count: number) =>
      bench.store.deliveries.accept(
        {
          events: events.slice(0, count),
          deliveries: events.slice(0, count).map((event) => newDelivery(webhook, event)),
          maxPending: 99,
          admits: ids(entries.slice(0, count)),
        },
        bench.now(),
      )
    const results = await Promise.all([codeOf(admit(1)), codeOf(admit(2))])
    assert.deepEqual(results.toSorted(), [undefined, 'Conflict'].toSorted())
    if ((await staged(bench)).length > 0) {
      const [, rest] = entries
      await bench.store.deliveries.accept(
        {
          events: [events[1]!],
          deliveries: [newDelivery(webhook, events[1]!)],
          maxPending: 99,
          admits: [rest!.id],
        },
        bench.now(),
      )
    }
    assert.equal(await bench.store.deliveries.pending(), 2)
    const { delivery } = await bench.claimOne(webhook)
    assert.equal(delivery.eventId, entries[0]!.id)
  })

  promised(
    'an entry can be taken out without an event: it is refused, not lost in silence',
    async (bench) => {
      const entry = newEntry()
      await put(bench, 'commit', entry)
      await bench.store.deliveries.accept(
        { events: [], deliveries: [], maxPending: 9, admits: [entry.id] },
        bench.now(),
      )
      assert.deepEqual(await staged(bench), [])
    },
  )

  promised('who owns nothing is told of nothing', async (bench) => {
    await put(bench, 'commit', newEntry())
    assert.deepEqual(await staged(bench, 9, 'stranger'), [])
    await bench.store.deliveries.release(bench.owner)
    assert.deepEqual(await staged(bench), [])
    const { shards } = await bench.store.deliveries.own('node-2', LEASE_MS)
    const [found] = await staged(bench, 9, 'node-2')
    assert.ok(found && shards.includes(inboxShard(found)))
  })

  promised('a committed entry wakes up, without a word from the host', async (bench) => {
    await wakeOf(
      bench,
      () => put(bench, 'commit', newEntry()),
      (wake) => wake === undefined,
    )
    assert.equal((await staged(bench)).length, 1)
  })

  promised('what is staged is erased with its call, and found by a number in it', async (bench) => {
    const entry = newEntry({ callId: 'gone', event: '{"from":"+15551234"}' })
    await put(bench, 'commit', entry, newEntry({ callId: 'kept' }))
    const found = await bench.store.deliveries.mentions('account', '15551234', undefined, 99)
    assert.deepEqual(found.callIds, ['gone'])
    while ((await bench.store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)) > 0) {}
    assert.deepEqual(
      (await staged(bench)).map((one) => one.callId),
      ['kept'],
    )
  })

  promised('what is no connection to this store is refused by name', async (bench) => {
    for (const tx of [undefined, null, 7, {}, { query() {} }]) {
      const put = async () => inboxOf(bench).put(tx, newEntry())
      assert.equal(await codeOf(put()), 'InvalidOption', String(tx))
    }
    assert.deepEqual(await staged(bench), [])
  })
}

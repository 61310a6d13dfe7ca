import assert from 'node:assert/strict'
import type { InboxEntry, InboxStore } from '../../delivery/inbox-store.js'
import { inboxShard } from '../../store/shards.js'
import { type DefineRule, errorCodeOf, type Fixture, idsOf, LEASE_MS } from './fixture.js'
import { notificationOf } from './notifications.js'
import { freshId, newDelivery, newEvent } from './sample-data.js'

function newEntry(overrides: Partial<InboxEntry> = {}): InboxEntry {
  const id = freshId('event')
  return { id, accountId: 'account', callId: `call-of-${id}`, event: `{"id":"${id}"}`, ...overrides }
}

function inboxOf(fixture: Fixture): InboxStore {
  assert.ok(fixture.store.inbox, 'a store with `supports.transactions` has an inbox')
  return fixture.store.inbox
}

/** Puts entries in one transaction of the host, and commits it or rolls it back. */
function put(fixture: Fixture, end: 'commit' | 'rollback', ...entries: InboxEntry[]): Promise<void> {
  assert.ok(
    fixture.harness.transaction,
    'the harness of a store with `supports.transactions` has `transaction`',
  )
  return fixture.harness.transaction(fixture.store, end, async (tx) => {
    for (const entry of entries) await inboxOf(fixture).put(tx, entry)
  })
}

const listEntries = (fixture: Fixture, limit = 99, owner = fixture.owner) =>
  inboxOf(fixture).staged(owner, limit)

/** Rules of the inbox: events that the host writes in its own transactions. */
export function inboxRules(rule: DefineRule): void {
  rule(
    'entries of a committed transaction are listed unchanged; those of a rolled-back one are not',
    async (fixture) => {
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
      const entries = [newEntry({ callId: 'a', traceparent }), newEntry({ callId: 'a' })]
      await put(fixture, 'commit', ...entries)
      await put(fixture, 'rollback', newEntry({ callId: 'a' }))
      const { callId: _none, ...without } = newEntry()
      await put(fixture, 'commit', without)
      const found = await listEntries(fixture)
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

  rule('entries of a call are listed in the order of their commits', async (fixture) => {
    const made: string[] = []
    for (let index = 0; index < 20; index += 1) {
      const entry = newEntry({ callId: 'a' })
      made.push(entry.id)
      await put(fixture, 'commit', entry, newEntry())
    }
    const found = (await listEntries(fixture)).filter((entry) => entry.callId === 'a')
    assert.deepEqual(idsOf(found), made)
    const [first] = idsOf(found)
    assert.equal((await listEntries(fixture, 1)).length, 1)
    assert.ok(first)
  })

  rule(
    'an acceptance removes the entries it relays from the inbox in the same transaction',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const entry = newEntry({ callId: 'a' })
      await put(fixture, 'commit', entry, newEntry({ callId: 'b' }))
      const event = newEvent({ id: entry.id, callId: 'a' })
      const deliveries = [newDelivery(webhook, event)]
      const acceptance = { events: [event], deliveries, maxPending: 9, inboxIds: [entry.id] }
      const full = { ...acceptance, maxPending: 0 }
      assert.equal(await errorCodeOf(fixture.store.deliveries.accept(full, fixture.now())), 'QueueFull')
      assert.equal((await listEntries(fixture)).length, 2)
      const [accepted] = await fixture.store.deliveries.accept(acceptance, fixture.now())
      assert.deepEqual(accepted, { id: entry.id, sequence: 1, duplicate: false })
      assert.deepEqual(
        (await listEntries(fixture)).map((one) => one.callId),
        ['b'],
      )
      assert.equal((await fixture.claim(webhook)).length, 1)
    },
  )

  rule('an entry is relayed once: a second acceptance of it is rejected as a whole', async (fixture) => {
    const webhook = await fixture.webhook()
    const entries = [newEntry({ callId: 'a' }), newEntry({ callId: 'a' })]
    await put(fixture, 'commit', ...entries)
    const events = entries.map(({ id }) => newEvent({ id, callId: 'a' }))
    const admit = (count: number) =>
      fixture.store.deliveries.accept(
        {
          events: events.slice(0, count),
          deliveries: events.slice(0, count).map((event) => newDelivery(webhook, event)),
          maxPending: 99,
          inboxIds: idsOf(entries.slice(0, count)),
        },
        fixture.now(),
      )
    const results = await Promise.all([errorCodeOf(admit(1)), errorCodeOf(admit(2))])
    assert.deepEqual(results.toSorted(), [undefined, 'Conflict'].toSorted())
    if ((await listEntries(fixture)).length > 0) {
      const [, rest] = entries
      await fixture.store.deliveries.accept(
        {
          events: [events[1]!],
          deliveries: [newDelivery(webhook, events[1]!)],
          maxPending: 99,
          inboxIds: [rest!.id],
        },
        fixture.now(),
      )
    }
    assert.equal(await fixture.store.deliveries.pending(), 2)
    const { delivery } = await fixture.claimOne(webhook)
    assert.equal(delivery.eventId, entries[0]!.id)
  })

  rule('an acceptance without events can remove an entry', async (fixture) => {
    const entry = newEntry()
    await put(fixture, 'commit', entry)
    await fixture.store.deliveries.accept(
      { events: [], deliveries: [], maxPending: 9, inboxIds: [entry.id] },
      fixture.now(),
    )
    assert.deepEqual(await listEntries(fixture), [])
  })

  rule('a node without shards lists no entries', async (fixture) => {
    await put(fixture, 'commit', newEntry())
    assert.deepEqual(await listEntries(fixture, 9, 'stranger'), [])
    await fixture.store.deliveries.release(fixture.owner)
    assert.deepEqual(await listEntries(fixture), [])
    const { shards } = await fixture.store.deliveries.own('node-2', LEASE_MS)
    const [found] = await listEntries(fixture, 9, 'node-2')
    assert.ok(found && shards.includes(inboxShard(found)))
  })

  rule('a committed entry notifies subscribers without a call by the host', async (fixture) => {
    await notificationOf(
      fixture,
      () => put(fixture, 'commit', newEntry()),
      (notification) => notification === undefined,
    )
    assert.equal((await listEntries(fixture)).length, 1)
  })

  rule('an entry is erased with its call, and mentions finds a number in it', async (fixture) => {
    const entry = newEntry({ callId: 'gone', event: '{"from":"+15551234"}' })
    await put(fixture, 'commit', entry, newEntry({ callId: 'kept' }))
    const found = await fixture.store.deliveries.mentions('account', '15551234', undefined, 99)
    assert.deepEqual(found.callIds, ['gone'])
    while ((await fixture.store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)) > 0) {}
    assert.deepEqual(
      (await listEntries(fixture)).map((one) => one.callId),
      ['kept'],
    )
  })

  rule('put rejects anything but a connection to this store', async (fixture) => {
    for (const tx of [undefined, null, 7, {}, { query() {} }]) {
      const put = async () => inboxOf(fixture).put(tx, newEntry())
      assert.equal(await errorCodeOf(put()), 'InvalidOption', String(tx))
    }
    assert.deepEqual(await listEntries(fixture), [])
  })
}

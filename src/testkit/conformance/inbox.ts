import assert from 'node:assert/strict'
import type { InboxEntry, InboxStore } from '../../delivery/inbox-store.js'
import { inboxShard } from '../../store/shards.js'
import { type DefineRule, errorCodeOf, type Fixture, idsOf, valuesOf } from './fixture.js'
import { acceptanceOf, assertRefused, type StoreNode } from './node.js'
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
    await inboxOf(fixture).put(tx, entries)
  })
}

const listEntries = (fixture: Fixture, limit = 99, owner = fixture.node.owner) =>
  inboxOf(fixture).staged(owner, limit)

/** Rules of the inbox: events that the host writes in its own transactions. */
export function inboxRules(rule: DefineRule): void {
  rule('entries of a committed transaction are listed unchanged, rolled-back ones not', async (fixture) => {
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
  })

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

  rule('an acceptance removes the entries that it relays in the same transaction', async (fixture) => {
    const webhook = await fixture.webhook()
    const entry = newEntry({ callId: 'a' })
    await put(fixture, 'commit', entry, newEntry({ callId: 'b' }))
    const event = newEvent({ id: entry.id, callId: 'a' })
    const deliveries = [newDelivery(webhook, event)]
    const unknown = newDelivery({ ...webhook, id: 'unknown' }, event)
    const wrong = acceptanceOf(event, [...deliveries, unknown], [entry.id])
    assert.equal((await fixture.acceptOne(wrong)).kind, 'refused')
    assert.equal((await listEntries(fixture)).length, 2)
    const result = await fixture.acceptOne(acceptanceOf(event, deliveries, [entry.id]))
    assert.ok(result.kind === 'accepted')
    assert.deepEqual(result.events, [{ id: entry.id, sequence: 1, duplicate: false }])
    assert.deepEqual(valuesOf(await listEntries(fixture), 'callId'), ['b'])
    assert.equal((await fixture.waiting(webhook)).length, 1)
  })

  rule('a group that writes nothing leaves the inbox as it is', async (fixture) => {
    const entry = newEntry()
    await put(fixture, 'commit', entry)
    const group = fixture.node.group({ accepted: [acceptanceOf(newEvent({ id: entry.id }), [], [entry.id])] })
    const next = await fixture.takeOver()
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'fenced' })
    assert.deepEqual(await listEntries(fixture, 9, next.owner), [entry])
  })

  rule('an entry is relayed once: a second acceptance of it is refused as a whole', async (fixture) => {
    const webhook = await fixture.webhook()
    const entries = [newEntry({ callId: 'a' }), newEntry({ callId: 'a' })]
    await put(fixture, 'commit', ...entries)
    const admit = (count: number, prefix: string) => {
      const events = entries.slice(0, count).map(({ id }) => newEvent({ id: `${prefix}${id}`, callId: 'a' }))
      const deliveries = events.map((event) => newDelivery(webhook, event))
      return acceptanceOf(events, deliveries, idsOf(entries.slice(0, count)))
    }
    const { accepted } = await fixture.node.commit({ accepted: [admit(1, ''), admit(2, 'again-')] })
    const later = await fixture.acceptOne(admit(1, 'later-'))
    assert.equal(accepted[0]?.kind, 'accepted')
    for (const result of [accepted[1]!, later]) {
      assertRefused(result, 'Conflict', 'inboxIds')
    }
    assert.deepEqual(idsOf(await listEntries(fixture)), [entries[1]!.id])
    assert.equal((await fixture.waitingOne(webhook)).eventId, entries[0]!.id)
  })

  rule('repeated: an entry that the group has relayed already is accepted', async (fixture) => {
    const entry = newEntry()
    await put(fixture, 'commit', entry)
    const accepted = [acceptanceOf(newEvent({ id: entry.id }), [], [entry.id])]
    const first = await fixture.node.commit({ accepted })
    const again = await fixture.node.commit({ accepted, isRepeat: true })
    assert.equal(first.accepted[0]?.kind, 'accepted')
    assert.deepEqual(again.accepted, first.accepted)
  })

  rule('an acceptance without events can remove an entry', async (fixture) => {
    const entry = newEntry()
    await put(fixture, 'commit', entry)
    assert.equal((await fixture.acceptOne(acceptanceOf([], [], [entry.id]))).kind, 'accepted')
    assert.deepEqual(await listEntries(fixture), [])
  })

  rule('a node without shards lists no entries', async (fixture) => {
    await put(fixture, 'commit', newEntry())
    assert.deepEqual(await listEntries(fixture, 9, 'stranger'), [])
    await fixture.store.deliveries.release(fixture.node.owner)
    assert.deepEqual(await listEntries(fixture), [])
    const next = await fixture.join('node-2')
    const [found] = await listEntries(fixture, 9, next.owner)
    assert.ok(found && next.lease.shards.includes(inboxShard(found)))
  })

  rule('a committed entry notifies subscribers without a call by the host', async (fixture) => {
    await notificationOf(fixture, () => put(fixture, 'commit', newEntry()))
    assert.equal((await listEntries(fixture)).length, 1)
  })

  rule('an entry is erased with its call, and mentions finds a number in it', async (fixture) => {
    const entry = newEntry({ callId: 'gone', event: '{"from":"+15551234"}' })
    await put(fixture, 'commit', entry, newEntry({ callId: 'kept' }))
    const found = await fixture.store.deliveries.mentions('account', '15551234', undefined, 99)
    assert.deepEqual(found.callIds, ['gone'])
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.deepEqual(valuesOf(await listEntries(fixture), 'callId'), ['kept'])
  })

  rule('put rejects anything but a connection to this store', async (fixture) => {
    for (const tx of [undefined, null, 7, {}, { query() {} }]) {
      const put = async () => inboxOf(fixture).put(tx, [newEntry()])
      assert.equal(await errorCodeOf(put()), 'InvalidOption', String(tx))
    }
    assert.deepEqual(await listEntries(fixture), [])
  })
}

/** Rules of the inbox with several nodes. */
export function sharedInboxRules(rule: DefineRule): void {
  rule('two nodes cannot relay one entry twice', async (fixture) => {
    const webhook = await fixture.webhook()
    const second = await fixture.takeOver()
    await fixture.node.renew()
    await fixture.node.load()
    const entry = newEntry()
    await put(fixture, 'commit', entry)
    const relay = async (node: StoreNode, id: string) => {
      const event = newEvent({ id, accountId: entry.accountId })
      return node.acceptOne(acceptanceOf(event, [newDelivery(webhook, event)], [entry.id]))
    }
    const results = await Promise.all([relay(fixture.node, entry.id), relay(second, `again-${entry.id}`)])
    assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ['accepted', 'refused'])
    assert.deepEqual(await listEntries(fixture, 9, second.owner), [])
    assert.equal((await second.waiting(webhook)).length, 1)
  })
}

import assert from 'node:assert/strict'
import type { CallIndexKind, CallNumber, UnwantedEvent } from '../../delivery/call-index-store.js'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { DefineRule, Fixture } from './fixture.js'
import { acceptanceOf } from './node.js'
import { newEvent } from './sample-data.js'

/** Accepts an event that no webhook wants, and returns what the index has of it. */
async function unwanted(
  fixture: Fixture,
  event: Partial<NewEvent> & { readonly callId: string },
  overrides: Partial<UnwantedEvent> = {},
): Promise<UnwantedEvent> {
  const accepted = newEvent(event)
  await fixture.acceptOne(acceptanceOf(accepted, []))
  const { id, accountId, hook, timestampMs } = accepted
  return {
    id,
    accountId,
    callId: event.callId,
    hook,
    sequence: 1,
    timestampMs,
    acceptedMs: fixture.now(),
    source: 'switch "one" é',
    isInternalLeg: false,
    ...overrides,
  }
}

/** The number of a call whose event is stored. */
const numberOf = (number: number, event: UnwantedEvent, overrides: Partial<CallNumber> = {}): CallNumber => ({
  number,
  accountId: event.accountId,
  callId: event.callId,
  source: event.source,
  acceptedMs: event.acceptedMs,
  eventId: event.id,
  ...overrides,
})

const idsOf = (events: readonly UnwantedEvent[]) => events.map(({ id }) => id)
const callsOf = (calls: readonly { readonly callId: string }[]) => calls.map(({ callId }) => callId)
const NOTHING_OLD = { beforeMs: 0, upTo: 0 }

/** Rules of the call index. */
export function callIndexRules(rule: DefineRule): void {
  rule('unwanted events are found by id, call and account, newest first', async (fixture) => {
    const { callIndex } = fixture.store
    const first = await unwanted(fixture, { callId: 'a' }, { acceptedMs: 1_000 })
    const second = await unwanted(fixture, { callId: 'b' }, { acceptedMs: 2_000, isInternalLeg: true })
    const other = await unwanted(fixture, { callId: 'a', accountId: 'other' }, { acceptedMs: 3_000 })
    await callIndex.write({ events: [first, second, other], numbers: [] })
    assert.deepEqual(await callIndex.events({ eventId: second.id, limit: 9 }), [second])
    assert.deepEqual(await callIndex.events({ eventId: second.id, accountId: 'other', limit: 9 }), [])
    assert.deepEqual(await callIndex.events({ callIds: ['a', 'b', 'c'], limit: 9 }), [other, second, first])
    assert.deepEqual(await callIndex.events({ callIds: ['a'], accountId: 'account', limit: 9 }), [first])
    assert.deepEqual(await callIndex.events({ callIds: ['a', 'b'], limit: 2 }), [other, second])
    assert.deepEqual(await callIndex.events({ accountId: 'account', limit: 9 }), [second, first])
    assert.deepEqual(await callIndex.events({ accountId: 'account', limit: 1 }), [second])
    assert.deepEqual(await callIndex.events({ accountId: 'unknown', limit: 9 }), [])
  })

  rule('an unwanted event that is written again is stored once', async (fixture) => {
    const { callIndex } = fixture.store
    const event = await unwanted(fixture, { callId: 'a' })
    const batch = { events: [event], numbers: [] }
    await callIndex.write(batch)
    await callIndex.write(batch)
    assert.deepEqual(await callIndex.events({ accountId: 'account', limit: 9 }), [event])
  })

  rule('calls are found by number and by id, those of one account newest first', async (fixture) => {
    const { callIndex } = fixture.store
    const [a, b] = [await unwanted(fixture, { callId: 'a' }), await unwanted(fixture, { callId: 'b' })]
    const other = await unwanted(fixture, { callId: 'c', accountId: 'other' })
    const largest = 2 ** 48
    await callIndex.write({
      events: [],
      numbers: [
        numberOf(7, a, { acceptedMs: 1_000 }),
        numberOf(7, b, { acceptedMs: 2_000 }),
        numberOf(largest, b, { acceptedMs: 2_000 }),
        numberOf(7, other, { acceptedMs: 3_000 }),
      ],
    })
    const found = { accountId: 'account', callId: 'b', source: b.source, acceptedMs: 2_000 }
    assert.deepEqual(await callIndex.calls({ numbers: [largest], limit: 9 }), [found])
    assert.deepEqual(await callIndex.calls({ callId: 'b', accountId: 'account', limit: 1 }), [found])
    assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], limit: 9 })).toSorted(), ['a', 'b', 'c'])
    assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], accountId: 'account', limit: 9 })), [
      'b',
      'a',
    ])
    assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], accountId: 'account', limit: 1 })), ['b'])
    assert.deepEqual(callsOf(await callIndex.calls({ numbers: [8, 7], accountId: 'other', limit: 9 })), ['c'])
    assert.deepEqual(await callIndex.calls({ numbers: [8], limit: 9 }), [])
    assert.deepEqual(await callIndex.calls({ callId: 'b', accountId: 'other', limit: 9 }), [])
    assert.equal((await callIndex.calls({ numbers: [7], limit: 2 })).length, 2)
  })

  rule('erased calls leave the index, and later writes do not bring them back', async (fixture) => {
    const { callIndex, deliveries } = fixture.store
    const [gone, kept] = [
      await unwanted(fixture, { callId: 'gone' }),
      await unwanted(fixture, { callId: 'kept' }),
    ]
    const other = await unwanted(fixture, { callId: 'gone', accountId: 'other' })
    const all = [gone, kept, other]
    await callIndex.write({ events: all, numbers: all.map((event) => numberOf(7, event)) })
    const erasure = { accountId: 'account', callIds: ['gone', 'unknown'] }
    while ((await deliveries.erase(erasure, 9)) > 0);
    assert.equal(await callIndex.erase(erasure, 1), 1)
    assert.equal(await callIndex.erase(erasure, 9), 1)
    assert.equal(await callIndex.erase(erasure, 9), 0)
    await callIndex.write({ events: [gone], numbers: [numberOf(7, gone)] })
    assert.deepEqual(idsOf(await callIndex.events({ accountId: 'account', limit: 9 })), [kept.id])
    assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], limit: 9 })).toSorted(), ['gone', 'kept'])
    assert.equal(await callIndex.erase({ accountId: 'account' }, 9), 2)
    assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], limit: 9 })), ['gone'])
    assert.deepEqual(idsOf(await callIndex.events({ callIds: ['gone', 'kept'], limit: 9 })), [other.id])
  })

  for (const [kind, name] of [
    ['events', 'unwanted events'],
    ['numbers', 'numbers'],
  ] as const) {
    /** Writes rows of both kinds for these calls of an account. */
    const write = async (fixture: Fixture, callIds: readonly string[], accountId = 'account') => {
      const events: UnwantedEvent[] = []
      for (const callId of callIds)
        events.push(
          await unwanted(fixture, { callId, accountId }, { acceptedMs: 1_000 + callId.charCodeAt(0) }),
        )
      await fixture.store.callIndex.write({ events, numbers: events.map((event) => numberOf(7, event)) })
    }
    const left = async ({ store: { callIndex } }: Fixture, accountId: string, ofKind = kind) =>
      callsOf(
        ofKind === 'events'
          ? await callIndex.events({ accountId, limit: 9 })
          : await callIndex.calls({ numbers: [7], accountId, limit: 9 }),
      )

    rule(`the oldest ${name} of one account are removed, up to the limit`, async (fixture) => {
      const { callIndex } = fixture.store
      await write(fixture, ['a'], 'other')
      await write(fixture, ['a', 'b', 'c', 'd', 'e'])
      assert.equal(await callIndex.excess(kind, 5, 'account'), 0)
      assert.equal(await callIndex.excess(kind, 5, 'unknown'), 0)
      const upTo = await callIndex.excess(kind, 2, 'account')
      // What comes later counts for the next time.
      await write(fixture, ['f'])
      assert.equal(await callIndex.trim(kind, 'account', upTo, 1), 1)
      assert.equal(await callIndex.trim(kind, 'account', upTo, 9), 2)
      assert.equal(await callIndex.trim(kind, 'account', upTo, 9), 0)
      assert.deepEqual(await left(fixture, 'account'), ['f', 'e', 'd'])
      assert.deepEqual(await left(fixture, 'other'), ['a'])
      const otherKind = kind === 'events' ? 'numbers' : 'events'
      assert.equal((await left(fixture, 'account', otherKind)).length, 6)
    })

    rule(`trimmed ${name} of one account do not cost others theirs`, async (fixture) => {
      const { callIndex } = fixture.store
      await write(fixture, ['a'], 'other')
      await write(fixture, ['a', 'b', 'c', 'd', 'e'])
      assert.equal(await callIndex.trim(kind, 'account', await callIndex.excess(kind, 2, 'account'), 9), 3)
      assert.equal(await callIndex.excess(kind, 3), 0)
      const limits = { events: NOTHING_OLD, numbers: NOTHING_OLD }
      const upTo = await callIndex.excess(kind, 2)
      assert.equal(await callIndex.prune({ ...limits, [kind]: { beforeMs: 0, upTo } }, 9), 1)
      assert.deepEqual(await left(fixture, 'other'), [])
      assert.deepEqual(await left(fixture, 'account'), ['e', 'd'])
    })
  }

  rule('what is too old, or older than the newest so many, is pruned up to the limit', async (fixture) => {
    const { callIndex } = fixture.store
    const events: UnwantedEvent[] = []
    for (let index = 0; index < 4; index += 1)
      events.push(await unwanted(fixture, { callId: `call-${index}` }, { acceptedMs: 1_000 + index }))
    await callIndex.write({ events, numbers: events.map((event) => numberOf(7, event)) })
    const left = async () => [
      callsOf(await callIndex.events({ accountId: 'account', limit: 9 })),
      callsOf(await callIndex.calls({ numbers: [7], accountId: 'account', limit: 9 })),
    ]
    assert.equal(await callIndex.prune({ events: NOTHING_OLD, numbers: NOTHING_OLD }, 9), 0)
    const old = { beforeMs: 1_001, upTo: 0 }
    assert.equal(await callIndex.prune({ events: old, numbers: NOTHING_OLD }, 9), 1)
    assert.equal(await callIndex.prune({ events: NOTHING_OLD, numbers: old }, 9), 1)
    assert.deepEqual(await left(), [
      ['call-3', 'call-2', 'call-1'],
      ['call-3', 'call-2', 'call-1'],
    ])
    const allButNewest = async (kind: CallIndexKind) => ({
      beforeMs: 0,
      upTo: await callIndex.excess(kind, 1),
    })
    const [oldEvents, oldNumbers] = [await allButNewest('events'), await allButNewest('numbers')]
    assert.equal(await callIndex.prune({ events: oldEvents, numbers: NOTHING_OLD }, 1), 1)
    assert.equal(await callIndex.prune({ events: oldEvents, numbers: NOTHING_OLD }, 9), 1)
    assert.equal(await callIndex.prune({ events: NOTHING_OLD, numbers: oldNumbers }, 9), 2)
    assert.deepEqual(await left(), [['call-3'], ['call-3']])
    assert.equal(await callIndex.excess('events', 1), 0)
  })
}

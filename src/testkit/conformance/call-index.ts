import assert from 'node:assert/strict'
import type { CallNumber, UnwantedEvent } from '../../delivery/call-index-store.js'
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
const NOTHING_OLD = { beforeMs: 0, max: 1e9 }

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

  rule(
    'erased calls leave the index, and what is written afterwards does not bring them back',
    async (fixture) => {
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
      assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], limit: 9 })).toSorted(), [
        'gone',
        'kept',
      ])
      assert.equal(await callIndex.erase({ accountId: 'account' }, 9), 2)
      assert.deepEqual(callsOf(await callIndex.calls({ numbers: [7], limit: 9 })), ['gone'])
      assert.deepEqual(idsOf(await callIndex.events({ callIds: ['gone', 'kept'], limit: 9 })), [other.id])
    },
  )

  rule('the oldest unwanted events of one account are removed, up to the limit', async (fixture) => {
    const { callIndex } = fixture.store
    const events: UnwantedEvent[] = []
    for (let index = 0; index < 5; index += 1)
      events.push(await unwanted(fixture, { callId: `call-${index}` }, { acceptedMs: 1_000 + index }))
    const other = await unwanted(fixture, { callId: 'a', accountId: 'other' })
    await callIndex.write({ events: [...events, other], numbers: [] })
    assert.equal(await callIndex.trim('account', 2, 1), 1)
    assert.equal(await callIndex.trim('account', 2, 9), 2)
    assert.equal(await callIndex.trim('account', 2, 9), 0)
    assert.deepEqual(
      idsOf(await callIndex.events({ accountId: 'account', limit: 9 })),
      idsOf(events.slice(3)).toReversed(),
    )
    assert.deepEqual(idsOf(await callIndex.events({ accountId: 'other', limit: 9 })), [other.id])
  })

  rule('trimmed events of one account do not cost others theirs', async (fixture) => {
    const { callIndex } = fixture.store
    const other = await unwanted(fixture, { callId: 'a', accountId: 'other' })
    const events: UnwantedEvent[] = []
    for (let index = 0; index < 5; index += 1)
      events.push(await unwanted(fixture, { callId: `call-${index}` }))
    await callIndex.write({ events: [other, ...events], numbers: [] })
    assert.equal(await callIndex.trim('account', 2, 9), 3)
    const three = { beforeMs: 0, max: 3 }
    assert.equal(await callIndex.prune({ events: three, numbers: NOTHING_OLD }, 9), 0)
    const two = { beforeMs: 0, max: 2 }
    assert.equal(await callIndex.prune({ events: two, numbers: NOTHING_OLD }, 9), 1)
    assert.deepEqual(await callIndex.events({ accountId: 'other', limit: 9 }), [])
  })

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
    const old = { beforeMs: 1_001, max: 1e9 }
    assert.equal(await callIndex.prune({ events: old, numbers: NOTHING_OLD }, 9), 1)
    assert.equal(await callIndex.prune({ events: NOTHING_OLD, numbers: old }, 9), 1)
    assert.deepEqual(await left(), [
      ['call-3', 'call-2', 'call-1'],
      ['call-3', 'call-2', 'call-1'],
    ])
    const two = { beforeMs: 0, max: 1 }
    assert.equal(await callIndex.prune({ events: two, numbers: NOTHING_OLD }, 1), 1)
    assert.equal(await callIndex.prune({ events: two, numbers: NOTHING_OLD }, 9), 1)
    assert.equal(await callIndex.prune({ events: NOTHING_OLD, numbers: two }, 9), 2)
    assert.deepEqual(await left(), [['call-3'], ['call-3']])
  })
}

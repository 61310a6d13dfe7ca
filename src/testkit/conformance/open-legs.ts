import assert from 'node:assert/strict'
import type { OpenLeg } from '../../legs/open-leg-store.js'
import { type DefineRule, type Fixture, readPages } from './fixture.js'

/** Not in the order of their ids, and with every kind of character that a state may contain. */
const newLeg = (callId: string, overrides: Partial<OpenLeg> = {}): OpenLeg => ({
  callId,
  accountId: 'account',
  state: JSON.stringify({ from: '+15551234', name: 'Zoë "\u{1f4de}" \u0000\\', of: callId }),
  ...overrides,
})

/** Lists all legs of a source. */
const listAll = ({ store }: Fixture, source = 'switch') =>
  readPages<OpenLeg>((last, limit) => store.openLegs.list(source, last?.callId, limit))

const idsOfLegs = (legs: readonly OpenLeg[]) => legs.map(({ callId }) => callId).toSorted()

const put = ({ store, now }: Fixture, legs: readonly OpenLeg[], source = 'switch') =>
  store.openLegs.write(source, { put: legs, remove: [] }, now())

/** Rules of open legs. */
export function openLegRules(rule: DefineRule): void {
  rule('open legs are listed as they were written, page by page, each once', async (fixture) => {
    const legs = ['e', 'b', 'd', 'a', 'c'].map((callId) => newLeg(callId))
    await put(fixture, legs)
    const listed = await listAll(fixture)
    assert.deepEqual(idsOfLegs(listed), ['a', 'b', 'c', 'd', 'e'])
    for (const leg of legs) {
      assert.deepEqual(
        listed.find(({ callId }) => callId === leg.callId),
        leg,
      )
    }
  })

  rule('legs with the same id at two switches are two legs', async (fixture) => {
    await put(fixture, [newLeg('a', { state: '"one"' })], 'one')
    await put(fixture, [newLeg('a', { state: '"two"' })], 'two')
    await fixture.store.openLegs.write('one', { put: [], remove: ['a'] }, fixture.now())
    assert.deepEqual(await listAll(fixture, 'one'), [])
    assert.deepEqual(await listAll(fixture, 'two'), [newLeg('a', { state: '"two"' })])
  })

  rule('a written leg replaces the stored one: the last write wins', async (fixture) => {
    await put(fixture, [newLeg('a'), newLeg('b')])
    const changed = newLeg('a', { accountId: 'another', state: '{"answered":1}' })
    await put(fixture, [changed])
    const listed = await listAll(fixture)
    assert.deepEqual(idsOfLegs(listed), ['a', 'b'])
    assert.deepEqual(
      listed.find(({ callId }) => callId === 'a'),
      changed,
    )
  })

  rule('one write adds and removes; removing an unknown leg is no error', async (fixture) => {
    await put(fixture, [newLeg('a'), newLeg('b')])
    const { openLegs } = fixture.store
    await openLegs.write('switch', { put: [newLeg('c')], remove: ['a', 'unknown'] }, fixture.now())
    assert.deepEqual(idsOfLegs(await listAll(fixture)), ['b', 'c'])
    await openLegs.write('switch', { put: [], remove: ['a'] }, fixture.now())
    await openLegs.write('switch', { put: [], remove: [] }, fixture.now())
    assert.deepEqual(idsOfLegs(await listAll(fixture)), ['b', 'c'])
  })

  rule('concurrent writes of the same legs all succeed', async (fixture) => {
    const ids = Array.from({ length: 20 }, (_, index) => `leg-${index}`)
    const legs = ids.map((callId) => newLeg(callId))
    const writes = [legs, legs.toReversed(), legs, legs.toReversed()].map((order, index) =>
      fixture.store.openLegs.write(
        'switch',
        { put: order.slice(10), remove: index % 2 === 0 ? idsOfLegs(order.slice(0, 10)) : [] },
        fixture.now(),
      ),
    )
    await Promise.all(writes)
    for (const { callId, state } of await listAll(fixture)) assert.equal(state, newLeg(callId).state)
  })

  rule('a state of 4,096 bytes and ids of 255 characters are stored', async (fixture) => {
    const callId = 'é'.repeat(255)
    const state = JSON.stringify('x'.repeat(4_094))
    const source = 's'.repeat(255)
    await put(fixture, [newLeg(callId, { state })], source)
    assert.deepEqual(await listAll(fixture, source), [newLeg(callId, { state })])
  })

  rule('erasing calls of an account removes their open legs, at all switches', async (fixture) => {
    await put(fixture, [newLeg('gone'), newLeg('kept')], 'one')
    await put(fixture, [newLeg('gone'), newLeg('other', { accountId: 'stranger' })], 'two')
    const { openLegs } = fixture.store
    assert.equal(await openLegs.erase({ accountId: 'stranger', callIds: ['gone'] }, 9), 0)
    assert.equal(await openLegs.erase({ accountId: 'account', callIds: ['gone', 'unknown'] }, 9), 2)
    assert.equal(await openLegs.erase({ accountId: 'account', callIds: ['gone', 'unknown'] }, 9), 0)
    assert.deepEqual(idsOfLegs(await listAll(fixture, 'one')), ['kept'])
    assert.deepEqual(idsOfLegs(await listAll(fixture, 'two')), ['other'])
  })

  rule('erasing an account removes its open legs, up to the limit', async (fixture) => {
    await put(fixture, [newLeg('a'), newLeg('b'), newLeg('c'), newLeg('d', { accountId: 'stranger' })])
    const { openLegs } = fixture.store
    assert.equal(await openLegs.erase({ accountId: 'account' }, 2), 2)
    assert.equal(await openLegs.erase({ accountId: 'account' }, 2), 1)
    assert.equal(await openLegs.erase({ accountId: 'account' }, 2), 0)
    assert.deepEqual(idsOfLegs(await listAll(fixture)), ['d'])
  })

  rule('mentions finds the open legs of an account by a whole number', async (fixture) => {
    await put(fixture, [
      newLeg('a', { state: '{"from":"+15551234@x"}' }),
      newLeg('b', { state: '{"to":"155512345"}' }),
      newLeg('15551234.7', { state: '{}' }),
      newLeg('c', { state: '{"from":"15551234"}', accountId: 'stranger' }),
      newLeg('d', { state: '{"callerIdName":"Zoë"}' }),
    ])
    const { openLegs } = fixture.store
    assert.deepEqual([...(await openLegs.mentions('account', '15551234'))].toSorted(), ['15551234.7', 'a'])
    assert.deepEqual(await openLegs.mentions('account', 'Zoë'), ['d'])
    assert.deepEqual(await openLegs.mentions('account', '999'), [])
  })

  rule('prune removes legs that were added before a time, up to the limit', async (fixture) => {
    const { openLegs } = fixture.store
    await put(fixture, [newLeg('a'), newLeg('b'), newLeg('c')])
    const addedMs = fixture.now()
    await openLegs.write(
      'switch',
      { put: [newLeg('a', { state: '1' }), newLeg('d')], remove: [] },
      addedMs + 1,
    )
    assert.equal(await openLegs.prune(addedMs, 9), 0)
    assert.equal(await openLegs.prune(addedMs + 1, 2), 2)
    assert.equal(await openLegs.prune(addedMs + 1, 2), 1)
    assert.equal(await openLegs.prune(addedMs + 1, 2), 0)
    assert.deepEqual(idsOfLegs(await listAll(fixture)), ['d'])
  })
}

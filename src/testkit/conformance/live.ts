import assert from 'node:assert/strict'
import type { LiveItem, LiveStore, LiveWatch, StoredLiveBatch } from '../../delivery/live-store.js'
import { until } from '../until.js'
import { type DefineRule, errorCodeOf, type Fixture } from './fixture.js'
import { acceptanceOf } from './node.js'
import { newEvent } from './sample-data.js'

const WATCH: LiveWatch = { accountId: 'account', descendants: false, kinds: ['event'] }
const HOUR_MS = 3_600_000

function liveOf({ store }: Fixture): LiveStore {
  assert.ok(store.live, 'a store with `supports.liveItems` has `live`')
  return store.live
}

/** An item of no event, with every kind of character that one may contain. */
const newItem = (name: string, accountId = 'account'): LiveItem => ({
  accountId,
  json: JSON.stringify({ name, text: 'Zoë "\u{1f4de}" \u0000\\,{}' }),
})

const put = (fixture: Fixture, number: number, items: readonly LiveItem[], writer = 'one', forget = 0) =>
  liveOf(fixture).put({ writer, number, items }, forget)

/** Reads everything, in as many parts as the store makes. */
async function readAll(
  fixture: Fixture,
  after: ReadonlyMap<string, number> = new Map(),
  reader = 'reader',
): Promise<readonly StoredLiveBatch[]> {
  const cursors = new Map(after)
  const all: StoredLiveBatch[] = []
  for (;;) {
    const { batches, hasMore } = await liveOf(fixture).read(reader, cursors)
    for (const { writer, number } of batches) cursors.set(writer, number)
    all.push(...batches)
    assert.ok(all.length < 1_000 && (batches.length > 0 || !hasMore), 'the parts end')
    if (!hasMore) return all
  }
}

const numbersOf = (batches: readonly StoredLiveBatch[], writer = 'one') =>
  batches.filter((batch) => batch.writer === writer).map(({ number }) => number)
const textsOf = (batches: readonly StoredLiveBatch[]) =>
  batches.flatMap(({ items }) => items.map(({ json }) => json))

/** Accepts an event of a call without a delivery. Returns its item. */
async function eventItem(fixture: Fixture, callId: string, accountId = 'account'): Promise<LiveItem> {
  const event = newEvent({ callId, accountId })
  assert.equal((await fixture.acceptOne(acceptanceOf(event, []))).kind, 'accepted')
  return { accountId, callId, eventId: event.id, json: JSON.stringify({ callId, accountId }) }
}

/** Runs `action` and resolves when the listener was called since it began; rejects if it is not called in time. */
async function calledBack(
  fixture: Fixture,
  name: 'onWatched' | 'onItems',
  action: () => Promise<unknown>,
): Promise<void> {
  let count = 0
  const call = () => {
    count += 1
  }
  const stop = liveOf(fixture).subscribe({ onWatched() {}, onItems() {}, [name]: call })
  try {
    await action()
    const timeoutMs = fixture.harness.notificationTimeoutMs ?? 5_000
    await until(() => count > 0, { timeoutMs, description: `a call of ${name}` })
  } finally {
    stop()
  }
}

/** Rules of items for the live streams of other nodes. */
export function liveRules(rule: DefineRule): void {
  rule('others see what an instance watches, until it is replaced or ended', async (fixture) => {
    const live = liveOf(fixture)
    const other: LiveWatch = { accountId: 'é', descendants: true, kinds: ['event', 'webhook'] }
    await live.watch('reader', [WATCH, other], HOUR_MS)
    assert.deepEqual(await live.watched('writer'), [WATCH, other])
    assert.deepEqual(await live.watched('reader'), [])
    await live.watch('reader', [other], HOUR_MS)
    await live.watch('second', [WATCH], HOUR_MS)
    assert.deepEqual(
      (await live.watched('writer')).toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1)),
      [WATCH, other],
    )
    await live.watch('reader', [], HOUR_MS)
    assert.deepEqual(await live.watched('writer'), [WATCH])
  })

  rule('what an instance watches ends after its time', async (fixture) => {
    const live = liveOf(fixture)
    await live.watch('short', [WATCH], 1)
    await live.watch('long', [{ ...WATCH, accountId: 'other' }], HOUR_MS)
    const timeoutMs = fixture.harness.notificationTimeoutMs
    await until(async () => (await live.watched('writer')).length < 2, { timeoutMs })
    assert.deepEqual(await live.watched('writer'), [{ ...WATCH, accountId: 'other' }])
  })

  rule('batches are read as written, in order, after the numbers that were read', async (fixture) => {
    await put(fixture, 1, [newItem('a'), newItem('b', 'other')])
    await put(fixture, 2, [newItem('c')])
    await put(fixture, 4, [newItem('d')])
    await put(fixture, 1, [newItem('e')], 'two')
    const all = await readAll(fixture)
    assert.deepEqual(
      all.filter(({ writer }) => writer === 'one'),
      [
        { writer: 'one', number: 1, items: [newItem('a'), newItem('b', 'other')] },
        { writer: 'one', number: 2, items: [newItem('c')] },
        { writer: 'one', number: 4, items: [newItem('d')] },
      ],
    )
    assert.deepEqual(numbersOf(all, 'two'), [1])
    const rest = await readAll(fixture, new Map([['one', 2]]))
    assert.deepEqual([numbersOf(rest), numbersOf(rest, 'two')], [[4], [1]])
  })

  rule('a writer reads only batches of others, and `ends` has their last numbers', async (fixture) => {
    await put(fixture, 1, [newItem('a')])
    await put(fixture, 2, [newItem('b')])
    await put(fixture, 1, [newItem('c')], 'two')
    assert.deepEqual(numbersOf(await readAll(fixture, new Map(), 'one')), [])
    assert.deepEqual([...(await liveOf(fixture).ends('reader'))].toSorted(), [
      ['one', 2],
      ['two', 1],
    ])
    assert.deepEqual([...(await liveOf(fixture).ends('one'))], [['two', 1]])
  })

  rule('a repeated batch is written once', async (fixture) => {
    await put(fixture, 1, [newItem('a')])
    await put(fixture, 1, [newItem('a')])
    assert.deepEqual(textsOf(await readAll(fixture)), [newItem('a').json])
  })

  rule('a writer forgets its batches up to a number, and no others', async (fixture) => {
    for (const number of [1, 2, 3]) await put(fixture, number, [newItem(`${number}`)])
    await put(fixture, 1, [newItem('other')], 'two')
    await put(fixture, 4, [newItem('4')], 'one', 2)
    const left = await readAll(fixture)
    assert.deepEqual([numbersOf(left), numbersOf(left, 'two')], [[3, 4], [1]])
    await liveOf(fixture).forget('one', 3)
    const last = await readAll(fixture)
    assert.deepEqual([numbersOf(last), numbersOf(last, 'two')], [[4], [1]])
  })

  rule('many batches are read in parts, in which every writer has its turn', async (fixture) => {
    for (let number = 1; number <= 40; number += 1) await put(fixture, number, [newItem(`${number}`)])
    await put(fixture, 1, [newItem('last')], 'two')
    const { batches, hasMore } = await liveOf(fixture).read('reader', new Map())
    assert.equal(hasMore, true)
    assert.deepEqual(numbersOf(batches, 'two'), [1])
    const all = await readAll(fixture)
    assert.deepEqual(
      numbersOf(all),
      Array.from({ length: 40 }, (_, index) => index + 1),
    )
  })

  rule('items are erased with their calls, and other items of their batches stay', async (fixture) => {
    const items = [
      await eventItem(fixture, 'gone'),
      await eventItem(fixture, 'kept'),
      await eventItem(fixture, 'gone', 'other'),
      newItem('of no call'),
    ]
    await put(fixture, 1, items)
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.deepEqual(
      textsOf(await readAll(fixture)),
      items.slice(1).map(({ json }) => json),
    )
    await fixture.erase({ accountId: 'account' })
    assert.deepEqual(textsOf(await readAll(fixture)), [items[2]!.json])
  })

  rule('an item of an event that was erased is not written', async (fixture) => {
    const gone = await eventItem(fixture, 'gone')
    const kept = await eventItem(fixture, 'kept')
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    await put(fixture, 1, [gone, kept, newItem('a')])
    assert.deepEqual(textsOf(await readAll(fixture)), [kept.json, newItem('a').json])
  })

  rule('`subscribe` calls back when others watch something else, and for items', async (fixture) => {
    const live = liveOf(fixture)
    await calledBack(fixture, 'onWatched', () => live.watch('reader', [WATCH], HOUR_MS))
    await calledBack(fixture, 'onWatched', () => live.watch('reader', [], HOUR_MS))
    await calledBack(fixture, 'onItems', () => put(fixture, 1, [newItem('a')]))
    let count = 0
    const call = () => {
      count += 1
    }
    live.subscribe({ onWatched: call, onItems: call })()
    await calledBack(fixture, 'onItems', () => put(fixture, 2, [newItem('b')]))
    assert.equal(count, 0)
  })

  rule('after close, every method but `subscribe` rejects with StoreUnavailable', async (fixture) => {
    const live = liveOf(fixture)
    await fixture.store.close()
    const calls = [
      live.watch('reader', [WATCH], HOUR_MS),
      live.watched('writer'),
      live.put({ writer: 'writer', number: 1, items: [newItem('a')] }, 0),
      live.forget('writer', 1),
      live.ends('reader'),
      live.read('reader', new Map()),
    ]
    for (const code of await Promise.all(calls.map(errorCodeOf))) assert.equal(code, 'StoreUnavailable')
  })
}

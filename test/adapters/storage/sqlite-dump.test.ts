import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sqliteSource, sqliteStore, undoMove } from 'hookswitch/sqlite'
import type { MovedKind } from 'hookswitch/store'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { systemClock } from '../../../src/clock.js'
import { newDelivery, newEvent } from '../../../src/store/conformance/fixtures.js'
import { log, SMALL, smallFile } from './move-world.js'
import { contentsOf, errorOf, freshFolder } from './sqlite-bench.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

const MOVE = { id: 'move-1', to: 'the other end' }

let folder: string
let path: string
beforeEach(async () => {
  folder = freshFolder()
  path = join(folder, 'x.db')
  await smallFile(path)
})

function source() {
  const opened = sqliteSource({ path })
  onTestFinished(opened.close)
  return opened
}
async function opening(): Promise<Error | undefined> {
  const store = sqliteStore({ path, inThread: true })
  return store.open({ clock: systemClock(), log }).then(
    () => store.close().then(() => undefined),
    (thrown: Error) => thrown,
  )
}
function change(sql: string): void {
  const { DatabaseSync } = loadDriver()
  const db: SqliteHandle = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

describe('a SQLite file that is read out', () => {
  it('gives its rows in an order in which they can be written, and changes nothing', async () => {
    const before = contentsOf(folder)
    const one = source()
    const counts: Partial<Record<MovedKind, number>> = {}
    for await (const { kind, rows } of one.rows()) counts[kind] = (counts[kind] ?? 0) + rows.length
    expect(Object.entries(counts)).toEqual(Object.entries(SMALL))
    one.close()
    expect(contentsOf(folder)).toEqual(before)
  })

  it('gives many rows in many batches, each place once and in order, whatever is collected meanwhile', async () => {
    const store = sqliteStore({ path, inThread: true })
    await store.open({ clock: systemClock(), log })
    const [webhook] = await store.webhooks.list(['acme'])
    for (let round = 0; round < 4; round += 1) {
      const events = Array.from({ length: 300 }, () => newEvent({ accountId: 'acme' }))
      const deliveries = events.map((event) => newDelivery(webhook!, event))
      await store.deliveries.accept({ events, deliveries, maxPending: 9_999 }, Date.now())
    }
    await store.close()
    const places: number[] = []
    const sizes: number[] = []
    const one = source()
    for await (const batch of one.rows()) {
      // A driver whose iterators do not hold their statements would crash here.
      collect()
      await new Promise(setImmediate)
      if (batch.kind !== 'deliveries') continue
      sizes.push(batch.rows.length)
      places.push(...batch.rows.map(({ position }) => position))
    }
    expect(sizes.length).toBeGreaterThan(2)
    expect(places).toHaveLength(1_206)
    expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
    expect(one.lastPosition).toBeGreaterThanOrEqual(places.at(-1)!)
  })

  it('is nobody else’s until it is closed, even when its rows were not read to the end', async () => {
    const one = source()
    for await (const _ of one.rows()) break
    expect((await opening())?.message).toMatch(/is in use by another process/)
    one.begin(MOVE)
    one.close()
    expect((await opening())?.message).toMatch(/is being moved to the other end, and may be there/)
  })

  it('remembers a move that was begun, and forgets one that is given up', async () => {
    const one = source()
    expect(one.begun).toBeUndefined()
    one.begin(MOVE)
    one.close()
    const two = source()
    expect(two.begun).toEqual(MOVE)
    two.abandon()
    two.close()
    expect(await opening()).toBeUndefined()
  })

  it('opens no more after it was moved, in every way that it could, until that is undone', async () => {
    const one = source()
    one.end(MOVE)
    one.close()
    const where = /was moved to the other end: .*'hookswitch migrate --from \S+x\.db --undo'/
    expect(await opening()).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect((await opening())?.message).toMatch(where)
    expect(() => sqliteSource({ path })).toThrow(where)
    expect(undoMove({ path })).toBe('the other end')
    expect(undoMove({ path })).toBeUndefined()
    expect(await opening()).toBeUndefined()
  })

  it.each([
    [
      'a delivery without its event',
      'delete from hookswitch_event where key = (select min(key) from hookswitch_event)',
    ],
    ['a delivery without its webhook', 'delete from hookswitch_webhook'],
    ['a row that is no JSON', "update hookswitch_account set doc = '{'"],
  ])('that has %s is damaged, and is not moved in part', async (_, sql) => {
    change(sql)
    const read = async () => {
      for await (const _ of source().rows());
    }
    expect(await errorOf(read())).toMatchObject({ code: 'StoreCorrupt' })
  })

  it('has rows of accounts that were removed, and of calls that nobody knows any more', async () => {
    change(`delete from hookswitch_account; delete from hookswitch_api_key; delete from hookswitch_call;
      update hookswitch_event set call = null`)
    const found: Record<string, number> = {}
    for await (const { kind, rows } of source().rows()) found[kind] = rows.length
    expect(found).toEqual({ webhooks: 1, events: 6, deliveries: 6 })
  })
})

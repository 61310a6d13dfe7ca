import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sqliteExportSource, sqliteStore, undoMigration } from 'hookswitch/sqlite'
import type { ExportedKind } from 'hookswitch/store'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { newDelivery, newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { acceptAll, createSmallFile, log, SMALL_COUNTS } from './migrate-harness.js'
import { contentsOf, rejectionOf, temporaryFolder } from './sqlite-harness.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

const EXPORT = { id: 'export-1', to: 'the target' }

let folder: string
let path: string
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder, 'x.db')
  await createSmallFile(path)
})

function openSource() {
  const opened = sqliteExportSource({ path })
  onTestFinished(opened.close)
  return opened
}
async function openError(): Promise<Error | undefined> {
  const store = sqliteStore({ path, inThread: true })
  return store.open({ clock: systemClock(), log }).then(
    () => store.close().then(() => undefined),
    (thrown: Error) => thrown,
  )
}
function runSql(sql: string): void {
  const { DatabaseSync } = loadDriver()
  const db: SqliteHandle = new DatabaseSync(path)
  db.exec(sql)
  db.close()
}

describe('an SQLite export', () => {
  it('yields rows in an order in which they can be inserted, and changes nothing', async () => {
    const before = contentsOf(folder)
    const first = openSource()
    const counts: Partial<Record<ExportedKind, number>> = {}
    for await (const { kind, rows } of first.rows()) counts[kind] = (counts[kind] ?? 0) + rows.length
    expect(Object.entries(counts)).toEqual(Object.entries(SMALL_COUNTS))
    first.close()
    expect(contentsOf(folder)).toEqual(before)
  })

  it('yields many rows in batches, each position once and in order, even during garbage collections', async () => {
    const store = sqliteStore({ path, inThread: true })
    await store.open({ clock: systemClock(), log })
    const [webhook] = await store.webhooks.list(['acme'])
    for (let round = 0; round < 4; round += 1) {
      const events = Array.from({ length: 300 }, () => newEvent({ accountId: 'acme' }))
      const deliveries = events.map((event) => newDelivery(webhook!, event))
      await acceptAll(store, events, deliveries)
    }
    await store.close()
    const positions: number[] = []
    const sizes: number[] = []
    const first = openSource()
    for await (const batch of first.rows()) {
      // A driver whose iterators do not reference their statements would crash here.
      collectGarbage()
      await new Promise(setImmediate)
      if (batch.kind !== 'deliveries') continue
      sizes.push(batch.rows.length)
      positions.push(...batch.rows.map(({ position }) => position))
    }
    expect(sizes.length).toBeGreaterThan(2)
    expect(positions).toHaveLength(1_206)
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b))
    expect(first.lastPosition).toBeGreaterThanOrEqual(positions.at(-1)!)
  })

  it('locks the file until it is closed, even when not all rows were read', async () => {
    const first = openSource()
    for await (const _ of first.rows()) break
    expect((await openError())?.message).toMatch(/is in use by another process/)
    first.begin(EXPORT)
    first.close()
    expect((await openError())?.message).toMatch(
      /is being moved to the target, and its contents may be there/,
    )
  })

  it('remembers an export that was begun, and forgets one that is abandoned', async () => {
    const first = openSource()
    expect(first.pendingExport).toBeUndefined()
    first.begin(EXPORT)
    first.close()
    const second = openSource()
    expect(second.pendingExport).toEqual(EXPORT)
    second.abandon()
    second.close()
    expect(await openError()).toBeUndefined()
  })

  it('prevents the exported file from opening in any way, until the migration is undone', async () => {
    const first = openSource()
    first.end(EXPORT)
    first.close()
    const where = /was moved to the target: .*'hookswitch migrate --from \S+x\.db --undo'/
    expect(await openError()).toMatchObject({ code: 'InvalidOption', field: 'path' })
    expect((await openError())?.message).toMatch(where)
    expect(() => sqliteExportSource({ path })).toThrow(where)
    expect(undoMigration({ path })).toBe('the target')
    expect(undoMigration({ path })).toBeUndefined()
    expect(await openError()).toBeUndefined()
  })

  it.each([
    [
      'a delivery without its event',
      'delete from hookswitch_event where position = (select min(position) from hookswitch_event)',
    ],
    ['a delivery without its webhook', 'delete from hookswitch_webhook'],
    ['a row that is not JSON', "update hookswitch_api_key set doc = '{'"],
  ])('rejects a file that has %s as damaged', async (_, sql) => {
    runSql(sql)
    const read = async () => {
      for await (const _ of openSource().rows());
    }
    expect(await rejectionOf(read())).toMatchObject({ code: 'StoreCorrupt' })
  })

  it('includes rows of removed accounts and of calls without a row', async () => {
    runSql(`delete from hookswitch_account; delete from hookswitch_api_key; delete from hookswitch_call;
      update hookswitch_event set call = null`)
    const found: Record<string, number> = {}
    for await (const { kind, rows } of openSource().rows()) found[kind] = rows.length
    expect(found).toEqual({ webhooks: 1, events: 6, deliveries: 6, encryptionRecords: 1 })
  })
})

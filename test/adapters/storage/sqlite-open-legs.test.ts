import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { SCHEMA_VERSION } from '../../../adapters/storage/sqlite/migrations.js'
import { type EngineStore, engineStore, temporaryDatabase } from './sqlite-engine-store.js'
import { createOldFile } from './sqlite-old-schema.js'

function openEngine(path: string): EngineStore {
  const store = engineStore(path, { now: () => 1 })
  onTestFinished(() => store.close())
  return store
}

function newFile(): string {
  const file = temporaryDatabase()
  onTestFinished(file.remove)
  return file.path
}

const leg = { callId: 'a', accountId: 'acme', state: '{"from":"MARK4711"}' }

it('a file of schema version 1 is migrated, and keeps its rows', async () => {
  const path = newFile()
  const db = createOldFile(path, 1)
  db.exec("insert into hookswitch_gone_account (id) values ('kept')")
  db.close()
  const store = openEngine(path)
  expect(store.db.prepare("select value from hookswitch_meta where name = 'schema'").get()).toEqual({
    value: SCHEMA_VERSION,
  })
  expect(store.db.prepare('select id from hookswitch_gone_account').all()).toEqual([{ id: 'kept' }])
  await store.openLegs.write('switch', { put: [leg], remove: [] }, 1)
  expect(await store.openLegs.list('switch', undefined, 9)).toEqual([leg])
})

it('nothing of an erased leg is left in the file', async () => {
  const path = newFile()
  const store = openEngine(path)
  // Not in the order of their ids, so that pages are split, which leaves copies of rows behind in pages that stay.
  for (const source of ['one', 'two']) {
    const legs = Array.from({ length: 997 }, (_, index) => {
      const callId = `${(index * 31) % 997}`
      return index % 3 === 0 ? { ...leg, callId } : { callId, accountId: 'other', state: '{}' }
    })
    await store.openLegs.write(source, { put: legs, remove: [] }, 1)
  }
  store.db.exec('pragma wal_checkpoint(truncate)')
  expect(readFileSync(path).includes('MARK4711')).toBe(true)
  while ((await store.openLegs.erase({ accountId: 'acme' }, 50)) > 0) {}
  await store.deliveries.scrub()
  expect(readFileSync(path).includes('MARK4711')).toBe(false)
})

import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { type EngineStore, engineStore, temporaryDatabase } from './sqlite-engine-store.js'

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

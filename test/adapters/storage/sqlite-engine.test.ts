import { describe, it } from 'vitest'
import { storeConformance } from '../../../src/store/conformance/index.js'
import { type EngineStore, engineStore, freshDatabase } from './sqlite-engine-store.js'

const remove = new Map<string, () => void>()
const clocks = new Map<string, { now(): number }>()

storeConformance(
  { describe, it },
  {
    name: 'the SQLite engine, in this thread',
    supports: { durable: true, sharedBetweenNodes: false, transactions: true },
    async open({ clock }) {
      const file = freshDatabase()
      remove.set(file.path, file.remove)
      clocks.set(file.path, clock)
      return engineStore(file.path, clock, true)
    },
    async reopen(store) {
      const { path } = store as EngineStore
      await store.close()
      return engineStore(path, clocks.get(path)!, true)
    },
    async close(store) {
      await store.close()
      remove.get((store as EngineStore).path)?.()
    },
    transaction: (store, end, work) => (store as EngineStore).transaction(end, work),
  },
)

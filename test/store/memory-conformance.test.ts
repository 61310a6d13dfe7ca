import { storeConformance } from 'hookswitch/testkit'
import { describe, it } from 'vitest'
import { memoryStore } from '../../src/store/memory.js'
import { log } from './memory/fixture.js'

for (const [name, shared] of [
  ['the memory store', false],
  ['the memory store shared between nodes', true],
] as const) {
  storeConformance(
    { describe, it },
    {
      name,
      supports: { durable: false, sharedBetweenNodes: shared, transactions: false },
      async open({ clock }) {
        const store = memoryStore({ shared })
        await store.open({ clock, log })
        return store
      },
    },
  )
}

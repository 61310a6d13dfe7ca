import { describe, expect, it } from 'vitest'
import type { Clock, Log } from '../../src/ports.js'
import type { Store } from '../../src/store/contract.js'
import { memoryStore } from '../../src/store/memory.js'
import { storeConformance } from '../../src/testkit/conformance/index.js'
import { brokenClocks, brokenSharedClocks } from './broken-clocks.js'
import { brokenEncryption } from './broken-encryption.js'
import { brokenOpenLegs } from './broken-open-legs.js'
import { brokenLeases, brokenQueues } from './broken-queues.js'
import { brokenRows } from './broken-rows.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Runs the suite without a test runner. Returns the rules that the store breaks, each after the name of its group. */
async function brokenRules(
  shared: boolean,
  breakStore: (store: Store, clock: Clock) => Store,
): Promise<string[]> {
  const path: string[] = []
  const tests: { readonly name: string; readonly body: () => Promise<void> }[] = []
  storeConformance(
    {
      describe(name, body) {
        path.push(name)
        body()
        path.pop()
      },
      it: (name, body) => tests.push({ name: [...path.slice(1), name].join(': '), body }),
    },
    {
      name: 'a store',
      supports: { durable: false, sharedBetweenNodes: shared, transactions: false },
      notificationTimeoutMs: 5,
      async open({ clock }) {
        const store = memoryStore({ shared })
        await store.open({ clock, log })
        return breakStore(store, clock)
      },
    },
  )
  const broken: string[] = []
  for (const { name, body } of tests) await body().catch(() => broken.push(name))
  return broken
}

describe('the conformance suite', () => {
  it.each([false, true])('passes for a correct store (shared: %s)', async (shared) => {
    expect(await brokenRules(shared, (store) => store)).toEqual([])
  })

  it.each([...brokenQueues, ...brokenRows, ...brokenOpenLegs, ...brokenEncryption, ...brokenClocks])(
    'notices that %s',
    async (_fault, caughtBy, breaking) => {
      const broken = await brokenRules(false, breaking)
      expect(broken.map((name) => name.split(': ')[0])).toContain(caughtBy)
    },
  )

  it.each([...brokenLeases, ...brokenSharedClocks])(
    'notices that %s, in a shared store',
    async (_fault, caughtBy, breaking) => {
      const broken = await brokenRules(true, breaking)
      expect(broken.map((name) => name.split(': ')[0])).toContain(caughtBy)
    },
  )
})

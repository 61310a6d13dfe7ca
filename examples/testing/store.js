// @ts-check
/** Tests a custom store: here the memory store with each call delayed by one event-loop turn. Run by node-test.js. */
import { memoryStore } from 'hookswitch'
import { storeModel } from 'hookswitch/simulator'
import { storeConformance } from 'hookswitch/testkit'

/**
 * @param {import('hookswitch/store').Store} store
 * @returns {import('hookswitch/store').Store}
 */
export function delayedStore(store) {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** @template {object} Part @param {Part} part @returns {Part} */
  const delayed = (part) => {
    const methods = Object.entries(part).map(([name, method]) => [
      name,
      // The only synchronous method.
      name === 'subscribe'
        ? method
        : async (/** @type {unknown[]} */ ...args) => turn().then(() => method(...args)),
    ])
    return Object.fromEntries(methods)
  }
  return {
    ...store,
    accounts: delayed(store.accounts),
    tokens: delayed(store.tokens),
    webhooks: delayed(store.webhooks),
    deliveries: delayed(store.deliveries),
    replays: delayed(store.replays),
  }
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

/** @type {import('hookswitch/testkit').StoreHarness} */
export const harness = {
  name: 'the delayed store',
  supports: { durable: false, sharedBetweenNodes: false, transactions: false },
  async open({ clock }) {
    const store = delayedStore(memoryStore()) // your store, empty
    await store.open({ clock, log })
    return store
  },
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, fc }) {
  storeConformance({ describe, it }, harness)
  describe('random histories of the delayed store', () => {
    it('equal those of the model', () => storeModel(fc, harness).check({ numRuns: 20 }))
  })
}

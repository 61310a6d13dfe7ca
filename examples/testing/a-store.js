// @ts-check
/** Proving a store of your own: here the memory store as if it were far away, each call a turn of the event loop late. */
import { memoryStore } from 'hookswitch'
import { serviceModel, storeConformance, storeModel } from 'hookswitch/testkit'

/**
 * @param {import('hookswitch/store').Store} store
 * @returns {import('hookswitch/store').Store}
 */
export function distantStore(store) {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  /** @template {object} Door @param {Door} door @returns {Door} */
  const distant = (door) => {
    const methods = Object.entries(door).map(([name, method]) => [
      name,
      // The one method that answers at once.
      name === 'subscribe'
        ? method
        : async (/** @type {unknown[]} */ ...args) => turn().then(() => method(...args)),
    ])
    return Object.fromEntries(methods)
  }
  return {
    ...store,
    accounts: distant(store.accounts),
    tokens: distant(store.tokens),
    webhooks: distant(store.webhooks),
    deliveries: distant(store.deliveries),
  }
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

/** @type {import('hookswitch/testkit').StoreHarness} */
export const harness = {
  name: 'the distant store',
  supports: { durable: false, sharedBetweenNodes: false, transactions: false },
  async open({ clock }) {
    const store = distantStore(memoryStore()) // yours, with nothing in it
    await store.open({ clock, log })
    return store
  },
}

/** @param {import('./node-test.js').Tools} tools */
export function run({ describe, it, fc }) {
  storeConformance({ describe, it }, harness)
  describe('histories of the distant store', () => {
    it('are those of the model', () => storeModel(fc, harness).check({ numRuns: 20 }))
    it('are those of the model, with a whole service on it', () =>
      serviceModel(fc, harness).check({ numRuns: 5 }))
  })
}

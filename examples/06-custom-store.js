// @ts-check
/**
 * The seam of stores, here wrapped to count the calls of the memory store, and the conformance suite that checks a store.
 * After `npm run build`: `node --test examples/06-custom-store.js`; under vitest it registers with vitest instead.
 */
import { memoryStore } from 'hookswitch'
import { storeConformance } from 'hookswitch/testkit'

/** The suite receives the test runner as an argument. @type {import('hookswitch/testkit').ConformanceRunner} */
const { describe, it } = await import(process.env.VITEST ? 'vitest' : 'node:test')

/** @type {Map<string, number>} */
const counts = new Map()

/**
 * Wraps a store and counts every call of its methods.
 *
 * @param {import('hookswitch/store').Store} store
 * @returns {import('hookswitch/store').Store}
 */
function countingStore(store) {
  /** @template {object} Part @param {string} partName @param {Part} part @returns {Part} */
  const counted = (partName, part) => {
    const count = (/** @type {string} */ name) => counts.set(name, (counts.get(name) ?? 0) + 1)
    const methods = Object.entries(part).map(([name, method]) => [
      name,
      (/** @type {unknown[]} */ ...args) => {
        count(`${partName}.${name}`)
        return method(...args)
      },
    ])
    return Object.fromEntries(methods)
  }
  return {
    ...store,
    accounts: counted('accounts', store.accounts),
    tokens: counted('tokens', store.tokens),
    webhooks: counted('webhooks', store.webhooks),
    deliveries: counted('deliveries', store.deliveries),
    replays: counted('replays', store.replays),
  }
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

storeConformance(
  { describe, it },
  {
    name: 'conformance of the counting store',
    supports: { durable: false, sharedBetweenNodes: false, transactions: false },
    async open({ clock }) {
      const store = countingStore(memoryStore())
      await store.open({ clock, log })
      return store
    },
  },
)

describe('the counting store', () => {
  it('has counted calls of commit', async () => {
    if (!counts.get('deliveries.commit')) throw new Error('nothing was counted')
  })
})

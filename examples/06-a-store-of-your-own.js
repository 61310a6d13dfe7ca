// @ts-check
/**
 * A store of your own, here one that counts what it is asked, and the suite that tells whether it keeps every
 * promise of the contract. Run it with `node --test`; with vitest import the same two functions from there.
 */
import { memoryStore } from 'hookswitch'
import { storeConformance } from 'hookswitch/testkit'

/** The suite takes the test runner as an argument. @type {import('hookswitch/testkit').ConformanceRunner} */
const { describe, it } = await import(process.env.VITEST ? 'vitest' : 'node:test')

/** @type {Map<string, number>} */
const counts = new Map()

/**
 * Any store, with every call of its doors counted.
 *
 * @param {import('hookswitch/store').Store} store
 * @returns {import('hookswitch/store').Store}
 */
function countingStore(store) {
  /** @template {object} Door @param {string} noun @param {Door} door @returns {Door} */
  const counted = (noun, door) => {
    const count = (/** @type {string} */ verb) => counts.set(verb, (counts.get(verb) ?? 0) + 1)
    const methods = Object.entries(door).map(([name, method]) => [
      name,
      (/** @type {unknown[]} */ ...args) => {
        count(`${noun}.${name}`)
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
  }
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

storeConformance(
  { describe, it },
  {
    name: 'the counting store',
    supports: { durable: false, sharedBetweenNodes: false, transactions: false },
    async open({ clock }) {
      const store = countingStore(memoryStore())
      await store.open({ clock, log })
      return store
    },
  },
)

describe('the counting store in use', () => {
  it('was asked to accept', async () => {
    if (!counts.get('deliveries.accept')) throw new Error('nothing was counted')
  })
})

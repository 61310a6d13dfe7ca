import { acceptPromises } from './accept.js'
import { accountPromises } from './accounts.js'
import { attemptPromises } from './attempts.js'
import { carriedPromises } from './carried.js'
import { claimPromises } from './claim.js'
import { closingPromises, durabilityPromises } from './closing.js'
import { deliveryPromises } from './deliveries.js'
import { epochPromises } from './epochs.js'
import { erasurePromises } from './erasure.js'
import { healthPromises } from './health.js'
import { inboxPromises } from './inbox.js'
import { lanePromises } from './lanes.js'
import { leasePromises } from './leases.js'
import { legPromises } from './legs.js'
import { numberingPromises } from './numbering.js'
import { ownershipPromises, singleNodePromises } from './ownership.js'
import { prunePromises } from './prune.js'
import { settlePromises } from './settle.js'
import { sharePromises } from './shares.js'
import { tokenPromises } from './tokens.js'
import { userPromises } from './users.js'
import { wakeupPromises } from './wakeups.js'
import { webhookPromises } from './webhooks.js'
import { openWorkbench, type Promised, type StoreHarness } from './workbench.js'

export type { StoreHarness } from './workbench.js'

/** What the suite needs of a test runner: vitest's, mocha's and `node:test`'s `describe` and `it` fit as they are. */
export interface ConformanceRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

/**
 * Registers one test for every promise of the store contract, in words. Each opens a store of its own.
 *
 * @param runner the test runner, as two functions
 * @param harness how to open the store under test; `supports` decides which promises it has to keep
 *
 * @example
 * storeConformance({ describe, it }, {
 *   name: 'my store',
 *   supports: { durable: false, sharedBetweenNodes: false, transactions: false },
 *   async open({ clock }) {
 *     const store = myStore()
 *     await store.open({ clock, log: silent })
 *     return store
 *   },
 * })
 */
export function storeConformance(runner: ConformanceRunner, harness: StoreHarness): void {
  const { durable, sharedBetweenNodes, transactions } = harness.supports
  const themes: readonly (readonly [string, (promised: Promised) => void])[] = [
    ['accounts', accountPromises],
    ['users', userPromises],
    ['tokens', tokenPromises],
    ['webhooks', webhookPromises],
    ['accept', acceptPromises],
    ['numbers and idempotency keys', numberingPromises],
    ['ownership', ownershipPromises],
    sharedBetweenNodes ? ['several nodes', leasePromises] : ['one node', singleNodePromises],
    ['claim', claimPromises],
    ['shares of the room', sharePromises],
    ['what a claim carries', carriedPromises],
    ['settle', settlePromises],
    ['lanes', lanePromises],
    ['epochs', epochPromises],
    ['health', healthPromises],
    ['deliveries', deliveryPromises],
    ['attempts', attemptPromises],
    ['legs', legPromises],
    ['wake-ups', wakeupPromises],
    ['pruning', prunePromises],
    ['erasure', erasurePromises],
    ['closing', closingPromises],
    ...(transactions ? [['inbox', inboxPromises] as const] : []),
    ...(durable ? [['durability', durabilityPromises] as const] : []),
  ]
  runner.describe(harness.name, () => {
    for (const [theme, promises] of themes) {
      runner.describe(theme, () => {
        promises((sentence, proof) => {
          runner.it(sentence, () => prove(harness, proof))
        })
      })
    }
  })
}

async function prove(harness: StoreHarness, proof: Parameters<Promised>[1]): Promise<void> {
  const bench = await openWorkbench(harness)
  try {
    await proof(bench)
  } finally {
    await (harness.close ? harness.close(bench.store) : bench.store.close())
  }
}

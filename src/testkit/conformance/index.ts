import { acceptRules } from './accept.js'
import { accountRules } from './accounts.js'
import { attemptRules } from './attempts.js'
import { callIndexRules } from './call-index.js'
import { changeRules } from './changes.js'
import { closingRules, durabilityRules } from './closing.js'
import { crashRules } from './crashes.js'
import { deliveryRules } from './deliveries.js'
import { encryptionRules } from './encryption.js'
import { endpointRules } from './endpoints.js'
import { epochRules } from './epochs.js'
import { erasureRules } from './erasure.js'
import { type DefineRule, openFixture, type StoreHarness } from './fixture.js'
import { groupRules } from './groups.js'
import { healthRules } from './health.js'
import { historyRules } from './history.js'
import { holdRules } from './holds.js'
import { inboxRules, sharedInboxRules } from './inbox.js'
import { laneRules, sharedLaneRules } from './lanes.js'
import { legRules } from './legs.js'
import { liveRules } from './live.js'
import { loadRules } from './load.js'
import { nodeRules } from './nodes.js'
import { notificationRules, sharedNotificationRules } from './notifications.js'
import { numberingRules } from './numbering.js'
import { openLegRules } from './open-legs.js'
import { ownershipRules, singleNodeRules } from './ownership.js'
import { pruneRules } from './prune.js'
import { repeatRules } from './repeats.js'
import { replayJobRules } from './replay-jobs.js'
import { replayRules } from './replays.js'
import { settleRules } from './settle.js'
import { startRules } from './starts.js'
import { statsRules } from './stats.js'
import { tokenRules } from './tokens.js'
import { userRules } from './users.js'
import { webhookRules } from './webhooks.js'

export type { StoreHarness } from './fixture.js'

/** The functions of a test runner: `describe` and `it` of vitest, mocha or `node:test` fit. */
export interface ConformanceRunner {
  /** Groups the tests that `body` registers. */
  readonly describe: (name: string, body: () => void) => unknown
  /** Registers a test, which fails if `body` rejects. */
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

/**
 * Registers one test for every rule of the store contract. Each test opens its own store.
 *
 * @param runner `describe` and `it` of the test runner
 * @param harness opens the store under test; `supports` selects the rules that apply
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
  const { durable, sharedBetweenNodes, transactions, liveItems = false } = harness.supports
  const groups: readonly (readonly [string, (rule: DefineRule) => void])[] = [
    ['accounts', accountRules],
    ['users', userRules],
    ['tokens', tokenRules],
    ['webhooks', webhookRules],
    ['accept', acceptRules],
    ['numbers and idempotency keys', numberingRules],
    ['groups', groupRules],
    ['ownership', ownershipRules],
    sharedBetweenNodes ? ['several nodes', nodeRules] : ['one node', singleNodeRules],
    ...(harness.crash ? [['crashed nodes', crashRules] as const] : []),
    ['settle', settleRules],
    ['starts', startRules],
    ['repeated groups', repeatRules],
    ['loads and bodies', loadRules],
    ['changes', changeRules],
    ['lanes', laneRules],
    ...(sharedBetweenNodes ? [['lanes for readers of other nodes', sharedLaneRules] as const] : []),
    ['epochs', epochRules],
    ['health', healthRules],
    ['deliveries', deliveryRules],
    ['replays', replayRules],
    ['replay jobs', replayJobRules],
    ['attempts', attemptRules],
    ['legs', legRules],
    ['notifications', notificationRules],
    ...(sharedBetweenNodes ? [['notifications of several nodes', sharedNotificationRules] as const] : []),
    ['pruning', pruneRules],
    ['size of the history', historyRules],
    ['erasure', erasureRules],
    ['open legs', openLegRules],
    ['encryption', encryptionRules],
    ['holds', holdRules],
    ['call index', callIndexRules],
    ['endpoints', endpointRules],
    ['statistics', statsRules],
    ['closing', closingRules],
    ...(transactions ? [['inbox', inboxRules] as const] : []),
    ...(transactions && sharedBetweenNodes ? [['inbox of several nodes', sharedInboxRules] as const] : []),
    ...(liveItems ? [['live items', liveRules] as const] : []),
    ...(durable ? [['durability', durabilityRules] as const] : []),
  ]
  runner.describe(harness.name, () => {
    for (const [group, defineRules] of groups) {
      runner.describe(group, () => {
        defineRules((sentence, check) => {
          runner.it(sentence, () => runRule(harness, check))
        })
      })
    }
  })
}

async function runRule(harness: StoreHarness, check: Parameters<DefineRule>[1]): Promise<void> {
  const fixture = await openFixture(harness)
  try {
    await check(fixture)
  } finally {
    await fixture.close()
  }
}

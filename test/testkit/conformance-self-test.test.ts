import { describe, expect, it } from 'vitest'
import { brokenAccounts, brokenTokens, brokenUsers, brokenWebhooks } from './broken-accounts.js'
import { brokenClocks, brokenSharedClocks } from './broken-clocks.js'
import { brokenClosing, brokenDurability } from './broken-durability.js'
import { brokenEncryption } from './broken-encryption.js'
import { brokenEndpoints } from './broken-endpoints.js'
import { brokenAcceptances, brokenGroups, brokenNumbers, brokenRepeats } from './broken-groups.js'
import { brokenInboxes, brokenSharedInboxes } from './broken-inbox.js'
import { brokenLiveItems } from './broken-live.js'
import {
  brokenChanges,
  brokenLanes,
  brokenLoads,
  brokenNotifications,
  brokenOwnership,
  brokenSharedLanes,
} from './broken-loads.js'
import { brokenNodes, brokenSharedNotifications } from './broken-nodes.js'
import { brokenOpenLegs } from './broken-open-legs.js'
import { brokenHistory, brokenReplayJobs, brokenReplays } from './broken-replays.js'
import {
  brokenAttempts,
  brokenDeliveries,
  brokenEpochs,
  brokenErasure,
  brokenHealth,
  brokenLegs,
  brokenPruning,
} from './broken-rows.js'
import { brokenSettlements, brokenStarts } from './broken-settlements.js'
import { brokenStats } from './broken-stats.js'
import { type Fault, smallParts } from './broken-store.js'
import { allRules, brokenRules } from './conformance-self-test-harness.js'

/** Defects of stores for one node. */
const FAULTS: readonly Fault[] = [
  ...brokenAccounts,
  ...brokenUsers,
  ...brokenTokens,
  ...brokenWebhooks,
  ...brokenAcceptances,
  ...brokenNumbers,
  ...brokenGroups,
  ...brokenRepeats,
  ...brokenSettlements,
  ...brokenStarts,
  ...brokenLoads,
  ...brokenChanges,
  ...brokenOwnership,
  ...brokenClocks,
  ...brokenLanes,
  ...brokenEpochs,
  ...brokenHealth,
  ...brokenDeliveries,
  ...brokenReplays,
  ...brokenReplayJobs,
  ...brokenAttempts,
  ...brokenLegs,
  ...brokenNotifications,
  ...brokenPruning,
  ...brokenHistory,
  ...brokenErasure,
  ...brokenOpenLegs,
  ...brokenEncryption,
  ...brokenEndpoints,
  ...brokenStats,
  ...brokenInboxes,
  ...brokenDurability,
  ...brokenClosing,
]

/** Defects that only show with several nodes on one store. */
const SHARED_FAULTS: readonly Fault[] = [
  ...brokenNodes,
  ...brokenSharedLanes,
  ...brokenSharedClocks,
  ...brokenSharedNotifications,
  ...brokenSharedInboxes,
  ...brokenLiveItems,
]

/** The rules that each defect breaks, in the group that must notice it. */
const results = new Map<Fault, Promise<readonly string[]>>()

function resultOf(fault: Fault): Promise<readonly string[]> {
  const result = results.get(fault) ?? brokenRules(SHARED_FAULTS.includes(fault), fault)
  results.set(fault, result)
  return result
}

const named = (faults: readonly Fault[]) =>
  faults.map((fault) => [`${fault.sentence} (${fault.caughtBy})`, fault] as const)

describe('the conformance suite', () => {
  it.each([false, true])('passes for a correct store (shared: %s)', async (isShared) => {
    expect(await brokenRules(isShared)).toEqual([])
  })

  it('passes where each node has its own store object', async () => {
    expect(await brokenRules(true, {}, true)).toEqual([])
  })

  it('passes for a correct store that loads in small parts', async () => {
    expect(await brokenRules(false, smallParts)).toEqual([])
  })

  it.each(named(FAULTS))('notices that %s', async (_name, fault) => {
    expect(await resultOf(fault)).not.toEqual([])
  })

  it.each(named(SHARED_FAULTS))('notices, in a shared store, that %s', async (_name, fault) => {
    expect(await resultOf(fault)).not.toEqual([])
  })

  it('has no rule that passes for every defect', async () => {
    const broken = new Set<string>()
    for (const fault of [...FAULTS, ...SHARED_FAULTS])
      for (const rule of await resultOf(fault)) broken.add(rule)
    const rules = new Set([...allRules(false), ...allRules(true)])
    expect([...rules].filter((rule) => !broken.has(rule))).toEqual([])
  })

  it('has no two defects with the same name', () => {
    const names = named([...FAULTS, ...SHARED_FAULTS]).map(([name]) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

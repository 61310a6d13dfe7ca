/** Defects of stores, one list per subject. They are added to a correct store while it runs. */
import { brokenAccounts, brokenTokens, brokenUsers, brokenWebhooks } from './accounts.js'
import { brokenCallIndex } from './call-index.js'
import { brokenClocks, brokenSharedClocks } from './clocks.js'
import { brokenClosing, brokenDurability } from './durability.js'
import { brokenEncryption } from './encryption.js'
import { brokenEndpoints } from './endpoints.js'
import { brokenAcceptances, brokenGroups, brokenNumbers, brokenRepeats } from './groups.js'
import { brokenHolds } from './holds.js'
import { brokenInboxes, brokenSharedInboxes } from './inbox.js'
import { brokenLiveItems } from './live.js'
import {
  brokenChanges,
  brokenLanes,
  brokenLoads,
  brokenNotifications,
  brokenOwnership,
  brokenSharedLanes,
} from './loads.js'
import { brokenNodes, brokenSharedNotifications } from './nodes.js'
import { brokenOpenLegs } from './open-legs.js'
import { brokenHistory, brokenReplayJobs, brokenReplays } from './replays.js'
import {
  brokenAttempts,
  brokenDeliveries,
  brokenEpochs,
  brokenErasure,
  brokenHealth,
  brokenLegs,
  brokenPruning,
} from './rows.js'
import { brokenSequences } from './sequences.js'
import { brokenSettlements, brokenStarts } from './settlements.js'
import { brokenStats } from './stats.js'
import type { StoreFault } from './store-fault.js'

export const STORE_FAULTS: readonly StoreFault[] = [
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
  ...brokenLanes,
  ...brokenSharedLanes,
  ...brokenNotifications,
  ...brokenClocks,
  ...brokenSharedClocks,
  ...brokenEpochs,
  ...brokenHealth,
  ...brokenDeliveries,
  ...brokenAttempts,
  ...brokenLegs,
  ...brokenPruning,
  ...brokenErasure,
  ...brokenReplays,
  ...brokenReplayJobs,
  ...brokenHistory,
  ...brokenOpenLegs,
  ...brokenEncryption,
  ...brokenHolds,
  ...brokenCallIndex,
  ...brokenEndpoints,
  ...brokenStats,
  ...brokenInboxes,
  ...brokenSharedInboxes,
  ...brokenDurability,
  ...brokenClosing,
  ...brokenNodes,
  ...brokenSharedNotifications,
  ...brokenLiveItems,
  ...brokenSequences,
]

/**
 * The store contract over one connection, synchronously, for the only owner of the file. The caller runs each group of
 * calls in a transaction and reports its commit or rollback (`group-commit.ts`).
 */
import type {
  CallIndexStore,
  EncryptionStore,
  HoldStore,
  InboxStore,
  NodeLease,
  OpenLegStore,
  QueueStore,
  ReplayStore,
  StatsStore,
  TokenStore,
  WebhookStore,
} from 'hookswitch/store'
import { createAccountStore } from './accounts.js'
import { createActivityQuery } from './activity.js'
import {
  createAttemptLog,
  createAttemptPart,
  createAttemptQuery,
  createLastSuccessQuery,
} from './attempts.js'
import { createCallIndexStore } from './call-index.js'
import { createContext } from './context.js'
import type { SqliteHandle } from './driver.js'
import type { Encoded } from './encoded-values.js'
import { createEncryptionStore } from './encryption.js'
import { createErase } from './erase.js'
import { createHistory } from './history.js'
import { createHoldStore } from './holds.js'
import { createStagedQuery } from './inbox.js'
import { createMentionSearch } from './mentions.js'
import { createOpenLegStore } from './open-legs.js'
import { createPrune } from './prune.js'
import { createDeliveryQueries } from './queries.js'
import { createQueue } from './queue.js'
import { createReplayableCount } from './replayable.js'
import { createReplayStore } from './replays.js'
import type { RpcAccounts } from './rpc-methods.js'
import { createSecureVacuum } from './secure-vacuum.js'
import { createStatsStore } from './stats.js'
import type { Synchronous } from './synchronous.js'
import { createTokenStore } from './tokens.js'
import { createWebhookStore } from './webhooks.js'

/** The queue store, with the time of the machine's clock as an argument, and groups and their results encoded. */
interface EngineDeliveries extends Omit<Synchronous<QueueStore>, 'own' | 'renew' | 'commit' | 'subscribe'> {
  own(owner: string, leaseMs: number, machineMs: number): NodeLease
  renew(owner: string, leaseMs: number, machineMs: number): NodeLease
  commit(group: Encoded): Encoded
}

/**
 * A method that throws a HookswitchError has written nothing. After any other error the caller must roll back the whole
 * transaction.
 */
export interface Engine {
  readonly accounts: Synchronous<RpcAccounts>
  readonly tokens: Synchronous<TokenStore>
  readonly webhooks: Synchronous<WebhookStore>
  /** `scrub` must be called outside any transaction. */
  readonly deliveries: EngineDeliveries
  readonly inbox: Pick<Synchronous<InboxStore>, 'staged'>
  readonly openLegs: Synchronous<OpenLegStore>
  readonly replays: Synchronous<ReplayStore>
  readonly encryption: Synchronous<EncryptionStore>
  readonly holds: Synchronous<HoldStore>
  readonly stats: Synchronous<StatsStore>
  readonly callIndex: Synchronous<CallIndexStore>
  /** Number of webhook changes since the engine was created. */
  webhookVersion(): number
  /** Whether committed calls since the last call of this method concern the subscribers. */
  takeNotice(): boolean
  /** The transaction of the last calls was committed. */
  committed(): void
  /** The transaction was rolled back: the engine discards its caches. */
  rolledBack(): void
}

/**
 * @param db a connection whose schema is up to date (`migrateSchema`)
 */
export function createEngine(db: SqliteHandle): Engine {
  const context = createContext(db)
  const { endpoints, accounts, phoneCalls } = context
  const { scrub, noteErased } = createSecureVacuum(db)
  const webhooks = createWebhookStore(context)
  const { deliveryPart, ...queries } = createDeliveryQueries(context)
  const attemptPart = createAttemptPart(context)

  return {
    accounts: createAccountStore(context, webhooks),
    tokens: createTokenStore(context),
    webhooks,
    deliveries: {
      ...createQueue(context),
      ...queries,
      listPart: (query) => (query.list === 'attempts' ? attemptPart : deliveryPart)(query),
      countReplayable: createReplayableCount(context),
      attempts: createAttemptQuery(context),
      eventBodies: (keys) => keys.map(context.eventBodies.read),
      attemptLog: createAttemptLog(context),
      lastSuccesses: createLastSuccessQuery(context),
      activity: createActivityQuery(context),
      legs(accountId, callId) {
        const account = accounts.find(accountId)
        return account === undefined ? [] : phoneCalls.legs(account, callId)
      },
      prune: createPrune(context),
      ...createHistory(context),
      erase: createErase(context, noteErased),
      mentions: createMentionSearch(context),
      scrub,
    },
    inbox: { staged: createStagedQuery(context) },
    openLegs: createOpenLegStore(context, noteErased),
    replays: createReplayStore(context, noteErased),
    encryption: createEncryptionStore(context),
    holds: createHoldStore(context),
    stats: createStatsStore(context),
    callIndex: createCallIndexStore(context, noteErased),
    webhookVersion: endpoints.version,
    takeNotice: context.takeNotice,
    committed: context.committed,
    rolledBack: context.rolledBack,
  }
}

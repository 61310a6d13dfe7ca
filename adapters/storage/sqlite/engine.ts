/**
 * The store contract over one connection, synchronously, for the only owner of the file. The caller runs each group of
 * calls in a transaction and reports its commit or rollback (`group-commit.ts`).
 */
import type {
  AccountStore,
  DeliveryStore,
  EncryptionStore,
  InboxStore,
  OpenLegStore,
  Ownership,
  TokenStore,
  WebhookStore,
} from 'hookswitch/store'
import { createAccept } from './accept.js'
import { createAccountStore } from './accounts.js'
import { createAttemptQuery, createLastSuccessQuery } from './attempts.js'
import { createClaim } from './claim.js'
import { createContext, type Notify } from './context.js'
import type { SqliteHandle } from './driver.js'
import { createEncryptionStore } from './encryption.js'
import { createErase } from './erase.js'
import { createStagedQuery } from './inbox.js'
import { createLeases } from './leases.js'
import { createMentionSearch } from './mentions.js'
import { createOpenLegStore } from './open-legs.js'
import { createPrune } from './prune.js'
import { createDeliveryQueries } from './queries.js'
import { createSecureVacuum } from './secure-vacuum.js'
import { createSettle } from './settle.js'
import type { Synchronous } from './synchronous.js'
import { createTokenStore } from './tokens.js'
import { createWebhookStore } from './webhooks.js'

/** The delivery store, with the time of the machine's clock as an argument. Notifications go through `createEngine`. */
export interface EngineDeliveries extends Omit<Synchronous<DeliveryStore>, 'own' | 'renew' | 'subscribe'> {
  own(owner: string, leaseMs: number, machineMs: number): Ownership
  renew(owner: string, leaseMs: number, machineMs: number): Ownership
}

/**
 * A method that throws a HookswitchError has written nothing. After any other error the caller must roll back the whole
 * transaction.
 */
export interface Engine {
  readonly accounts: Synchronous<AccountStore>
  readonly tokens: Synchronous<TokenStore>
  readonly webhooks: Synchronous<WebhookStore>
  /** `scrub` must be called outside any transaction. */
  readonly deliveries: EngineDeliveries
  readonly inbox: Pick<Synchronous<InboxStore>, 'staged'>
  readonly openLegs: Synchronous<OpenLegStore>
  readonly encryption: Synchronous<EncryptionStore>
  /** Number of webhook changes since the engine was created. */
  webhookVersion(): number
  /** The transaction of the last calls was committed. */
  committed(): void
  /** The transaction was rolled back: the engine discards its caches. */
  rolledBack(): void
}

/**
 * @param db a connection whose schema is up to date (`migrateSchema`)
 * @param notify called inside the transaction; the caller forwards the notification after the commit
 */
export function createEngine(db: SqliteHandle, notify: Notify): Engine {
  const context = createContext(db, notify)
  const { state, endpoints, accounts, phoneCalls } = context
  const { scrub, noteErased } = createSecureVacuum(db)
  const erase = createErase(context, noteErased)

  const webhooks = createWebhookStore(context)

  return {
    accounts: createAccountStore(db, webhooks),
    tokens: createTokenStore(db),
    webhooks,
    deliveries: {
      ...createLeases(context),
      ...createDeliveryQueries(context),
      accept: createAccept(context),
      claim: createClaim(context),
      settle: createSettle(context),
      webhookOf: (webhookId) => endpoints.byId(webhookId)?.webhook,
      attempts: createAttemptQuery(context),
      lastSuccesses: createLastSuccessQuery(context),
      legs(accountId, callId) {
        const account = accounts.find(accountId)
        return account === undefined ? [] : phoneCalls.legs(account, callId)
      },
      pending: () => state.pending,
      prune: createPrune(context),
      erase: (erasure, limit) => erase(erasure, limit, state.storeMs),
      mentions: createMentionSearch(context),
      scrub,
    },
    inbox: { staged: createStagedQuery(context) },
    openLegs: createOpenLegStore(db, noteErased),
    encryption: createEncryptionStore(context),
    webhookVersion: endpoints.version,
    committed: context.committed,
    rolledBack: context.rolledBack,
  }
}

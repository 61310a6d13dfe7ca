import type {
  AccountStore,
  DeliveryStore,
  InboxStore,
  Ownership,
  TokenStore,
  WebhookStore,
} from 'hookswitch/store'
import { acceptor } from './accept.js'
import { accountDoor } from './accounts.js'
import { attemptReader } from './attempts.js'
import { claimer } from './claim.js'
import type { SqliteHandle } from './driver.js'
import { eraser } from './erase.js'
import { stagedReader } from './inbox.js'
import { leases } from './leases.js'
import { mentionFinder } from './mentions.js'
import { pruner } from './prune.js'
import { deliveryReader } from './readback.js'
import { scrubber } from './scrub.js'
import { settler } from './settle.js'
import type { Synchronous } from './synchronous.js'
import { tokenDoor } from './tokens.js'
import { toolsFor, type Wake } from './tools.js'
import { webhookDoor } from './webhooks.js'

/** The delivery door as the engine has it: it is told the store's time, and wakes through `createEngine`. */
export interface DeliveryEngine extends Omit<Synchronous<DeliveryStore>, 'own' | 'renew' | 'subscribe'> {
  own(owner: string, leaseMs: number, storeMs: number): Ownership
  renew(owner: string, leaseMs: number, storeMs: number): Ownership
}

/**
 * The doors of the contract over one connection, synchronous, for the only owner of the file. It begins no
 * transaction: its caller puts one around a group of calls. A method that throws a HookswitchError has written
 * nothing; anything else thrown means that the whole transaction must be rolled back.
 */
export interface Engine {
  readonly accounts: Synchronous<AccountStore>
  readonly tokens: Synchronous<TokenStore>
  readonly webhooks: Synchronous<WebhookStore>
  /** `scrub` stands outside any transaction, alone. */
  readonly deliveries: DeliveryEngine
  readonly inbox: Pick<Synchronous<InboxStore>, 'staged'>
  /** How often webhooks have changed since this began. */
  webhookChanges(): number
  /** The transaction around the last calls was committed. */
  committed(): void
  /** It was rolled back: what the engine remembers of it is forgotten. */
  rolledBack(): void
}

/**
 * @param db a connection whose schema is up to date (`migrate`)
 * @param wake told what became ready or stale; its caller passes it on after the commit
 */
export function createEngine(db: SqliteHandle, wake: Wake): Engine {
  const tools = toolsFor(db, wake)
  const { memory, endpoints, accounts, calls } = tools
  const { scrub, noteErased } = scrubber(db)
  const erase = eraser(tools, noteErased)

  return {
    accounts: accountDoor(db),
    tokens: tokenDoor(db),
    webhooks: webhookDoor(tools),
    deliveries: {
      ...leases(tools),
      ...deliveryReader(tools),
      accept: acceptor(tools),
      claim: claimer(tools),
      settle: settler(tools),
      webhookOf: (webhookId) => endpoints.byId(webhookId)?.webhook,
      attempts: attemptReader(tools),
      legs(accountId, callId) {
        const account = accounts.find(accountId)
        return account === undefined ? [] : calls.legs(account, callId)
      },
      pending: () => memory.pending,
      prune: pruner(tools),
      erase: (what, limit) => erase(what, limit, memory.storeMs),
      mentions: mentionFinder(tools),
      scrub,
    },
    inbox: { staged: stagedReader(tools) },
    webhookChanges: endpoints.changes,
    committed: tools.committed,
    rolledBack: tools.rolledBack,
  }
}

import type { AccountStore } from '../accounts/account-store.js'
import type { TokenStore } from '../auth/token-store.js'
import type { DeliveryStore } from '../delivery/delivery-store.js'
import { HookswitchError } from '../errors.js'
import type { Clock } from '../ports.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import type { Store } from './contract.js'
import { accept } from './memory/accept.js'
import { memoryAccounts } from './memory/accounts.js'
import { legs } from './memory/calls.js'
import { claim } from './memory/claim.js'
import { erase, mentions } from './memory/erase.js'
import { prune } from './memory/kept.js'
import { orphans, own, release, renew } from './memory/leases.js'
import { attempts, deliveries, delivery, ready, stale } from './memory/readback.js'
import { settle } from './memory/settle.js'
import { newState } from './memory/state.js'
import { memoryTokens } from './memory/tokens.js'
import { candidates, insert, list, read, replace } from './memory/webhooks.js'

export interface MemoryStoreOptions {
  /** Lets several nodes work on this one store, with leases that end: for simulating them. Default false. */
  readonly shared?: boolean
  /** Where `shared`: the store's own clock. Default: that of the first node to open it. */
  readonly clock?: Clock
  /** Most attempts, and most ended deliveries, kept of one webhook; the oldest go. Default 1,000. */
  readonly attemptsPerWebhook?: number
  /** Most attempts, and most ended deliveries, kept of all webhooks together; the oldest go. Default 100,000. */
  readonly attemptsInAll?: number
}

/** The methods of a store door without their promises. */
type Synchronous<Door> = {
  readonly [Name in keyof Door]: Door[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : Door[Name]
}

/**
 * A store that keeps everything in the memory of this process, and loses it with the process: `durable` is false.
 *
 * What is over is bounded: attempts and ended deliveries by the options; numbers and legs of a call until `prune`
 * finds it idle for a day. What is pending is bounded by the host's `maxPending`.
 *
 * @throws HookswitchError `InvalidOption` for a limit that is no whole number from 1 up, and for an unknown option
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  refuseUnknown(options)
  const shared = options.shared ?? false
  const limits = {
    attemptsPerWebhook: positive('attemptsPerWebhook', options.attemptsPerWebhook ?? 1_000),
    attemptsInAll: positive('attemptsInAll', options.attemptsInAll ?? 100_000),
  }
  const state = newState(limits, shared)
  let clock = options.clock
  let openings = 0

  const storeMs = () => clock!.now()
  const refuseClosed = () => {
    if (openings > 0) return
    throw new HookswitchError('StoreUnavailable', 'the memory store is not open', { retryAfterSeconds: 1 })
  }
  const door = <Door extends object>(methods: Synchronous<Door>): Door =>
    Object.fromEntries(
      Object.entries(methods as Record<string, (...args: unknown[]) => unknown>).map(([name, method]) => [
        name,
        // Not an async function: those make three objects for each call.
        (...args: unknown[]) => {
          try {
            refuseClosed()
            return Promise.resolve(method(...args))
          } catch (thrown) {
            return Promise.reject(thrown)
          }
        },
      ]),
    ) as Door

  return {
    supports: { durable: false, sharedBetweenNodes: shared, transactions: false },
    async open(doors) {
      if (!shared || !clock) clock = options.clock ?? doors.clock
      openings = shared ? openings + 1 : 1
    },
    async close() {
      // Each node that shares the store opens and closes it: the last one closes it for good.
      openings = Math.max(0, openings - 1)
    },
    accounts: door<AccountStore>(memoryAccounts()),
    tokens: door<TokenStore>(memoryTokens()),
    webhooks: door<WebhookStore>({
      insert: (webhook) => insert(state, webhook),
      read: (accountId, webhookId) => read(state, accountId, webhookId),
      list: (accountIds) => list(state, accountIds),
      candidates: (accountIds, hook) => candidates(state, accountIds, hook),
      replace: (webhook, expectedRevision) => replace(state, webhook, expectedRevision),
    }),
    deliveries: {
      ...door<Omit<DeliveryStore, 'subscribe'>>({
        accept: (acceptance, now) => accept(state, acceptance, now),
        own: (owner, leaseMs) => own(state, owner, leaseMs, storeMs()),
        renew: (owner, leaseMs) => renew(state, owner, leaseMs, storeMs()),
        release: (owner) => release(state, owner),
        ready: (owner) => ready(state, owner, storeMs()),
        claim: (request) => claim(state, request),
        settle: (settlements, now) => settle(state, settlements, now),
        orphans: (owner, limit) => orphans(state, owner, limit, storeMs()),
        stale: (owner, limit) => stale(state, owner, limit, storeMs()),
        webhookOf: (webhookId) => state.endpoints.get(webhookId)?.webhook,
        delivery: (accountId, deliveryId) => delivery(state, accountId, deliveryId),
        deliveries: (query) => deliveries(state, query),
        attempts: (query) => attempts(state, query),
        legs: (accountId, callId) => legs(state, accountId, callId),
        pending: () => state.pending,
        prune: (given, now) => prune(state, given, now),
        erase: (what, limit) => erase(state, what, limit, storeMs()),
        mentions: (accountId, text, cursor, limit) => mentions(state, accountId, text, cursor, limit),
        scrub: () => {},
      }),
      subscribe(listener) {
        const call: typeof listener = (endpoints) => listener(endpoints)
        state.listeners.add(call)
        return () => {
          state.listeners.delete(call)
        }
      },
    },
  }
}

function positive(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new HookswitchError('InvalidOption', `${option} must be a whole number from 1 up`, { field: option })
}

function refuseUnknown(options: object): void {
  const known = ['shared', 'clock', 'attemptsPerWebhook', 'attemptsInAll']
  const unknown = Object.keys(options).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw new HookswitchError('InvalidOption', `${unknown} is not an option of memoryStore`, { field: unknown })
}

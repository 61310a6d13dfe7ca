/** The memory store's public methods over `memory/*`; `memory/state.ts` describes how they work together. */

import { randomBytes } from 'node:crypto'
import type { Store } from 'hookswitch/store'
import type { AccountStore } from '../accounts/account-store.js'
import type { TokenStore } from '../auth/token-store.js'
import type { CallIndexStore } from '../delivery/call-index-store.js'
import type { HoldStore } from '../delivery/hold-store.js'
import type { NodeLease, QueueStore } from '../delivery/queue-store.js'
import type { ReplayStore } from '../delivery/replay-store.js'
import { createStoreClock } from '../delivery/store-clock.js'
import { checkOptionNames, HookswitchError } from '../errors.js'
import type { OpenLegStore } from '../legs/open-leg-store.js'
import type { Clock } from '../ports.js'
import type { StatsStore } from '../stats/stats-store.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import type { EncryptionStore } from './encryption-store.js'
import { memoryAccounts } from './memory/accounts.js'
import { memoryCallIndex } from './memory/call-index.js'
import { legs } from './memory/calls.js'
import { changes } from './memory/changes.js'
import { commit } from './memory/commit.js'
import { memoryEncryption } from './memory/encryption.js'
import { erase, mentions } from './memory/erase.js'
import { memoryHolds } from './memory/holds.js'
import { handOver, nodes, own, release, renew } from './memory/leases.js'
import { bodies, completeTakeover, load, poll } from './memory/load.js'
import { memoryOpenLegs } from './memory/open-legs.js'
import {
  activity,
  attemptLog,
  attempts,
  countReplayable,
  deliveries,
  delivery,
  eventBodies,
  eventOf,
  lastSuccesses,
  listPart,
  search,
} from './memory/queries.js'
import { memoryReplays } from './memory/replays.js'
import { prune, pruneOldest } from './memory/retention.js'
import { newState } from './memory/state.js'
import { memoryStats } from './memory/stats.js'
import { memoryTokens } from './memory/tokens.js'
import { page } from './memory/webhook-order.js'
import { candidates, ids, insert, list, read, removeAll, replace, unhealthy } from './memory/webhooks.js'

const SECRET_BYTES = 32

/** The methods of a store port without their promises. */
type Synchronous<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : Port[Name]
}

/**
 * A store in the memory of this process: `durable` is false, everything is lost when the process ends.
 *
 * Memory is bounded: attempts and ended deliveries by the options, pending deliveries by the host's `maxPending`, and
 * the numbers and legs of a call until `prune` finds it idle for a day.
 *
 * @throws HookswitchError `InvalidOption` for a limit that is not a positive integer, and for an unknown option
 */
export function memoryStore(
  options: {
    /** Lets several nodes of one process share this store, with leases that expire: for simulations. Default false. */
    readonly shared?: boolean | undefined
    /** The store's own clock, if `shared`. Default: the clock of the first node that opens it. */
    readonly clock?: Clock | undefined
    /**
     * Maximum attempts of deliveries that were delivered and are no replays, and maximum of such deliveries without attempts,
     * retained per webhook; the oldest are removed. Default 1,000.
     */
    readonly attemptsPerWebhook?: number | undefined
    /**
     * Maximum attempts, and maximum ended deliveries apart from those whose attempts count, retained over all webhooks; the
     * oldest that were delivered are removed first, then the oldest of the others. Default 100,000.
     */
    readonly attemptsInAll?: number | undefined
  } = {},
): Store {
  checkOptionNames('memoryStore', options, ['shared', 'clock', 'attemptsPerWebhook', 'attemptsInAll'])
  const shared = options.shared ?? false
  const limits = {
    attemptsPerWebhook: positive('attemptsPerWebhook', options.attemptsPerWebhook ?? 1_000),
    attemptsInAll: positive('attemptsInAll', options.attemptsInAll ?? 100_000),
  }
  const state = newState(limits, shared)
  /** Monotonic: setting the wall clock while the process runs changes nothing. */
  let storeClock = options.clock && createStoreClock(options.clock)
  let openings = 0
  /** The key for hosts that pass none: nodes that share the store need the same one. */
  let secret: string | undefined

  const storeMs = () => storeClock!.now()
  /** Nodes that share a store with a clock of its own take their time of day from it. */
  const withClock = (lease: NodeLease): NodeLease =>
    shared && options.clock ? { ...lease, clockMs: options.clock.now() } : lease
  const rejectClosed = () => {
    if (openings > 0) return
    throw new HookswitchError('StoreUnavailable', 'the memory store is not open', { retryAfterSeconds: 1 })
  }
  const { apiKeyIds, ...accounts } = memoryAccounts()
  const asyncPort = <Port extends object>(methods: Synchronous<Port>): Port =>
    Object.fromEntries(
      Object.entries(methods as Record<string, (...args: unknown[]) => unknown>).map(([name, method]) => [
        name,
        // Not an async function: an async function allocates three objects per call.
        (...args: unknown[]) => {
          try {
            rejectClosed()
            return Promise.resolve(method(...args))
          } catch (thrown) {
            return Promise.reject(thrown)
          }
        },
      ]),
    ) as Port

  return {
    supports: { durable: false, sharedBetweenNodes: shared, transactions: false },
    async open(deps) {
      if (!storeClock || !shared) storeClock = createStoreClock(options.clock ?? deps.clock)
      openings = shared ? openings + 1 : 1
    },
    async close() {
      // Each node that shares the store opens and closes it; the last close counts.
      openings = Math.max(0, openings - 1)
    },
    async secret() {
      rejectClosed()
      secret ??= randomBytes(SECRET_BYTES).toString('hex')
      return secret
    },
    async replaceSecret(next) {
      rejectClosed()
      secret = next
    },
    accounts: asyncPort<AccountStore>({
      ...accounts,
      remove(accountId, removal) {
        accounts.remove(accountId, removal)
        return removeAll(state, accountId, removal.nowMs)
      },
    }),
    encryption: asyncPort<EncryptionStore>(memoryEncryption(state, { apiKeyIds, ...accounts })),
    tokens: asyncPort<TokenStore>(memoryTokens()),
    openLegs: asyncPort<OpenLegStore>(memoryOpenLegs()),
    replays: asyncPort<ReplayStore>(memoryReplays()),
    holds: asyncPort<HoldStore>(memoryHolds()),
    stats: asyncPort<StatsStore>(memoryStats()),
    callIndex: asyncPort<CallIndexStore>(memoryCallIndex(state)),
    webhooks: asyncPort<WebhookStore>({
      insert: (webhook) => insert(state, webhook),
      read: (accountId, webhookId) => read(state, accountId, webhookId),
      list: (accountIds) => list(state, accountIds),
      page: (accountId, query) => page(state, accountId, query),
      candidates: (accountIds, hook) => candidates(state, accountIds, hook),
      unhealthy: (limit, afterId) => unhealthy(state, limit, afterId),
      ids: (limit, afterId) => ids(state, limit, afterId),
      replace: (webhook, expectedRevision) => replace(state, webhook, expectedRevision),
    }),
    deliveries: {
      ...asyncPort<Omit<QueueStore, 'commit' | 'subscribe'>>({
        own: (owner, leaseMs) => withClock(own(state, owner, leaseMs, storeMs())),
        renew: (owner, leaseMs) => withClock(renew(state, owner, leaseMs, storeMs())),
        handOver: (lease, numbers) => handOver(state, lease, numbers, storeMs()),
        release: (owner) => release(state, owner),
        nodes: () => nodes(state),
        load: (lease, numbers, cursor) => load(state, lease, numbers, cursor, storeMs()),
        completeTakeover: (lease, numbers) => completeTakeover(state, lease, numbers, storeMs()),
        bodies: (keys) => bodies(state, keys),
        changes: (lease, sinceVersion) => changes(state, lease, sinceVersion, storeMs()),
        poll: (lease) => poll(state, lease, storeMs()),
        webhookOf: (webhookId) => state.endpoints.get(webhookId)?.webhook,
        delivery: (accountId, deliveryId) => delivery(state, accountId, deliveryId),
        deliveries: (query) => deliveries(state, query),
        listPart: (query) => listPart(state, query),
        countReplayable: (query) => countReplayable(state, query),
        search: (query) => search(state, query),
        eventOf: (accountId, eventId) => eventOf(state, accountId, eventId),
        attempts: (query) => attempts(state, query),
        eventBodies: (keys) => eventBodies(state, keys),
        attemptLog: (query) => attemptLog(state, query),
        lastSuccesses: (webhookIds) => lastSuccesses(state, webhookIds),
        activity: (webhookIds, maxPending) => activity(state, webhookIds, maxPending),
        legs: (accountId, callId) => legs(state, accountId, callId),
        prune: (given, now) => prune(state, given, now),
        historyBytes: () => state.historyBytes,
        pruneOldest: (limit) => pruneOldest(state, limit),
        erase: (what, limit) => erase(state, what, limit),
        mentions: (accountId, text, cursor, limit) => mentions(state, accountId, text, cursor, limit),
        scrub: () => {},
      }),
      commit(group) {
        try {
          rejectClosed()
          return commit(state, group)
        } catch (thrown) {
          return Promise.reject(thrown)
        }
      },
      subscribe(listener) {
        const call = () => listener()
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
  throw new HookswitchError('InvalidOption', `${option} must be a positive integer`, { field: option })
}

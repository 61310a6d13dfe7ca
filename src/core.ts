import type { AccountDoors } from './accounts/doors.js'
import { guardedDirectory } from './accounts/guarded-directory.js'
import { lineageCache } from './accounts/lineage-cache.js'
import { storedDirectory } from './accounts/stored-directory.js'
import { turns } from './accounts/turns.js'
import { accountVerbs } from './auth/account-verbs.js'
import { liveTokens } from './auth/live-tokens.js'
import { loginLimits } from './auth/login-limits.js'
import type { Settled } from './check-options.js'
import type { AcceptDoors } from './delivery/accept.js'
import type { RefusedEvent } from './delivery/admit.js'
import type { DeliveryEvents } from './delivery/delivery-events.js'
import { createDispatcher } from './delivery/dispatcher.js'
import type { CheckedEvent } from './delivery/event.js'
import { materialCache } from './delivery/material.js'
import type { Emitting } from './events.js'
import type { Metrics } from './metrics.js'
import type { Clock, Log, Random, Sender, Tracing } from './ports.js'
import type { Store } from './store/contract.js'
import { idMaker, timedIdMaker } from './values/ids.js'
import { secretBox } from './values/seal.js'
import { VERSION } from './version.js'
import { isKnownHook } from './webhooks/catalogue.js'
import type { WebhookDoors } from './webhooks/manage.js'

/** An event as listeners of `hs.events` get it when it was accepted. */
export type PublishedEvent = CheckedEvent & { readonly eventId: string; readonly sequence: number }

/** What a host can listen to: every kind of event by its id, `event` for all of them, and the life of deliveries. */
export type HookswitchEvents = DeliveryEvents & {
  /** An event of the host's own transaction could not be accepted after its commit. */
  readonly event_refused: RefusedEvent
  readonly event: PublishedEvent
  readonly channel_create: PublishedEvent
  readonly channel_answer: PublishedEvent
  readonly channel_bridge: PublishedEvent
  readonly channel_destroy: PublishedEvent
  readonly channel_hold: PublishedEvent
  readonly channel_unhold: PublishedEvent
}

/** The doors of one instance, opened. */
export interface CoreDoors {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly sender: Sender
  readonly metrics: Metrics
  readonly tracing: Tracing | undefined
  readonly events: Emitting<HookswitchEvents>
}

/** Binds doors to verbs: everything that one running instance is made of. */
export function createCore(options: Settled<Store>, secrets: readonly string[], doors: CoreDoors) {
  const { store, catalogue } = options
  const { clock, random, log, sender, events, metrics, tracing } = doors
  const box = secretBox(secrets)
  const newId = idMaker((count) => random.bytes(count))
  const newTimedId = timedIdMaker((count) => random.bytes(count), clock.now)
  const stored: AccountDoors = { accounts: store.accounts, box, clock, random, newId }
  const directory = guardedDirectory(options.directory ?? storedDirectory(stored))
  const lineages = lineageCache(directory, clock)
  const live = liveTokens(clock, { max: options.tokenCacheSize })
  const { loginBurst, loginRefillPerSecond } = options
  const limits = loginLimits(clock, { loginBurst, loginRefillPerSecond })
  const { tokens } = store
  const knowsHook = (hook: string) => isKnownHook(catalogue, hook)

  const auth = {
    tokens,
    directory,
    live,
    limits,
    lineages,
    clock,
    random,
    metrics,
    tokenTtlMs: options.tokenTtlSeconds * 1000,
  }
  const accounts = accountVerbs({
    tokens,
    live,
    lineages,
    directory,
    ...(options.directory ? {} : { stored }),
  })
  const caps = {
    perEndpoint: options.inFlightPerEndpoint,
    perAccount: options.inFlightPerAccount,
    perOrigin: options.inFlightPerOrigin,
    inAll: options.inFlight,
  }
  const dispatcher = createDispatcher(
    {
      store: store.deliveries,
      clock,
      random,
      log,
      sender,
      metrics,
      tracing,
      newId: newTimedId,
      material: materialCache(box, `hookswitch/${VERSION}`),
      tell: (name, payload) => events.emit(name, payload as never),
      rulesOf: (webhook) => ({
        policy: options.retryPolicy,
        functions: options.policies,
        retries: webhook.settings.retries,
      }),
    },
    {
      caps,
      attemptDeadlineMs: options.attemptTimeoutMs,
      shared: store.supports.sharedBetweenNodes,
      healthRules: options.healthRules,
      recordSuccesses: options.recordSuccesses,
    },
  )
  const webhooks: WebhookDoors = {
    webhooks: store.webhooks,
    clock,
    random,
    box,
    newId,
    inTurn: turns(),
    withdrawn: dispatcher.withdraw,
    rules: { catalogue, policy: options.addressPolicy, defaultFormat: options.defaultFormat },
  }
  const accept: AcceptDoors = {
    clock,
    directory: lineages,
    webhooks: store.webhooks,
    deliveries: store.deliveries,
    newId: newTimedId,
    knowsHook,
    storeNow: dispatcher.now,
    metrics,
  }
  return {
    store,
    newId,
    auth,
    accounts,
    webhooks,
    accept,
    dispatcher,
    catalogue,
    events,
    clock,
    caps,
    metrics,
    tracing,
    log,
  }
}

export type Core = ReturnType<typeof createCore>

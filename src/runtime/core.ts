/** Binds the dependencies of one running instance to the operations. Opens and closes nothing itself. */
import { keyedMutex } from '../accounts/keyed-mutex.js'
import { lineageCache } from '../accounts/lineage-cache.js'
import type { AccountDeps } from '../accounts/manage.js'
import { safeDirectory } from '../accounts/safe-directory.js'
import { storeDirectory } from '../accounts/store-directory.js'
import { accountAdmin, type DocumentChange } from '../auth/account-admin.js'
import { type AccountService, accountService } from '../auth/account-service.js'
import { loginRateLimiter } from '../auth/login-rate-limiter.js'
import { tokenCache } from '../auth/token-cache.js'
import type { AcceptDeps } from '../delivery/accept.js'
import { createCallIndex } from '../delivery/call-index.js'
import type { DeliveryEvents } from '../delivery/delivery-events.js'
import { createDispatcher, type Dispatcher } from '../delivery/dispatcher.js'
import { type ChannelEvent, customKindsOf, type PublishedEvent } from '../delivery/event.js'
import type { NodeClock } from '../delivery/node-clock.js'
import { createEndpointSecretsCache } from '../delivery/worker/endpoint-secrets.js'
import type { EventBus } from '../events.js'
import type { Metrics } from '../metrics.js'
import type { NormalizedOptions } from '../options/normalize.js'
import type { Log, Random, Sender, Tracing } from '../ports.js'
import type { EndpointHealthDeps } from '../stats/endpoint-health.js'
import { createStatistics } from '../stats/statistics.js'
import { shardOf } from '../store/shards.js'
import type { EventWatchers } from '../stream/event-watchers.js'
import type { SecretCipher } from '../values/encryption.js'
import { createIdGenerator, createTimeOrderedIdGenerator } from '../values/ids.js'
import { VERSION } from '../version.js'
import { isRegisteredHook } from '../webhooks/catalogue.js'
import type { DataValidators } from '../webhooks/event-data.js'
import type { WebhookDeps } from '../webhooks/manage.js'
import { isMetaHook } from '../webhooks/meta-hooks.js'
import type { Webhook } from '../webhooks/webhook.js'
import { createAddressCheck } from './check-address.js'
import { createHolds, type Holds } from './holds.js'
import { logDeliveryEvent } from './log-delivery-event.js'
import { createMetaEvents } from './meta-events.js'
import { type StoreWatch, watchStore } from './store-watch.js'
import { bindExchange, bindStreams, changeOf, notifyStreams, withStreams } from './streams.js'

/**
 * Events of `hs.events` and their payloads. Every accepted event is emitted under its hook's id and as `event`; custom
 * hooks add their ids (`Hookswitch`).
 */
export interface HookswitchEvents
  extends DeliveryEvents,
    Readonly<Record<ChannelEvent['hook'] | 'object', PublishedEvent>> {
  /** Every accepted event, whatever its hook. */
  readonly event: PublishedEvent
  /**
   * Somebody changed something, or was refused a login: once for each request, after its commit. Events that are published over
   * HTTP are none of them.
   */
  readonly audit: {
    /** `operationId` of the HTTP operation; for a call of the host the one of the operation that does the same. */
    readonly action: string
    /** Why it was refused: only logins are recorded then. Absent: it was done, and is committed. */
    readonly refused?: 'InvalidCredentials' | 'AccountLocked' | 'TooManyLogins'
    /** The credential of the client: an API key, or that of a user; `host`: a call of this process. */
    readonly by: 'api_key' | 'user' | 'host'
    /** The account of the client's token. */
    readonly byAccountId?: string | undefined
    /** The user of the client's token. */
    readonly byUserId?: string | undefined
    /** Address of the client, behind the proxies that are trusted. */
    readonly address?: string | undefined
    /** `X-Request-Id` of the request and its response. */
    readonly requestId?: string
    /** The account that was changed, or whose part was. Absent: all accounts. */
    readonly accountId?: string | undefined
    /** Id of the user. */
    readonly userId?: string | undefined
    /** Id of the webhook. */
    readonly webhookId?: string | undefined
    /** Id of the delivery that was replayed, or of the test that was sent. */
    readonly deliveryId?: string | undefined
    /** Id of the replay job. */
    readonly replayId?: string | undefined
    /** The fields that changed, as they were. Absent: the document was created, or has no fields. */
    readonly before?: Readonly<Record<string, string | number | boolean | null>> | undefined
    /** The fields that changed, as they are. Absent: the document was deleted, or has no fields. */
    readonly after?: Readonly<Record<string, string | number | boolean | null>> | undefined
    /** What else the action says of itself, such as the number of rows that it erased. */
    readonly details?: Readonly<
      Record<string, string | number | boolean | null | readonly string[] | undefined>
    >
  }
}

/** Dependencies of one running instance, ready to use. */
interface CoreDeps {
  readonly clock: NodeClock
  readonly random: Random
  readonly log: Log
  readonly sender: Sender
  readonly metrics: Metrics
  readonly tracing: Tracing | undefined
  readonly events: EventBus<HookswitchEvents>
  /** Listeners to events of single accounts, of all nodes. */
  readonly watchers: EventWatchers
  /** Publishes a change of an account or user. Never rejects. */
  documentChanged(change: DocumentChange): Promise<void>
  /** The accounts of a list were created and changed, by their ids. */
  accountsListed(created: readonly string[], changed: readonly string[]): void
}

/**
 * @param cipher encrypts and decrypts the secrets at rest
 * @param dataValidators of the kinds of events that the host registers
 */
export function createCore(
  options: NormalizedOptions,
  cipher: SecretCipher,
  dataValidators: DataValidators,
  deps: CoreDeps,
) {
  const { catalogue } = options
  const { clock, random, log, sender, events, metrics, tracing } = deps
  const storeWatch: StoreWatch = watchStore(options.store, clock)
  const { store } = storeWatch
  const newId = createIdGenerator((count) => random.bytes(count))
  const newTimeOrderedId = createTimeOrderedIdGenerator((count) => random.bytes(count), clock.now)
  const accountDeps: AccountDeps = { accounts: store.accounts, cipher, clock, random, log, newId }
  const directory = safeDirectory(options.directory ?? storeDirectory(accountDeps))
  const lineages = lineageCache(directory, clock)
  const cachedTokens = withStreams(tokenCache(clock, { max: options.tokenCacheSize }), () => streams)
  const { tokens } = store

  const auth = {
    tokens,
    directory,
    tokenCache: cachedTokens,
    rateLimiter: loginRateLimiter(clock, options),
    lineages,
    clock,
    random,
    metrics,
    tokenTtlMs: options.tokenTtlSeconds * 1000,
    authority: { operators: options.operators, restrictUsers: options.restrictUsers },
  }
  const streamDeps = {
    store,
    options,
    clock,
    log,
    metrics,
    auth,
    newId,
    descendants: (accountId: string) => accounts.descendants(accountId),
  }
  const streams = bindStreams(streamDeps)
  const exchange = bindExchange(streams, deps.watchers, streamDeps)
  const caps = {
    perEndpoint: options.inFlightPerEndpoint,
    perAccount: options.inFlightPerAccount,
    perOrigin: options.inFlightPerOrigin,
    probes: options.probeSockets,
    total: options.inFlight,
  }
  const statistics = options.statistics
    ? createStatistics({ stats: store.stats, clock, log, newId }, options.attemptTimeoutMs)
    : undefined
  const userAgent = `hookswitch/${VERSION}`
  const maxAgeMsOf = ({ settings }: Webhook) =>
    (settings.maxAgeSeconds ?? options.defaultMaxAgeSeconds) * 1_000
  const holds: Holds = createHolds(store.holds, directory, log, () => dispatcher.holdsChanged())
  const dispatcher: Dispatcher = createDispatcher(
    {
      store: store.deliveries,
      clock,
      random,
      log,
      sender,
      metrics,
      countAttempt: statistics?.count,
      tracing,
      newId: newTimeOrderedId,
      shardOf,
      endpointSecrets: createEndpointSecretsCache(cipher, userAgent),
      emit: (name, payload, delivery) => {
        logDeliveryEvent(log, name, payload)
        if (name === 'webhook_paused') metrics.count('hookswitch_pauses_total', 1, 'began')
        else if (name === 'webhook_resumed') metrics.count('hookswitch_pauses_total', 1, 'ended')
        metaEvents.observe(name, payload, delivery)
        notifyStreams(streams, exchange, options.recordSuccesses, name, payload, delivery?.body)
        events.emit(name, payload as never)
      },
      rulesOf: (webhook) => ({
        policy: options.retryPolicy,
        functions: options.policies,
        retries: webhook.settings.retries,
      }),
    },
    {
      caps,
      limits: options,
      attemptDeadlineMs: options.attemptTimeoutMs,
      isShared: store.supports.sharedBetweenNodes,
      nodeName: options.nodeName,
      isAccountHeld: holds.isHeld,
      // A store that is away changes nothing: what is held stays so.
      onRenewed: () => void holds.read().catch(() => {}),
      healthRules: options.healthRules,
      recordSuccesses: options.recordSuccesses,
      maxAgeMsOf,
      rateLimitOf: ({ settings }) => settings.rateLimit ?? options.defaultRateLimit,
      patienceMs: options.orderingPatienceSeconds * 1_000,
    },
  )
  /** Applies limits of `options` that have changed. Others are read where they apply. */
  function applyLimits(): void {
    caps.perEndpoint = options.inFlightPerEndpoint
    caps.perAccount = options.inFlightPerAccount
    auth.tokenTtlMs = options.tokenTtlSeconds * 1000
    dispatcher.limitsChanged()
  }
  const accountServiceDeps = {
    tokens,
    tokenCache: cachedTokens,
    lineages,
    directory,
    mutex: keyedMutex(),
    onDeliveriesCancelled: dispatcher.cancelUnsent,
    onListed: deps.accountsListed,
    ...(options.directory ? {} : { accountDeps }),
  }
  async function onRemoved(accountId: string): Promise<void> {
    log.info({ accountId }, 'an account was removed')
    // A hold that stays after a failure can still be released.
    await holds.accountRemoved(accountId).catch(() => {})
  }
  const allAccounts = accountService(accountServiceDeps)
  const accounts: AccountService = {
    ...allAccounts,
    async remove(accountId) {
      await allAccounts.remove(accountId)
      await onRemoved(accountId)
    },
  }
  const admin = accountAdmin({
    ...accountServiceDeps,
    accountRules: options,
    documentChanged: deps.documentChanged,
    onRemoved,
  })
  const webhookDeps: WebhookDeps = {
    webhooks: store.webhooks,
    clock,
    random,
    cipher,
    newId,
    storeNow: dispatcher.now,
    lastSuccesses: (webhookIds) => store.deliveries.lastSuccesses(webhookIds),
    mutex: keyedMutex(),
    onDeliveriesCancelled: dispatcher.cancelUnsent,
    onResumed: ({ id, accountId }) =>
      log.info({ webhookId: id, accountId }, 'the pause of a webhook was ended on request'),
    onChanged: (before, after) => exchange.webhookChanged(changeOf(before, after)),
    defaultMaxAgeSeconds: options.defaultMaxAgeSeconds,
    rules: {
      catalogue,
      addressPolicy: options.addressPolicy,
      defaultFormat: options.defaultFormat,
      defaultRetries: options.defaultRetries,
    },
  }
  const endpoints: EndpointHealthDeps = {
    webhooks: store.webhooks,
    deliveries: store.deliveries,
    waitingFor: ({ id, accountId }) =>
      dispatcher.ownsShardOf(id) ? dispatcher.roomFor(id, accountId).waiting : undefined,
    stats: statistics && store.stats,
    clock,
    storeNow: dispatcher.now,
    healthRules: options.healthRules,
    attemptTimeoutMs: options.attemptTimeoutMs,
    maxAgeMsOf,
  }
  const callIndex = createCallIndex(
    { store: store.callIndex, clock, log, storeNow: dispatcher.now, fingerprints: cipher.fingerprints },
    options,
  )
  const accept: AcceptDeps = {
    clock,
    directory: lineages,
    webhooks: store.webhooks,
    accept: dispatcher.accept,
    partSize: dispatcher.partSize,
    newId: newTimeOrderedId,
    isKnownHook: (hook) => isRegisteredHook(catalogue, hook) && !isMetaHook(hook),
    knownHooks: catalogue.map(({ id }) => id).filter((id) => !isMetaHook(id)),
    customKinds: customKindsOf(catalogue, dataValidators),
    storeNow: dispatcher.now,
    limits: options,
    isClosing: dispatcher.isClosing,
    metrics,
    callIndex,
  }
  const metaEvents = createMetaEvents({ accept, clock, log })
  return {
    store,
    storeWatch,
    newId,
    auth,
    metaEvents,
    callIndex,
    accounts,
    admin,
    webhookDeps,
    accept,
    dispatcher,
    holds,
    statistics,
    endpoints,
    streams,
    exchange,
    catalogue,
    events,
    clock,
    caps,
    attemptTimeoutMs: options.attemptTimeoutMs,
    checkAddress: createAddressCheck({ ...options, sender, clock }),
    maxAgeMsOf,
    userAgent,
    history: { bytes: 0, limits: options },
    applyLimits,
    metrics,
    tracing,
    log,
  }
}

/** One running instance: operations with their dependencies bound. */
export type Core = ReturnType<typeof createCore>

/**
 * `createHookswitch`: the composition root. Dependencies meet operations here; starting and closing an instance is the
 * only logic.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { EventHub, HttpService, OpenLegs } from 'hookswitch/adapter'
import type { DocumentChange } from './auth/account-admin.js'
import type { AccountService } from './auth/account-service.js'
import { authenticate, type Caller } from './auth/authenticate.js'
import { authorizeToken } from './auth/authorize-token.js'
import { issueToken } from './auth/issue-token.js'
import { type SignedIn, type SignInInput, signIn } from './auth/sign-in.js'
import { signOut } from './auth/sign-out.js'
import type { ChannelEvent, CustomEvent, PublishedEvent } from './delivery/event.js'
import { createNodeClock } from './delivery/node-clock.js'
import { accountLimit } from './delivery/queue/shares.js'
import { createReplayRateLimiter } from './delivery/replay-rate-limiter.js'
import { createWaitGroup, waitAtMost } from './delivery/worker/wait-group.js'
import { checkOptionNames, closingError, errorCode, HookswitchError, reasonOf } from './errors.js'
import { createEventBus } from './events.js'
import type { ApiDeps } from './http/api-deps.js'
import { createBodyAdmission } from './http/body-admission.js'
import { parseTrustedProxies } from './http/client-address.js'
import { handlesPath, ROOT_PATHS } from './http/handles-path.js'
import { createLazyHandler } from './http/lazy-handler.js'
import { createPublishAdmission } from './http/publish-admission.js'
import type { Limits } from './options/limits.js'
import { checkLimits, normalizeOptions } from './options/normalize.js'
import type { HookswitchOptions } from './options/options.js'
import { RESERVED_EVENT_NAMES } from './options/presets.js'
import { invalidOption } from './options/validators.js'
import type { Clock, Sender } from './ports.js'
import { type AuditRecord, changesOf, idsOf, isRefusedLogin } from './runtime/audit.js'
import { ACCOUNT_CALLS, auditCalls, JOB_CALLS, recordCall, WEBHOOK_CALLS } from './runtime/audited-calls.js'
import { type Background, startBackground } from './runtime/background.js'
import { MAX_ADDRESS_CHECKS } from './runtime/check-address.js'
import { keepAlive, systemClock } from './runtime/clock.js'
import { type Core, createCore, type HookswitchEvents } from './runtime/core.js'
import { openCipher, readEncryptionKeys } from './runtime/encryption-key.js'
import { erase } from './runtime/erase.js'
import { readGauges } from './runtime/gauges.js'
import { readNodeHealth } from './runtime/node-health.js'
import { checkNodeVersion } from './runtime/node-version.js'
import { bindOpenLegs } from './runtime/open-legs.js'
import { createOperatorApi, type OperatorApi } from './runtime/operator-api.js'
import {
  type PublishDeps,
  type Published,
  type PublishOptions,
  publish,
  publishEvents,
} from './runtime/publish.js'
import { systemRandom } from './runtime/random.js'
import { createReplayApi, type ReplayApi } from './runtime/replay-api.js'
import { limitLog, safeLog } from './runtime/safe-log.js'
import { safeMetrics, safeTracing } from './runtime/safe-metrics.js'
import { createWebhookApi, type WebhookApi } from './runtime/webhook-api.js'
import { createWebhookJobApi } from './runtime/webhook-job-api.js'
import { checkStore, takeStore } from './store/check-store.js'
import { createEventWatchers } from './stream/event-watchers.js'
import { iterateStream, type StreamItem } from './stream/iterate.js'
import { createIdGenerator } from './values/ids.js'
import { yieldingOf } from './values/yielding.js'
import { type CustomHook, OBJECT_HOOK } from './webhooks/catalogue.js'
import { compileDataSchemas } from './webhooks/event-data.js'
import { STREAM_REQUEST_FIELDS, type StreamRequest } from './wire/stream-json.js'

/**
 * The data of a kind of event: what `publish` takes (`input`), or what listeners get (`output`). A JSON Schema may require
 * data, but says so only when it runs.
 */
export type DataOf<Hook, Side extends 'input' | 'output'> = Hook extends {
  readonly schema: StandardSchemaV1<infer Input, infer Output>
}
  ? { input: Input; output: Output }[Side]
  : Hook extends { readonly schema: object }
    ? Readonly<Record<string, unknown>>
    : Readonly<Record<string, unknown>> | undefined

/**
 * What `publish` takes: an event of a built-in kind, or of one that the host registers.
 *
 * @typeParam Hook the registered kinds, as of `Hookswitch`
 */
export type EventOf<Hook extends CustomHook = never> =
  | ChannelEvent
  /** A document that was created, changed or deleted. Its events are ordered by `callId`, the id of the document. */
  | (Omit<ChannelEvent, 'hook'> & {
      readonly hook: 'object'
      /** Id of the document; sent as `id`. */
      readonly documentId: string
      /** Type of the document, such as `account` or `user`; sent as `type`. */
      readonly documentType: string
      /** What happened to the document; sent as `action`. */
      readonly documentAction: 'doc_created' | 'doc_edited' | 'doc_deleted'
    })
  // `string & {}` lets an editor complete the built-in kinds where any name is allowed.
  | (Hook extends CustomHook
      ? CustomEvent<string extends Hook['id'] ? string & {} : Hook['id'], DataOf<Hook, 'input'>>
      : never)

/**
 * One instance of the service, embedded in its host.
 *
 * @typeParam Hook the kinds of events that `publish` and `hs.events` have besides the built-in ones, as in the option
 *   `hooks`; `CustomHook`: any name
 */
export interface Hookswitch<Hook extends CustomHook = never> extends Required<HttpService> {
  /**
   * Opens the store and starts the dispatcher. A repeated call returns the same promise; after a failure it tries again.
   * Rejects with `StoreUnavailable`, `StoreCorrupt`, `Closing`, and `InvalidOption` (field `secret`) for a secret other than
   * the one that the store is encrypted with.
   */
  start(): Promise<void>
  /**
   * Stops the instance: starts no new work, waits for requests in flight, then releases the rest, and leaves no socket,
   * timer or lease behind. A repeated call returns the same promise. `drainMs`: longest wait in milliseconds, default
   * 5,000.
   */
  close(options?: { readonly drainMs?: number | undefined }): Promise<void>
  /**
   * Ends all live streams with the last item `end` (`closing`), and refuses new ones with `Closing`. `close` does this first.
   * Call it earlier if you wait for your HTTP server to stop before you call `close`: a stream keeps its connection open.
   */
  endStreams(): void
  /**
   * Accepts an event, or a list of events in their order. When it resolves, each accepted event and one delivery per matching
   * webhook are committed; of a list, up to 5,000 events and deliveries at once, or 200 while other accounts publish too.
   *
   * Of a list each event is accepted or refused for itself: the result has an item for each event, in order, and that of a
   * refused one is its `error`. With `atomic` all are accepted, or none and it rejects. A list must not change before it
   * resolves.
   *
   * Rejects with `InvalidInput` naming the field, `NotFound` for the account, `Conflict` for an idempotency key that was
   * used with a different event, `QueueFull`, `StoreUnavailable`, `Closing`; a list with `TooLarge` above
   * `maxEventsPerRequest` events or `maxDeliveriesPerRequest` deliveries, and otherwise only where it is `atomic`, an option is
   * wrong, or the instance can accept nothing: before `start`, after `close`, and while its store is known to be away.
   *
   * A kind that is known only at run time needs an instance that takes any name:
   * `createHookswitch<readonly CustomHook[]>(options)`.
   *
   * @typeParam Length inferred: only a list has one
   * @typeParam Atomic inferred from the option
   * @example
   * await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'leg-1', direction: 'inbound' })
   * for (const { eventId, error } of await hs.publish(events)) console.log(eventId ?? error.message)
   */
  publish<Length = unknown, Atomic extends boolean = false>(
    event: EventOf<Hook> | (readonly EventOf<Hook>[] & { readonly length: Length }),
    options?: PublishOptions & { readonly atomic?: Atomic | undefined; readonly tx?: undefined },
  ): Promise<
    unknown extends Length
      ? Published
      : readonly (
          | Published
          | (Atomic extends true
              ? never
              : {
                  readonly eventId?: undefined
                  readonly sequence?: undefined
                  readonly error: HookswitchError
                })
        )[]
  >
  /**
   * Accepts an event, or a list, as part of the host's transaction `tx`: if it commits, they are delivered; if it rolls back,
   * they are never sent. Rejects also with `Unsupported` for stores without transactions of the host.
   *
   * @typeParam Length inferred: only a list has one
   */
  publish<Length = unknown>(
    event: EventOf<Hook> | (readonly EventOf<Hook>[] & { readonly length: Length }),
    options: PublishOptions,
  ): Promise<
    unknown extends Length
      ? Pick<Published, 'eventId' | 'error'>
      : readonly (
          | Pick<Published, 'eventId' | 'error'>
          | { readonly eventId?: undefined; readonly error: HookswitchError }
        )[]
  >
  /** Checks for new work at once. Call it after committing a transaction with a published event. */
  wake(): void
  /**
   * Changes limits while the instance runs, also before `start`. What is in progress keeps its old limit. Throws
   * `InvalidOption` naming the limit; then nothing has changed.
   */
  setLimits(limits: Limits): void
  /**
   * What hinders this node, from its memory. Also asks the store whether it answers, which a later call tells: call it every
   * few seconds.
   */
  nodeHealth(): {
    /** What keeps this node from its work; empty: it is able to work, or is not started. */
    readonly problems: readonly {
      /**
       * `store`: it has not answered for 5 s, or refuses to write (a full disk, a read-only database); `lease`: other nodes
       * may have taken over what this one was to send; `feed`: it does not learn what other nodes do.
       */
      readonly part: 'store' | 'lease' | 'feed'
      /** One sentence, without secrets. */
      readonly reason: string
      /** Since when, in Unix milliseconds, where that is known. */
      readonly sinceMs?: number
    }[]
    /** Networks from which no receiver answers this node, by the addresses that it calls. */
    readonly outages: readonly {
      /** The internet, private networks, or this machine. */
      readonly network: 'public' | 'private' | 'loopback'
      /** Time of the first attempt in vain, in Unix milliseconds. */
      readonly sinceMs: number
    }[]
    /** How far the clock of this machine is ahead of the store's, in seconds; negative: behind. Absent: less than about 30. */
    readonly clockDeviationSeconds?: number
  }
  /**
   * The clock of this machine, with the time of day of the database where several nodes share one. Pass it to event
   * sources, so that a node whose clock is wrong publishes no wrong times.
   */
  readonly clock: Clock
  /** Events of this instance: accepted events by hook, `event`, `attempt`, `delivered`, `exhausted`, `webhook_disabled`, … */
  readonly events: EventHub<
    HookswitchEvents & {
      /** Of a custom kind, `callId` is the ordering key, if it has one, and `data` is as its schema returned it. */
      readonly [Kind in Hook as Kind['id']]: Omit<PublishedEvent, 'hook' | 'data'> & {
        readonly hook: Kind['id']
        readonly data: DataOf<Kind, 'output'>
      }
    }
  >
  /** Accounts, users and API keys. */
  readonly accounts: AccountService
  /** Access tokens. */
  readonly auth: {
    /** Exchanges an API key or credentials for a token. Rejects with `InvalidCredentials`, `AccountLocked`, `TooManyLogins`. */
    signIn(login: SignInInput, from?: { readonly address?: string | undefined }): Promise<SignedIn>
    /**
     * Issues a token for a user whom the host has signed in itself, or for an account. It is revoked as the token of a login.
     * Rejects with `InvalidInput` naming the field, `NotFound` for the account, or for a user who does not exist or is
     * disabled, `AccountLocked`.
     *
     * @example
     * const { token } = await hs.auth.issue({ accountId: 'acme', role: 'read', ttlSeconds: 3_600 })
     */
    issue(request: {
      /** The account that the token gives access to. */
      readonly accountId: string
      /** Id of a user of the account, whose rights limit those of the token. Default: the account itself, as by its API key. */
      readonly userId?: string | undefined
      /**
       * `admin`: everything that the user or account may do. `read`: reads what a user without admin rights reads, and
       * changes nothing.
       */
      readonly role: 'admin' | 'read'
      /** Lifetime of the token in seconds, 1 to the option `tokenTtlSeconds`. */
      readonly ttlSeconds: number
    }): Promise<SignedIn>
    /** The caller that a token identifies. Rejects with `InvalidCredentials` for every cause. */
    authenticate(token: string): Promise<Caller>
    /**
     * The caller that a token identifies, if it may read an account: its own, one below it, or any for an operator. Rejects
     * with `InvalidCredentials`, or with `Forbidden` for every other account, existing or not.
     */
    authorize(token: string, accountId: string): Promise<Caller>
    /** Revokes a token; it is invalid when this resolves. */
    signOut(token: string): Promise<void>
  }
  /** Webhooks, their attempts and deliveries. */
  readonly webhooks: WebhookApi
  /** What spans accounts: the state of the service, and webhooks and deliveries of all accounts. */
  readonly operator: OperatorApi
  /** Replays of all that was lost, or of a part of it, as jobs. */
  readonly replays: ReplayApi
  /**
   * Open legs of event sources, kept in the store: pass it to `freeswitchSource`, `asteriskAmi` or `asteriskAri`, so that
   * a call that ends while this process is down gets its `channel_destroy` at the next start.
   */
  readonly openLegs: OpenLegs
  /**
   * Attempts, changes of webhooks and, on request, events of an account as they happen, on every node that shares the store. Begins when the first item is read, and
   * ends with the loop, with `signal`, or with an item `end`. At least once while a record is stored; items may be up to 10 s
   * out of order where several nodes share the store. A reader that is too slow gets an item `gap`; one that reads nothing for
   * 30 s, `end`.
   *
   * Rejects with `InvalidInput`, `NotFound` for the account, `TooManyStreams`, `StoreUnavailable`, `Closing`.
   *
   * @example
   * for await (const { type, data } of hs.stream({ accountId: 'acme' })) console.log(type, data)
   */
  stream(request: StreamRequest & { readonly signal?: AbortSignal | undefined }): AsyncIterable<StreamItem>
  /**
   * Calls `listener` for each accepted event of an account, without the accounts below it, whichever node of a shared store
   * accepts it: at once for this node, usually within a tenth of a second and at most about a second for others. Events of other
   * nodes are best effort: those within about a second after the first call for an account, and during an outage of the store,
   * may be missing. Each node emits the events of `events` for itself only.
   *
   * @returns a function that ends it
   */
  watchEvents(accountId: string, listener: (event: PublishedEvent) => unknown): () => void
  /** Erases the records of a call, of a number, or of all calls of an account permanently. Rejects with `InvalidInput`. */
  erase(request: {
    /** The account that published the events. */
    readonly accountId: string
    /** Erases this call and its other legs. */
    readonly callId?: string | undefined
    /** Erases all calls of a number or user name as written in events: `+15551234`, `alice`. A leading `+` is ignored. */
    readonly number?: string | undefined
  }): Promise<{
    /** Ids of the erased calls; absent where the whole account was erased. */
    readonly callIds?: readonly string[]
    /** Number of rows removed. */
    readonly rows: number
  }>
}

/** How long `close` waits for a store that does not take the last statistics, ms. */
const LAST_STATISTICS_MS = 2_000
const STREAM_OPTIONS = [...STREAM_REQUEST_FIELDS, 'signal']
/** Default of `close({ drainMs })`. */
const DRAIN_MS = 5000

/**
 * Creates an instance of the service; `start()` opens it.
 *
 * @param hostOptions only `store` is required
 * @throws `InvalidOption` naming the option; an unknown option too. `Unsupported` below Node 20.19
 * @example
 * const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
 * await hs.start()
 */
export function createHookswitch<const Hooks extends readonly CustomHook[] = readonly []>(
  hostOptions: HookswitchOptions<Hooks>,
): Hookswitch<Hooks[number]> {
  checkNodeVersion(process.versions.node)
  // Copies the options, so that later changes and inherited properties have no effect.
  const options = typeof hostOptions === 'object' && hostOptions !== null ? { ...hostOptions } : hostOptions
  const normalized = normalizeOptions(options, process.env.HOOKSWITCH_SECRET)
  const { store } = normalized
  checkStore(store)
  const random = options.random ?? systemRandom()
  const machineClock = options.clock ?? systemClock()
  const accessLog = safeLog(options.log)
  const log = limitLog(accessLog, machineClock)
  const clock = createNodeClock(machineClock, log)
  const ended = new AbortController()
  const metrics = safeMetrics(options.metrics, log, ended.signal)
  const tracing = safeTracing(options.tracing, log)
  const newId = createIdGenerator((count) => random.bytes(count))
  const logFault = (thrown: unknown, name: string) =>
    log.warn({ event: name, reason: reasonOf(thrown) }, 'a listener failed')
  const eventNames = [...Object.keys(RESERVED_EVENT_NAMES), ...normalized.catalogue.map(({ id }) => id)]
  const events = createEventBus<HookswitchEvents>(logFault, eventNames)
  const watchers = createEventWatchers((thrown) => logFault(thrown, 'watchEvents'))

  let opened: Core | undefined
  let running: Core | undefined
  let starting: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let background: Background | undefined
  let releaseStore: (() => void) | undefined
  let endKeepAlive: (() => void) | undefined
  /** `close` waits for erasures: an interrupted one would stay incomplete. */
  const erasures = createWaitGroup()

  /** The running instance. Throws `StoreUnavailable` before `start` and while the store is away, `Closing` after `close`. */
  function core(): Core {
    if (closing) throw closingError()
    if (running?.storeWatch.isAway())
      throw new HookswitchError('StoreUnavailable', 'the store does not answer', { retryAfterSeconds: 1 })
    if (running) return running
    const message = starting ? 'start() has not finished: await it first' : 'call start() first'
    throw new HookswitchError('StoreUnavailable', message, { retryAfterSeconds: 1 })
  }

  /** The change is committed: a failure here must not make it look as if it had failed. */
  async function documentChanged({ accountId, id, type, action }: DocumentChange): Promise<void> {
    const document = { documentId: id, documentType: type, documentAction: action }
    try {
      const event = { hook: OBJECT_HOOK, accountId, callId: id, ...document }
      await publishEvents(publishing, [event], { source: 'hookswitch' })
    } catch (thrown) {
      const reason = reasonOf(thrown)
      log.warn({ accountId, type, action, reason }, 'the event of a changed document was not published')
    }
  }

  const eraseRecords: Hookswitch['erase'] = async (request) => {
    const running = core()
    erasures.add(1)
    return erase(running, request).finally(() => erasures.add(-1))
  }

  async function openSender(): Promise<Sender> {
    if (options.sender) return options.sender
    const { createDefaultSender } = await import('./send/index.js')
    const { resolver } = options
    const tls = options.tls && { ...options.tls }
    const { addressPolicy, proxy, inFlight, inFlightPerOrigin: maxPerOrigin } = normalized
    return createDefaultSender({
      addressPolicy,
      proxy,
      tls,
      maxPerOrigin,
      // Each look-up belongs to a request in flight or to a check: one that the scheduler lets start never waits for others.
      ...(resolver ? { resolver } : { dns: { concurrency: inFlight + MAX_ADDRESS_CHECKS } }),
    })
  }

  async function open(): Promise<void> {
    if (normalized.allowLocal) log.info({}, 'allowLocal is on: webhooks may call loopback addresses')
    const dataValidators = await compileDataSchemas(normalized.catalogue)
    await handler.load()
    releaseStore = takeStore(store)
    await store.open({ clock: machineClock, log })
    const secrets = await readEncryptionKeys(store, normalized.secrets)
    const cipher = await openCipher(store, secrets, random.bytes)
    const sender = await openSender()
    try {
      opened = createCore(normalized, cipher, dataValidators, {
        clock,
        random,
        log,
        events,
        watchers,
        metrics,
        tracing,
        sender,
        documentChanged,
        accountsListed: (created, changed) =>
          recordCall(events, 'ensureAccounts', () => ({
            details: { created: idsOf(created), changed: idsOf(changed) },
          })),
      })
    } catch (thrown) {
      await sender.close()
      throw thrown
    }
    if (closing) return
    // Before anything is sent.
    await (normalized.hold ? opened.holds.set(true, undefined) : opened.holds.read())
    await opened.dispatcher.start()
    opened.exchange.start()
    const core = opened
    metrics.watch(() => readGauges(core))
    background = startBackground(core, publishing, normalized)
    running = opened
  }

  /** Writes the last counts, after the last settlements. */
  async function writeStatistics(): Promise<void> {
    const statistics = opened?.statistics
    if (statistics) await waitAtMost(LAST_STATISTICS_MS, clock, statistics.close())
  }

  function release(): void {
    releaseStore?.()
    endKeepAlive?.()
    releaseStore = endKeepAlive = undefined
  }

  /** After a start: only the option `ref` keeps the process alive. */
  function stayIfWanted(): void {
    if (normalized.ref || closing) return
    endKeepAlive?.()
    endKeepAlive = undefined
  }

  async function shutDown(drainMs: number): Promise<void> {
    // Stops the dispatcher before waiting for `start`, which may itself wait for the store.
    const openedBefore = opened
    openedBefore?.streams.close()
    const stopped = openedBefore?.dispatcher.close(drainMs)
    await starting?.catch(() => {})
    await background?.stop()
    opened?.storeWatch.stop()
    await stopped
    // `start` opened it in the meantime.
    if (opened && opened !== openedBefore) await opened.dispatcher.close(drainMs)
    await opened?.metaEvents.idle()
    await opened?.exchange.close()
    await writeStatistics()
    await erasures.wait()
    await opened?.callIndex.close()
    ended.abort()
    try {
      if (starting) await store.close()
    } finally {
      log.close()
      release()
    }
  }

  const webhooks = createWebhookApi(core)
  const replays = createReplayApi(core, () => background?.wake())
  const jobs = createWebhookJobApi(core, () => background?.wake())
  const node = normalized.nodeName ?? newId()
  const publishing: PublishDeps = { core, metrics, tracing, limits: normalized }
  // Validates the option now; the handler is created later.
  const trustedProxies = parseTrustedProxies(normalized.trustProxy)
  const apiDeps: ApiDeps = {
    node,
    options: normalized,
    trustedProxies,
    clock,
    log,
    accessLog,
    newId,
    core,
    webhooks,
    replays,
    jobs,
    erase: eraseRecords,
    publishing,
    publishes: createPublishAdmission(clock),
    replayLimiter: createReplayRateLimiter(clock, normalized),
    yieldWhenDue: yieldingOf(clock).whenDue,
  }
  const handler = createLazyHandler(async () => (await import('./http/handle.js')).createHandler(apiDeps))

  return {
    start() {
      if (closing) return Promise.reject(new HookswitchError('Closing', 'this instance was closed'))
      // Waiting alone, such as for room on the store's disk, keeps no process alive. A clock of the host may stand still for ever.
      if (!starting && (normalized.ref || hostOptions.clock === undefined)) endKeepAlive ??= keepAlive()
      starting ??= open().then(stayIfWanted, async (thrown: unknown) => {
        // Restores the initial state, so that the host can call `start` again.
        opened?.storeWatch.stop()
        await opened?.dispatcher.close(0).catch(() => {})
        await opened?.exchange.close()
        await writeStatistics()
        // Not the store of another instance.
        if (releaseStore) await store.close().catch(() => {})
        release()
        opened = starting = undefined
        throw thrown
      })
      return starting
    },
    close(closeOptions) {
      try {
        checkOptionNames('close', closeOptions ?? undefined, ['drainMs'])
      } catch (thrown) {
        return Promise.reject(thrown)
      }
      const { drainMs = DRAIN_MS } = closeOptions ?? {}
      if (typeof drainMs !== 'number' || !(drainMs >= 0))
        return Promise.reject(invalidOption('drainMs', 'must be 0 or more'))
      // Waiting alone keeps no process alive.
      if (!closing) endKeepAlive ??= keepAlive()
      closing ??= shutDown(drainMs)
      return closing
    },
    endStreams() {
      opened?.streams.close()
    },
    publish: ((input: unknown, publishOptions?: PublishOptions) =>
      publish(publishing, input, publishOptions ?? {})) as Hookswitch<Hooks[number]>['publish'],
    wake() {
      background?.wake()
      running?.dispatcher.wake()
    },
    setLimits(limits) {
      const changed = checkLimits(limits)
      const all = { ...normalized, maxPendingPerAccount: accountLimit(normalized) }
      const names = Object.keys(changed) as (keyof typeof all)[]
      const before = Object.fromEntries(names.map((name) => [name, all[name]]))
      Object.assign(normalized, changed)
      opened?.applyLimits()
      const changes = changesOf(before, changed)
      if (Object.keys(changes.after ?? {}).length > 0) recordCall(events, 'setLimits', () => changes)
    },
    nodeHealth: () => (running ? readNodeHealth(running) : { problems: [], outages: [] }),
    clock,
    events: events as unknown as Hookswitch<Hooks[number]>['events'],
    accounts: auditCalls(bindAccounts(core), events, ACCOUNT_CALLS),
    auth: {
      signIn: async (login, from) => {
        const audit = (details: Partial<AuditRecord>) =>
          recordCall(events, 'apiKey' in login ? 'signInByApiKey' : 'signInByCredentials', () => ({
            ...(from?.address !== undefined && { address: from.address }),
            ...details,
          }))
        try {
          const signedIn = await signIn(core().auth, login, from)
          const { account, userId } = signedIn
          audit({ accountId: account.id, userId })
          return signedIn
        } catch (thrown) {
          const refused = errorCode(thrown)
          if (isRefusedLogin(refused)) audit({ refused })
          throw thrown
        }
      },
      issue: async (request) => {
        const issued = await issueToken(core().auth, request)
        const { accountId, userId, role, ttlSeconds } = request
        recordCall(events, 'issueToken', () => ({ accountId, userId, details: { role, ttlSeconds } }))
        return issued
      },
      authenticate: async (token) => authenticate(core().auth, token),
      authorize: async (token, accountId) => authorizeToken(core().auth, token, accountId),
      signOut: async (token) => {
        await signOut(core().auth, token)
        recordCall(events, 'signOut', () => ({}))
      },
    },
    webhooks: auditCalls(webhooks, events, WEBHOOK_CALLS),
    operator: createOperatorApi(core, auditCalls(jobs, events, JOB_CALLS), (isHeld, accountId) =>
      recordCall(events, 'setHold', () => ({ accountId, details: { isHeld } })),
    ),
    replays: auditCalls(replays, events, {
      start: [
        'replayAccount',
        ({ id: replayId, count }, { accountId, webhookId }) => ({
          accountId,
          webhookId,
          replayId,
          details: { count },
        }),
      ],
      set: ['setReplay', (_, replayId, state, accountId) => ({ accountId, replayId, details: { state } })],
    }),
    openLegs: bindOpenLegs(core),
    stream(streamOptions) {
      checkOptionNames('stream', streamOptions ?? null, STREAM_OPTIONS)
      const { signal, ...request } = streamOptions
      return iterateStream(async () => core().streams.open(request), signal)
    },
    watchEvents: (accountId, listener) => watchers.watch(accountId, listener),
    erase: async (request) => {
      const erased = await eraseRecords(request)
      const { accountId, callId, number } = request
      const of = callId !== undefined ? 'callId' : number !== undefined ? 'number' : 'account'
      recordCall(events, 'eraseRecords', () => ({ accountId, details: { of, rows: erased.rows } }))
      return erased
    },
    handle: handler.handle,
    admitBody: createBodyAdmission({ ...normalized, trustedProxies }),
    handlesPath,
    rootPaths: ROOT_PATHS,
    node,
  }
}

/** The account operations of whichever instance is running when they are called. */
function bindAccounts(core: () => Core): AccountService {
  return {
    create: async (input) => core().accounts.create(input),
    get: async (id) => core().accounts.get(id),
    list: async () => core().accounts.list(),
    update: async (id, change) => core().accounts.update(id, change),
    remove: async (id) => core().accounts.remove(id),
    addUser: async (id, input) => core().accounts.addUser(id, input),
    removeUser: async (id, user) => core().accounts.removeUser(id, user),
    setPassword: async (id, user, password) => core().accounts.setPassword(id, user, password),
    readApiKey: async (id) => core().accounts.readApiKey(id),
    rotateApiKey: async (id) => core().accounts.rotateApiKey(id),
    ensure: async (inputs) => core().accounts.ensure(inputs),
    previewEnsure: async (inputs) => core().accounts.previewEnsure(inputs),
    descendants: async (id) => core().accounts.descendants(id),
    changed: (id) => core().accounts.changed(id),
  }
}

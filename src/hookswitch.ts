import type { AccountVerbs } from './auth/account-verbs.js'
import { authenticate, type Caller } from './auth/authenticate.js'
import { type SignedIn, type SignInInput, signIn } from './auth/sign-in.js'
import { signOut } from './auth/sign-out.js'
import { type Background, startBackground } from './background.js'
import { checkOptions } from './check-options.js'
import { systemClock } from './clock.js'
import { type Core, createCore, type HookswitchEvents } from './core.js'
import { createTally } from './delivery/drain.js'
import type { ChannelEvent } from './delivery/event.js'
import { replayLimits } from './delivery/replay-limits.js'
import { type Erased, type EraseWish, erase } from './erase.js'
import { HookswitchError } from './errors.js'
import { type EventHub, eventHub } from './events.js'
import { readGauges } from './gauges.js'
import { type HostWebhooks, hostWebhooks } from './host-webhooks.js'
import { trustedProxies } from './http/client-address.js'
import type { HttpService } from './http/message.js'
import { owns } from './http/owns.js'
import { httpFace } from './http-face.js'
import type { ServiceFacts } from './http-service.js'
import { invalid } from './option-checks.js'
import type { HookswitchOptions } from './options.js'
import type { Sender } from './ports.js'
import {
  type PublishDoors,
  type Published,
  type PublishOptions,
  publishAll,
  publishOne,
  type Staged,
} from './publish.js'
import { systemRandom } from './random.js'
import { safeLog } from './safe-log.js'
import { safeMetrics, safeTracing } from './safe-metrics.js'
import { secretsOf } from './service-secret.js'
import type { Store } from './store/contract.js'
import { idMaker } from './values/ids.js'

/** One instance of the service, embedded in its host. */
export interface Hookswitch extends Required<HttpService> {
  /** Opens the store and begins to deliver. Rejects with `StoreUnavailable`, `StoreCorrupt`; may be tried again then. */
  start(): Promise<void>
  /**
   * Stops: no new work, up to `drainMs` (default 5,000) for what is in flight, then the rest is given back. Leaves no
   * socket, timer or lease. Calling it again waits for the same end.
   */
  close(options?: { readonly drainMs?: number }): Promise<void>
  /**
   * Accepts an event: when it resolves, the event and one delivery for each matching webhook are kept.
   *
   * Throws `InvalidInput` naming the field, `NotFound` for the account, `Conflict` for a used idempotency key with
   * another body, `QueueFull`, `StoreUnavailable`.
   */
  publish(event: ChannelEvent, options?: PublishOptions & { readonly tx?: undefined }): Promise<Published>
  /** Accepts an event with the host's own transaction: committed, it is delivered; rolled back, it never was. */
  publish(event: ChannelEvent, options: PublishOptions): Promise<Published | Staged>
  /** Looks for work now, after the host committed a transaction of its own. */
  wake(): void
  /** Kinds of events by id (`channel_create`, …), `event`, `attempt`, `delivered`, `exhausted`, `webhook_disabled`, … */
  readonly events: EventHub<HookswitchEvents>
  readonly accounts: AccountVerbs
  readonly auth: {
    /** Trades a key or credentials for a token. Throws `InvalidCredentials`, `AccountLocked`, `TooManyLogins`. */
    signIn(login: SignInInput, from?: { readonly address?: string }): Promise<SignedIn>
    /** Who sent this token. Throws `InvalidCredentials` for every cause. */
    authenticate(token: string): Promise<Caller>
    /** Revokes a token; dead when it resolves. */
    signOut(token: string): Promise<void>
  }
  readonly webhooks: HostWebhooks
  /** Erases for good what is kept of a call, of a number, or of all calls of an account. Throws `InvalidInput`. */
  erase(wish: EraseWish): Promise<Erased>
}

/** Default of `close({ drainMs })`. */
const DRAIN_MS = 5000
/**
 * Makes an instance of the service over its doors; `start()` opens it.
 *
 * @throws `InvalidOption` naming the option, unknown ones too
 * @example
 * const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
 * await hs.start()
 */
export function createHookswitch(given: HookswitchOptions<Store>): Hookswitch {
  // What is checked is what counts: no prototype, no change afterwards.
  const options = typeof given === 'object' && given !== null ? { ...given } : given
  const settled = checkOptions(options, process.env.HOOKSWITCH_SECRET)
  const { store, maxPending } = settled
  const clock = options.clock ?? systemClock()
  const random = options.random ?? systemRandom()
  const log = safeLog(options.log)
  const ended = new AbortController()
  const metrics = safeMetrics(options.metrics, log, ended.signal)
  const tracing = safeTracing(options.tracing, log)
  const newId = idMaker((count) => random.bytes(count))
  const events = eventHub<HookswitchEvents>((thrown, name) => {
    log.warn(
      { event: name, reason: thrown instanceof Error ? thrown.message : 'unknown' },
      'a listener failed',
    )
  })

  let opened: Core | undefined
  let running: Core | undefined
  let starting: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let background: Background | undefined
  /** What was erased in part would stay so. */
  const erasing = createTally()

  /** The open instance. Throws `StoreUnavailable` before the start, `Closing` after the close. */
  function core(): Core {
    if (closing) throw new HookswitchError('Closing', 'this instance is closing', { retryAfterSeconds: 1 })
    if (running) return running
    throw new HookswitchError('StoreUnavailable', 'call start() first', { retryAfterSeconds: 1 })
  }

  async function openSender(): Promise<Sender> {
    if (options.sender) return options.sender
    const { createDefaultSender } = await import('./send/index.js')
    const { resolver } = options
    const tls = options.tls && { ...options.tls }
    const { addressPolicy: policy, proxy, inFlightPerOrigin: maxPerOrigin } = settled
    return createDefaultSender({ policy, proxy, tls, maxPerOrigin, ...(resolver && { resolver }) })
  }

  async function open(): Promise<void> {
    if (settled.allowLocal) log.info({}, 'allowLocal is on: webhooks may call loopback addresses')
    await store.open({ clock, log })
    const secrets = await secretsOf(store, settled.secrets)
    await face.load()
    const sender = await openSender()
    try {
      opened = createCore(settled, secrets, { clock, random, log, events, metrics, tracing, sender })
    } catch (thrown) {
      await sender.close()
      throw thrown
    }
    if (closing) return
    await opened.dispatcher.start()
    const core = opened
    metrics.watch(() => readGauges(core))
    background = startBackground(core, publishing, settled)
    running = opened
  }

  async function shut(drainMs: number): Promise<void> {
    // Before the start is waited for, which may itself be waiting for the store.
    const early = opened
    const stopped = early?.dispatcher.close(drainMs)
    await starting?.catch(() => {})
    await background?.stop()
    await stopped
    // It was opened while this waited.
    if (opened && opened !== early) await opened.dispatcher.close(drainMs)
    await erasing.none()
    ended.abort()
    if (starting) await store.close()
  }

  const webhooks = hostWebhooks(core, maxPending)
  const { catalogue, ingest, cors, trustProxy } = settled
  const node = newId()
  const publishing: PublishDoors = { core, metrics, tracing, maxPending }
  const facts: ServiceFacts = {
    node,
    catalogue,
    now: clock.now,
    newId,
    replays: replayLimits(clock, settled),
    ...(ingest && { publish: (events, traceparent) => publishAll(publishing, events, traceparent) }),
  }
  // Whom to trust is wrong or right from the beginning.
  trustedProxies(trustProxy)
  const face = httpFace(async () => {
    const [{ httpService }, { createHandler }] = await Promise.all([
      import('./http-service.js'),
      import('./http/handle.js'),
    ])
    return createHandler(httpService(core, webhooks, facts), { log, trustProxy, cors })
  })

  return {
    start() {
      if (closing) return Promise.reject(new HookswitchError('Closing', 'this instance was closed'))
      starting ??= open().catch(async (thrown: unknown) => {
        // As if it had not been tried: a host may try again once its store is there.
        await opened?.dispatcher.close(0).catch(() => {})
        await store.close().catch(() => {})
        opened = starting = undefined
        throw thrown
      })
      return starting
    },
    close(how) {
      const { drainMs = DRAIN_MS } = how ?? {}
      if (typeof drainMs !== 'number' || !(drainMs >= 0))
        return Promise.reject(invalid('drainMs', 'must be 0 or more'))
      closing ??= shut(drainMs)
      return closing
    },
    publish: ((event, how) => publishOne(publishing, event, how ?? {})) as Hookswitch['publish'],
    wake() {
      background?.wake()
      running?.dispatcher.wake()
    },
    events,
    accounts: boundAccounts(core, webhooks),
    auth: {
      signIn: async (login, from) => signIn(core().auth, login, from),
      authenticate: async (token) => authenticate(core().auth, token),
      signOut: async (token) => signOut(core().auth, token),
    },
    webhooks,
    async erase(wish) {
      const open = core()
      erasing.add(1)
      return erase(open, wish).finally(() => erasing.add(-1))
    },
    handle: face.handle,
    owns,
    node,
  }
}

/** The verbs of accounts, asked of the instance that is open when they are called. */
function boundAccounts(core: () => Core, webhooks: HostWebhooks): AccountVerbs {
  return {
    create: async (input) => core().accounts.create(input),
    get: async (id) => core().accounts.get(id),
    list: async () => core().accounts.list(),
    update: async (id, change) => core().accounts.update(id, change),
    async remove(id) {
      await core().accounts.remove(id)
      // Matching asks for the account, so nothing new reaches them: what is pending is cancelled here.
      for (const webhook of await webhooks.list(id)) await webhooks.remove(id, webhook.id)
    },
    addUser: async (id, input) => core().accounts.addUser(id, input),
    removeUser: async (id, user) => core().accounts.removeUser(id, user),
    setPassword: async (id, user, password) => core().accounts.setPassword(id, user, password),
    readApiKey: async (id) => core().accounts.readApiKey(id),
    rotateApiKey: async (id) => core().accounts.rotateApiKey(id),
    ensure: async (inputs) => core().accounts.ensure(inputs),
    descendants: async (id) => core().accounts.descendants(id),
    changed: (id) => core().accounts.changed(id),
  }
}

/**
 * The open streams of this node: opens them, brings items to them, checks their readers, ends them.
 *
 * Theory of operation
 *
 * - A stream belongs to an account; with `descendants` also to the accounts below it. For each item the lineage of its account
 *   is looked up (cached): the item goes to the streams that contain the account and whose readers may see it now.
 * - Items of attempts come from the log (`attempt-feed`). Events and changes of webhooks are known where they happen, and are
 *   brought to the hubs of all nodes (`exchange`).
 * - Nothing waits for a reader: a stream has a bounded queue (`subscriber`). One timer per node runs while streams are open.
 * - The token of a reader is checked again every 30 s, and at once when this node learns that it may be invalid.
 */

import type { Account } from '../accounts/account.js'
import type { Caller } from '../auth/authenticate.js'
import type { AttemptRecord } from '../delivery/attempt-record.js'
import type { CheckedEvent } from '../delivery/event.js'
import type { LiveWatch } from '../delivery/live-store.js'
import { payloadOf, SEQUENCE_KEY } from '../delivery/payload.js'
import type { QueueStore } from '../delivery/queue-store.js'
import { closingError, errorCode, invalidInput, notFound, reasonOf } from '../errors.js'
import type { Metrics } from '../metrics.js'
import type { Clock, Log } from '../ports.js'
import { yieldingOf } from '../values/yielding.js'
import {
  decodeStreamId,
  type StreamPlace,
  type StreamRequest,
  streamFilterFailures,
  streamWebhookJson,
  type WebhookChange,
} from '../wire/stream-json.js'
import { createAttemptFeed } from './attempt-feed.js'
import { catchUp } from './catch-up.js'
import { OpenStream } from './open-stream.js'
import { createStreamSlots, type StreamLimits } from './stream-limits.js'
import { contentOf } from './subscriber.js'

/** Options that are read while the node runs. */
interface StreamOptions extends StreamLimits {
  readonly attemptsPerWebhook: number
  readonly retentionDays: number
}

interface StreamHubDeps {
  readonly store: Pick<QueueStore, 'attemptLog' | 'legs'>
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'count'>
  /** Whether other nodes use the store at the same time. */
  readonly isShared: boolean
  /** Identifies the process where the store is not durable: ids of another one have no meaning. Otherwise ''. */
  readonly scope: string
  readonly options: StreamOptions
  /** The account, then its ancestors; empty: it does not exist. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Ids of the accounts below. */
  descendants(accountId: string): Promise<readonly string[]>
  /** Whether a caller may see the items of an account. */
  mayRead(caller: Caller, accountId: string, lineage: readonly Account[]): boolean
  /** Authenticates a caller again, for its stream of this account. Rejects with `InvalidCredentials` or `Forbidden`. */
  recheck(caller: Caller, accountId: string): Promise<Caller>
}

export interface StreamHub {
  /**
   * Opens a stream. Its reader must `take` its items, and `close` it.
   *
   * @param caller absent: the host reads it, and nothing is authorized
   * @throws `InvalidInput`, `NotFound` for the account, `TooManyStreams`, `StoreUnavailable`, `Closing`
   */
  open(request: StreamRequest, caller?: Caller): Promise<OpenStream>
  /** Checks a request, as `open` does, without opening a stream. @throws `InvalidInput`, `NotFound` */
  check(request: StreamRequest): Promise<void>
  /** This node has stored a record. @param body of its delivery, if it is in memory */
  recorded(record: AttemptRecord, body?: string): void
  /** This node may have stored a record of this account. */
  attemptsChanged(accountId: string): void
  /** A webhook has changed. */
  webhookChanged(change: WebhookChange): void
  /** An event was accepted. */
  accepted(event: CheckedEvent, eventId: string, sequence: number): void
  /**
   * Events of other nodes are missing, and, without an account, changes of webhooks too.
   *
   * @param accountId `undefined`: of any account
   * @param count null: an unknown number
   */
  dropped(accountId: string | undefined, count: number | null): void
  /** The events and changes of webhooks that the streams contain. */
  watches(): readonly LiveWatch[]
  /** Whether a stream may contain items of an account. */
  isWatched(accountId: string): boolean
  /** Calls back when a stream was opened or has ended. Replaces the function before. */
  onChange(call: () => void): void
  /** Checks the tokens of readers now. @param isConcerned default: all */
  recheck(isConcerned?: (caller: Caller) => boolean): void
  /** Open streams. */
  readonly count: number
  /** Ends all streams, and opens no more. */
  close(): void
}

/** Accounts of a stream with `descendants`. @internal */
export const MAX_STREAM_ACCOUNTS = 1_000
/** Time between two checks of a token, ms. */
const RECHECK_MS = 30_000
const TICK_MS = 1_000
/** Items that wait for the lineage of their account. */
const MAX_PENDING = 10_000
const NONE: readonly never[] = []
const DAY_MS = 86_400_000

export function createStreamHub(deps: StreamHubDeps): StreamHub {
  const { store, clock, log, metrics, options } = deps
  const slots = createStreamSlots(options)
  const streams = new Set<OpenStream>()
  const byAccount = new Map<string, Set<OpenStream>>()
  /** Streams with `descendants`. */
  let treeCount = 0
  /** Streams that need to know of events. */
  let eventCount = 0
  let changed = () => {}
  const closing = new AbortController()
  let ticking: AbortController | undefined
  let delivering: Promise<void> = Promise.resolve()
  let pending = 0

  const feed = createAttemptFeed({
    store,
    clock,
    log,
    isShared: deps.isShared,
    streams: () => streams,
    streamsOf,
    deliver,
  })

  const hasStream = (accountId: string) => treeCount > 0 || byAccount.has(accountId)

  const mayRead = (stream: OpenStream, accountId: string, lineage: readonly Account[]) =>
    !stream.caller || deps.mayRead(stream.caller, accountId, lineage)

  async function streamsOf(accountId: string): Promise<readonly OpenStream[]> {
    if (!hasStream(accountId)) return NONE
    const lineage = await deps.lineage(accountId)
    const found: OpenStream[] = []
    for (const id of lineage.length > 0 ? lineage.map((account) => account.id) : [accountId]) {
      for (const stream of byAccount.get(id) ?? NONE) {
        if (stream.covers(accountId, lineage) && mayRead(stream, accountId, lineage)) found.push(stream)
      }
    }
    return found
  }

  /** In the order of the calls. Never waits for a reader. */
  function deliver(accountId: string, send: (found: readonly OpenStream[]) => void): void {
    if (!hasStream(accountId)) return
    if (pending >= MAX_PENDING) {
      // Their number is known for no stream: which of them has the account is what could not be found out.
      for (const stream of byAccount.get(accountId) ?? streams) stream.drop(null)
      return
    }
    pending += 1
    delivering = delivering
      .then(async () => {
        // The events of one request come all at once.
        await yieldingOf(clock).briefly()
        send(await streamsOf(accountId))
      })
      .catch((thrown: unknown) => {
        for (const stream of byAccount.get(accountId) ?? NONE) stream.drop(1)
        log.warn({ accountId, reason: reasonOf(thrown) }, 'an item of streams was lost')
      })
      .finally(() => {
        pending -= 1
      })
  }

  async function run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, signal)
      if (signal.aborted) return
      for (const stream of streams) stream.tick()
      feed.tick()
      const nowMs = clock.monotonic()
      for (const stream of streams) if (nowMs >= stream.nextCheckMs) void recheckStream(stream)
    }
  }

  async function recheckStream(stream: OpenStream): Promise<void> {
    stream.nextCheckMs = clock.monotonic() + RECHECK_MS
    try {
      if (stream.caller) stream.caller = await deps.recheck(stream.caller, stream.accountId)
      if (stream.hasDescendants) stream.accountIds = await accountsOf(stream)
    } catch (thrown) {
      const code = errorCode(thrown)
      if (code === 'InvalidCredentials' || code === 'Forbidden') return stream.end('token')
      // The store is out, or the accounts have become too many: the accounts stay as they were.
      stream.nextCheckMs = clock.monotonic() + TICK_MS
    }
  }

  async function accountsOf({
    accountId,
    hasDescendants,
  }: Pick<OpenStream, 'accountId' | 'hasDescendants'>): Promise<readonly string[]> {
    if (!hasDescendants) return [accountId]
    const below = await deps.descendants(accountId)
    if (below.length < MAX_STREAM_ACCOUNTS) return [accountId, ...below]
    const message = `Value must be at most ${MAX_STREAM_ACCOUNTS} accounts`
    throw invalidInput([
      { path: 'descendants', rule: 'maximum', message, target: MAX_STREAM_ACCOUNTS, value: below.length + 1 },
    ])
  }

  function throwIfClosing(): void {
    if (closing.signal.aborted) throw closingError()
  }

  /** @throws as `open`, for the request itself */
  async function prepare({ accountId, lastId, ...filter }: StreamRequest) {
    const failures = [...streamFilterFailures(filter)]
    const place = lastId === undefined ? undefined : decodeStreamId(lastId)
    if (lastId !== undefined && !place) {
      failures.push({ path: 'lastId', rule: 'wrong_format', message: 'This is no id of a stream' })
    }
    if (failures.length > 0) throw invalidInput(failures)
    throwIfClosing()
    if ((await deps.lineage(accountId)).length === 0) throw notFound(accountId, 'account')
    const accountIds = await accountsOf({ accountId, hasDescendants: filter.descendants === true })
    return { accountIds, filter, place }
  }

  function add(stream: OpenStream): void {
    streams.add(stream)
    const ofAccount = byAccount.get(stream.accountId)
    if (ofAccount) ofAccount.add(stream)
    else byAccount.set(stream.accountId, new Set([stream]))
    if (stream.hasDescendants) treeCount += 1
    if (stream.needsEvents) eventCount += 1
    changed()
    if (ticking) return
    ticking = new AbortController()
    void run(ticking.signal)
  }

  function remove(stream: OpenStream): void {
    if (!streams.delete(stream)) return
    const ofAccount = byAccount.get(stream.accountId)
    ofAccount?.delete(stream)
    if (ofAccount?.size === 0) byAccount.delete(stream.accountId)
    if (stream.hasDescendants) treeCount -= 1
    if (stream.needsEvents) eventCount -= 1
    changed()
    if (streams.size > 0) return
    ticking?.abort()
    ticking = undefined
    feed.clear()
  }

  /** Whether the log may have lost records after the place. */
  function isLost(place: StreamPlace, position: number): boolean {
    const isOld = clock.now() - place.issued * 1000 > options.retentionDays * DAY_MS
    return place.scope !== deps.scope || place.position > position || isOld
  }

  async function begin(request: StreamRequest, caller: Caller | undefined, release: () => void) {
    const { accountIds, filter, place } = await prepare(request)
    const { accountId, lastId } = request
    const { callId } = filter
    const callIds = callId === undefined ? [] : [callId, ...(await store.legs(accountId, callId))]
    const { position } = await store.attemptLog({ accountIds: [], limit: 1 })
    throwIfClosing()
    const isContinued = place !== undefined && place.scope === deps.scope && place.position <= position
    const stream = new OpenStream(
      {
        clock,
        onDrop: (count) => metrics.count('hookswitch_stream_items_dropped_total', count, undefined),
        onEnd: () => {
          release()
          remove(stream)
        },
      },
      {
        accountId,
        filter,
        accountIds,
        callIds: callId === undefined ? undefined : new Set(callIds),
        position: isContinued ? place.position : position,
        scope: deps.scope,
        ...(caller && { caller }),
        ...(lastId !== undefined && { lastId }),
      },
    )
    stream.nextCheckMs = clock.monotonic() + RECHECK_MS
    if (isContinued) stream.held = []
    add(stream)
    feed.opened(stream)
    if (place && isLost(place, position)) stream.drop(null)
    if (isContinued) {
      void catchUp({ ...deps, mayRead, attemptsPerWebhook: () => options.attemptsPerWebhook }, stream).catch(
        (thrown: unknown) => {
          if (stream.isEnded) return
          // It cannot go on without what it has missed. The reader connects again.
          log.warn({ accountId, reason: reasonOf(thrown) }, 'a stream could not be resumed')
          stream.close()
        },
      )
    }
    return stream
  }

  return {
    async open(request, caller) {
      throwIfClosing()
      const release = slots.acquire(request.accountId, caller?.token)
      try {
        return await begin(request, caller, release)
      } catch (thrown) {
        release()
        throw thrown
      }
    },
    async check(request) {
      await prepare(request)
    },
    recorded(record, body) {
      if (hasStream(record.accountId)) feed.recorded(record, body)
    },
    attemptsChanged(accountId) {
      if (hasStream(accountId)) feed.changed(accountId)
    },
    webhookChanged(change) {
      deliver(change.accountId, (found) => {
        const wanted = found.filter((stream) => stream.wantsWebhook(change.id))
        if (wanted.length === 0) return
        const content = contentOf('webhook', streamWebhookJson(change))
        for (const stream of wanted) stream.push(content, stream.id)
      })
    },
    accepted(event, eventId, sequence) {
      if (eventCount === 0) return
      deliver(event.accountId, (found) => {
        const wanted = found.filter((stream) => stream.wantsEvent(event))
        if (wanted.length === 0) return
        const payload = { ...payloadOf(event, eventId), [SEQUENCE_KEY]: sequence }
        const content = contentOf('event', payload)
        for (const stream of wanted) stream.push(content, stream.id)
      })
    },
    dropped(accountId, count) {
      if (accountId === undefined) {
        for (const stream of streams) if (stream.liveKinds.length > 0) stream.drop(count)
        return
      }
      deliver(accountId, (found) => {
        for (const stream of found)
          if (stream.types.includes('event')) stream.drop(stream.callIds ? null : count)
      })
    },
    watches: () =>
      [...streams].flatMap(({ accountId, hasDescendants: descendants, liveKinds: kinds }) =>
        kinds.length > 0 ? [{ accountId, descendants, kinds }] : [],
      ),
    isWatched: hasStream,
    onChange(call) {
      changed = call
    },
    recheck(isConcerned = () => true) {
      for (const stream of streams)
        if (stream.caller && isConcerned(stream.caller)) void recheckStream(stream)
    },
    get count() {
      return streams.size
    },
    close() {
      closing.abort()
      for (const stream of streams) stream.end('closing')
      ticking?.abort()
    },
  }
}

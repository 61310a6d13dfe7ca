/**
 * Keeps the queue of one node in step with the store: loads gained shards, settles what earlier owners left in flight there,
 * hands over shards, and applies the changes of others.
 *
 * Theory of operation
 *
 * - Every change runs in the commit loop, between groups (`exclusively`), so that no group is formed from half a
 *   queue.
 * - A grant with a new fence means that the node owned nothing for a while: it forgets its queue, abandons what is
 *   in flight and loads all shards. Their starts under the earlier lease are then interrupted attempts.
 * - A shard is loaded before anything of it is sent. Deliveries that are accepted for it before that are found by
 *   the load.
 * - A delivery that its owner was sending when it crashed gets an interrupted attempt before it is sent again.
 * - A shard that is to be given up leaves the queue at once, and is handed over when its last attempt has ended.
 * - After a failover the store may lack the last commits of this and other nodes (`LoadedPart.history`): then the node
 *   starts nothing until it has renewed its lease and loaded its shards, and counts missing deliveries. What is in
 *   flight stays.
 * - Prefetched deliveries return to the queue before each load, which skips taken deliveries.
 * - All steps can be repeated: a step that fails is tried again until it succeeds or the node stops.
 */
import { reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { isProbed } from '../webhooks/health.js'
import { healthAfterChange, type Webhook } from '../webhooks/webhook.js'
import type { CommitLoop, SettledNow } from './commit-loop.js'
import type { DeliveryContent } from './delivery-store.js'
import { isTerminal } from './lifecycle.js'
import type { NodeState } from './node-state.js'
import { createPositions } from './positions.js'
import type { PendingQueue } from './queue/pending-queue.js'
import type { QueueEndpoint } from './queue/queue-endpoint.js'
import { QueuedDelivery } from './queue/queued-delivery.js'
import {
  type DeliveryKey,
  isNotWritten,
  type LoadedPart,
  type NodeLease,
  type Polled,
  type QueueStore,
  type Start,
  type WaitingDeliveries,
} from './queue-store.js'
import type { Scheduler } from './scheduler/scheduler.js'
import type { DecidedSettlement } from './worker/settlement-decider.js'

interface QueueSyncDeps {
  readonly store: QueueStore
  readonly clock: Clock
  readonly log: Log
  readonly queue: PendingQueue
  readonly scheduler: Pick<Scheduler, 'update'>
  readonly loop: Pick<CommitLoop, 'exclusively' | 'settleNow' | 'trigger'>
  /** Store time, ms. */
  now(): number
  /** What is in flight or started. */
  inFlight(): Iterable<QueuedDelivery>
  /** Forgets the starts of an earlier lease. */
  forgetStarts(): void
  /** Decides the interrupted attempt of a delivery. */
  interrupt(delivery: QueuedDelivery): DecidedSettlement
  /** Cancels the unsent requests of a webhook. */
  cancelUnsent(webhookId: string): void
  /** Sends what waits for a webhook: an edit has ended its pause or its wait. */
  resume(endpoint: QueueEndpoint, wasPaused: boolean): void
  /** What is started and waits for a slot waits in the queue again. */
  putBackPrefetched(): void
  /** Requests a new grant. */
  renew(): void
  /** Requests a new grant, which `granted` gets before this resolves. */
  renewNow(): Promise<void>
  /** The store has lost these pending deliveries in a failover. */
  onLost(deliveries: number): void
  /** The shard of a webhook, 0–63. */
  shardOf(webhookId: string): number
  /** Aborts: no further step begins. */
  readonly stopping: AbortSignal
}

interface QueueSync {
  /** Takes a grant of the store. */
  granted(grant: NodeLease): void
  /** Whether the store has granted another lease, which is not applied yet: other nodes may have had the shards meanwhile. */
  readonly hasNewLease: boolean
  /** Resolves when the latest grant has been applied. */
  ready(): Promise<void>
  /** A group was refused because the lease has ended. */
  onFenced(): void
  /** A settlement was given up because the lease has ended. */
  abandonSettlement(decided: DecidedSettlement): void
  /**
   * A settlement was fenced although the lease holds: the delivery is gone, or, after a failover, its row is of an earlier
   * attempt, and it is loaded again.
   */
  onSettlementFenced(): void
  /** Reads and applies the changes of others. Only inside the commit loop. */
  applyChanges(): Promise<void>
  /** Polls for handoffs and changes. */
  poll(): void
  /** Loads everything again: commits may have been lost. */
  reload(): void
  /** The webhook has changed, by a settlement of this node. */
  setWebhook(webhook: Webhook): void
  /**
   * Begins to read the rows of these webhooks while the group with their first deliveries is committed. `undefined`: none. Only
   * inside the commit loop.
   */
  readAhead(webhookIds: Iterable<string> | undefined): void
  /** Makes these endpoints known to the queue. Only inside the commit loop. */
  addEndpoints(webhookIds: readonly string[]): Promise<void>
  /** Requests contents that are needed next. */
  fetchContents(): void
  /** When contents can be requested next, store time, ms; `undefined`: not before something happens. */
  nextFetchMs(): number | undefined
  /** Hands over the shards that are to be given up and have nothing in flight. */
  handOverIdle(): void
}

/** Deliveries whose contents are read at once. */
const FETCH_SIZE = 500
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5_000

/** @param maxContents contents that are requested ahead at most */
export function createQueueSync(deps: QueueSyncDeps, state: NodeState, maxContents: number): QueueSync {
  const { store, clock, log, queue, scheduler, loop, now, shardOf, stopping } = deps
  /** The latest grant, without the shards that were handed over since. */
  let grant: NodeLease | undefined
  let applying: Promise<void> | undefined
  let isPolling = false
  /** The queue may lack deliveries: everything is loaded before anything else is read. */
  let mustLoadAll = false
  let isReloadQueued = false
  /**
   * Attempts that were abandoned under a lease. If the store grants that lease again, it does not know that they are over:
   * then they are interrupted like those of earlier owners.
   */
  let abandoned: { readonly fence: number; starts: Start[] } = { fence: 0, starts: [] }
  /** Shards whose health in memory is current: no other node has changed it since it was loaded. */
  const healthShards = new Set<number>()
  /** The webhooks in memory before the last reload: a load applies a resume that it finds, as an edit does. */
  const knownWebhooks = new Map<string, Webhook>()
  /** The log of the store at the last load. */
  let history: string | undefined
  /** Another server has taken over: rows may be older than what was in flight then. */
  let hasFailedOver = false
  /** Interrupted attempts that are being committed. */
  let settling: readonly DecidedSettlement[] = []
  /** What was in the queue before the load from a server with another log. */
  let knownBefore: ReturnType<PendingQueue['keys']> | undefined
  /** Rows of webhooks, read since the store got the group that is being committed. */
  let readingAhead: ReadonlyMap<string, Promise<Webhook | undefined>> | undefined
  let fetching = 0
  let leaving: ReadonlySet<number> = new Set()
  let handingOver = false

  const updateAll = (endpoints: Iterable<QueueEndpoint>) => {
    for (const endpoint of endpoints) scheduler.update(queue.ready(endpoint))
  }

  /** Repeats a step until it succeeds. When the node stops and the step fails, the lease is given up. */
  async function repeat(name: string, step: () => Promise<void>): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      try {
        return await step()
      } catch (thrown) {
        const reason = reasonOf(thrown)
        log.warn({ reason }, `${name} failed, retrying`)
      }
      if (stopping.aborted) return onFenced()
      await clock.sleep(pauseMs, stopping)
    }
  }

  function addAbandoned({ webhookId, position, epoch }: QueuedDelivery, attempt: number): void {
    abandoned.starts.push({ webhookId, position, attempt, epoch })
  }

  function abandonAll(): void {
    for (const delivery of deps.inFlight()) {
      if (delivery.isSent && !delivery.isAbandoned) addAbandoned(delivery, delivery.attempts + 1)
      delivery.isAbandoned = true
      queue.remove(delivery, now())
    }
    deps.forgetStarts()
  }

  function unload(shards: readonly number[] | 'all'): void {
    const dropped = shards === 'all' ? undefined : new Set(shards)
    const endpoints = [...queue.endpoints()].filter(({ shard }) => dropped?.has(shard) ?? true)
    queue.dropShards(shards)
    updateAll(endpoints)
    if (shards === 'all') {
      state.loaded.clear()
      return
    }
    for (const shard of shards) {
      state.loaded.delete(shard)
      healthShards.delete(shard)
    }
  }

  function onFenced(): void {
    if (!state.lease) return
    log.warn({}, 'the shard lease has ended: deliveries in flight are left to the next owner')
    if (abandoned.fence !== state.lease.fence) abandoned = { fence: state.lease.fence, starts: [] }
    state.lease = undefined
    abandonAll()
    unload('all')
    healthShards.clear()
    knownWebhooks.clear()
    deps.renew()
  }

  /** A row of the store; the health in memory is newer while this node owns the shard, unless the change has cleared it. */
  function withKnownHealth(row: Webhook): Webhook {
    if (!healthShards.has(shardOf(row.id))) return row
    const known = queue.endpoint(row.id)?.webhook
    if (!known || known.epoch !== row.epoch) return row
    const { health: _, ...rest } = row
    const health = healthAfterChange(known, row)
    return health ? { ...rest, health } : rest
  }

  function setWebhook(row: Webhook): void {
    const before = queue.endpoint(row.id)?.webhook
    const epochBefore = before?.epoch ?? row.epoch
    const endpoint = queue.setWebhook(withKnownHealth(row))
    if (before && isResumed(before, endpoint.webhook)) deps.resume(endpoint, isProbed(before.health))
    scheduler.update(queue.ready(endpoint))
    if (row.epoch > epochBefore) deps.cancelUnsent(row.id)
  }

  async function applyChanges(): Promise<void> {
    const { lease } = state
    if (!lease) return
    if (mustLoadAll) return loadAll()
    const changes = await store.changes(lease, state.version)
    if (!changes) return onFenced()
    if (changes.mustReload) return loadAll()
    const touched = new Set<QueueEndpoint>()
    for (const key of changes.removed) {
      const endpoint = queue.endpoint(key.webhookId)
      if (!endpoint) continue
      const taken = queue.remove(key, now())
      if (taken) taken.isAbandoned = true
      touched.add(endpoint)
    }
    updateAll(touched)
    for (const webhook of changes.webhooks) if (queue.endpoint(webhook.id)) setWebhook(webhook)
    state.version = changes.version
    loop.trigger()
  }

  /** Deliveries of shards that are not loaded are left to the load. */
  function loadedOnly(rows: WaitingDeliveries): WaitingDeliveries {
    const isLoaded = rows.webhookIds.map((id) => state.loaded.has(shardOf(id)))
    if (isLoaded.every(Boolean)) return rows
    const pick = <Column extends Float64Array | Uint32Array | Uint8Array>(column: Column): Column =>
      column.filter((_: number, index: number) => isLoaded[rows.webhook[index]!]) as Column
    const webhook = pick(rows.webhook)
    return {
      count: webhook.length,
      webhookIds: rows.webhookIds,
      webhook,
      position: pick(rows.position),
      lane: pick(rows.lane),
      sequence: pick(rows.sequence),
      dueMs: pick(rows.dueMs),
      epoch: pick(rows.epoch),
      attempts: pick(rows.attempts),
      tries: pick(rows.tries),
      interruptions: pick(rows.interruptions),
      failedMs: pick(rows.failedMs),
    }
  }

  function enter(rows: WaitingDeliveries, webhooks: readonly Webhook[]): readonly QueueEndpoint[] {
    // Edits of known webhooks are applied last (`setWebhook`), so that they affect the rows that are added here, too.
    const known = webhooks.filter(({ id }) => queue.endpoint(id) !== undefined)
    for (const webhook of webhooks)
      if (!queue.endpoint(webhook.id)) queue.setWebhook(withKnownHealth(webhook))
    let highest = 0
    for (let index = 0; index < rows.count; index++)
      if (rows.position[index]! > highest) highest = rows.position[index]!
    state.positions.raise(highest)
    const touched = queue.load(rows, now())
    known.forEach(setWebhook)
    return touched
  }

  async function pollNow(): Promise<void> {
    const { lease } = state
    if (!lease) return
    if (mustLoadAll) return loadAll()
    let polled: Polled | undefined
    try {
      polled = await store.poll(lease)
    } catch (thrown) {
      // The handoffs may be gone from the store.
      mustLoadAll = !isNotWritten(thrown)
      throw thrown
    }
    if (!polled) return onFenced()
    state.pendingElsewhere = polled.pendingElsewhere
    state.readMs = clock.monotonic()
    if (polled.mustRenew) deps.renew()
    updateAll(enter(loadedOnly(polled.waiting), polled.webhooks))
    if (polled.version > state.version) await applyChanges()
    loop.trigger()
  }

  /**
   * Settles attempts that earlier owners were making when they crashed. Nothing of these shards is sent before. Unless all are
   * settled, the store must not forget the starts.
   */
  async function settleInterrupted(starts: readonly Start[]): Promise<SettledNow> {
    let worst: SettledNow = 'settled'
    for (let from = 0; from < starts.length; from += FETCH_SIZE) {
      const some = starts.slice(from, from + FETCH_SIZE).filter((start) => !queue.position(start)?.isTaken)
      const contents = await store.bodies(some)
      const decided: DecidedSettlement[] = []
      some.forEach((start, index) => {
        const content = contents[index]
        const endpoint = queue.endpoint(start.webhookId)
        if (!content || !endpoint || content.delivery.attempts !== start.attempt - 1) return
        const delivery = toQueued(content, endpoint, start.position, 0)
        delivery.state = 'in_flight'
        const interrupted = deps.interrupt(delivery)
        decided.push(interrupted)
        const { next } = interrupted.settlement
        if (isTerminal(next.state)) queue.remove(start, now())
        else queue.update(start, next)
      })
      settling = decided
      const outcome = await loop.settleNow(decided)
      settling = []
      if (outcome === 'lost') return 'lost'
      if (outcome === 'refused') worst = 'refused'
    }
    return worst
  }

  async function load(shards: readonly number[], first?: LoadedPart): Promise<void> {
    const { lease } = state
    if (!lease) return
    const firstPart = first ?? (await store.load(lease, shards))
    if (!firstPart) return onFenced()
    if (isOtherHistory(firstPart)) return loadAll()
    history = firstPart.history
    /** By delivery: an attempt that this node has abandoned may be among those that the store names. */
    const starts = new Map<string, Start>()
    const loaded = new Set(shards)
    const inShards = () => [...queue.endpoints()].filter(({ shard }) => loaded.has(shard))
    // Those of a load that failed were known earlier.
    for (const { id, shard, webhook } of inShards())
      if (healthShards.has(shard) && !knownWebhooks.has(id)) knownWebhooks.set(id, webhook)
    // They would not enter the queue again, and would leave it when a slot becomes free before their shards are loaded.
    deps.putBackPrefetched()
    queue.dropShards(shards)
    queue.forgetIdle(shards)
    if (mustLoadAll) state.version = firstPart.version
    for (let part: LoadedPart | undefined = firstPart; ; ) {
      enter(part.waiting, part.webhooks)
      for (const start of part.interrupted) starts.set(startKey(start), start)
      if (part.cursor === undefined) break
      part = await store.load(lease, shards, part.cursor)
      if (!part) return onFenced()
    }
    // What is in flight was started with rows that may have changed.
    const busy = inShards().filter(({ taken }) => taken > 0)
    for (const row of await Promise.all(busy.map(({ id }) => store.webhookOf(id)))) if (row) setWebhook(row)
    for (const start of abandoned.starts) {
      const key = startKey(start)
      if (loaded.has(shardOf(start.webhookId)) && !starts.has(key)) starts.set(key, start)
    }
    const areSettled = await settleInterrupted([...starts.values()])
    if (areSettled === 'lost' || state.lease !== lease) return
    abandoned.starts = abandoned.starts.filter(({ webhookId }) => !loaded.has(shardOf(webhookId)))
    if (shards.length > 0 && areSettled === 'settled') await store.completeTakeover(lease, shards)
    for (const shard of shards) {
      state.loaded.add(shard)
      healthShards.add(shard)
    }
    const endpoints = inShards()
    for (const endpoint of endpoints) {
      const before = knownWebhooks.get(endpoint.id)
      if (before && isResumed(before, endpoint.webhook)) deps.resume(endpoint, isProbed(before.health))
    }
    for (const id of knownWebhooks.keys()) if (loaded.has(shardOf(id))) knownWebhooks.delete(id)
    updateAll(endpoints)
  }

  const isOtherHistory = (part: LoadedPart) =>
    history !== undefined && part.history !== undefined && part.history !== history

  /** The queue is built anew; what is in flight stays, and is not loaded again. */
  async function loadAll(): Promise<void> {
    const { lease } = state
    if (!grant || !lease) return
    mustLoadAll = true
    // Perhaps a commit of these has led to this load: it finds their starts again, unless they are settled.
    for (const { delivery } of settling) delivery.isAbandoned = true
    // A shard that is to be given up is loaded for its abandoned attempts: its hand-over makes the store forget their starts.
    const shardsToLoad = () => {
      const unsettled = new Set(abandoned.starts.map(({ webhookId }) => shardOf(webhookId)))
      return grant!.shards.filter((shard) => !leaving.has(shard) || unsettled.has(shard))
    }
    // Not those of a grant that comes meanwhile: nobody would settle the abandoned attempts in a shard that was not loaded.
    let shards = shardsToLoad()
    let first = await store.load(lease, shards)
    if (!first) return onFenced()
    if (isOtherHistory(first)) {
      log.warn({}, 'another server of the store has taken over: loading what it has')
      hasFailedOver = true
      knownBefore ??= queue.keys()
      unload('all')
      // The last edits may be lost too.
      queue.forgetRevisions()
      // Who owns which shard may have changed too.
      await deps.renewNow()
      if (grant.fence !== lease.fence) return onFenced()
      leaving = new Set(grant.leaving)
      history = first.history
      shards = shardsToLoad()
      first = await store.load(lease, shards)
      if (!first) return onFenced()
    }
    unload('all')
    await load(shards, first)
    unload([...leaving])
    if (state.lease !== lease) return
    state.readMs = clock.monotonic()
    // If it fails, everything is loaded and counted again.
    await countLost()
    mustLoadAll = false
    loop.trigger()
  }

  /**
   * Compares the queue, which was loaded from a server with another log, with what was in it before. What was sent already
   * is not counted: most of it will have arrived. Nor are shards that this node does not own on the new server, because it
   * lost the hand-over too: another node may have delivered from them since.
   */
  async function countLost(): Promise<void> {
    if (!knownBefore) return
    // Their starts are in the group that waits for this load.
    const unsent = [...deps.inFlight()].filter(({ isSent, isUncommitted }) => !isSent && !isUncommitted)
    const contents = await store.bodies(unsent)
    const { endpoints, positions } = knownBefore
    let lost = contents.filter((content) => !content).length
    let kept = 0
    endpoints.forEach(({ id: webhookId, shard }, index) => {
      if (!state.loaded.has(shard)) return
      if (queue.position({ webhookId, position: positions[index]! })) kept++
      else lost++
    })
    knownBefore = undefined
    const returned = queue.size - kept
    if (lost + returned === 0) return
    log.error(
      { lost, returned },
      'the store has lost commits: accepted deliveries that it lacks are not sent, those that it has again are sent once more',
    )
    if (lost > 0) deps.onLost(lost)
  }

  async function applyGrant(): Promise<void> {
    const current = grant
    if (!current) return
    const { owner, fence, node, position } = current
    state.pendingElsewhere = current.pendingElsewhere
    const isNew = state.lease?.fence !== fence
    if (isNew) {
      abandonAll()
      if (abandoned.fence !== fence) abandoned = { fence, starts: [] }
      healthShards.clear()
      knownWebhooks.clear()
      mustLoadAll = true
      state.positions = createPositions(node)
      state.positions.raise(position)
      state.lease = { owner, fence }
    }
    leaving = new Set(current.leaving)
    if (mustLoadAll) {
      await loadAll()
      handOverIdle()
      return
    }
    const kept = current.shards.filter((shard) => !leaving.has(shard))
    const lost = [...state.loaded].filter((shard) => !kept.includes(shard))
    if (lost.length > 0) unload(lost)
    const gained = kept.filter((shard) => !state.loaded.has(shard))
    if (gained.length > 0) await load(gained)
    handOverIdle()
    loop.trigger()
  }

  function handOverIdle(): void {
    if (leaving.size === 0 || handingOver || stopping.aborted) return
    handingOver = true
    void loop.exclusively(async () => {
      try {
        const busy = new Set<number>()
        for (const { endpoint } of deps.inFlight()) busy.add(endpoint.shard)
        const idle = [...leaving].filter((shard) => !busy.has(shard))
        if (idle.length === 0 || !state.lease) return
        await store.handOver(state.lease, idle)
        leaving = new Set([...leaving].filter((shard) => busy.has(shard)))
        if (grant) grant = withoutHandedOver(grant, idle)
      } catch (thrown) {
        const reason = reasonOf(thrown)
        log.warn({ reason }, 'handing over shards failed, the next renewal tries again')
      } finally {
        handingOver = false
      }
    })
  }

  function reload(): void {
    if (isReloadQueued || stopping.aborted) return
    isReloadQueued = true
    void loop.exclusively(async () => {
      isReloadQueued = false
      await repeat('loading shards', loadAll)
    })
  }

  function poll(): void {
    if (isPolling || stopping.aborted) return
    isPolling = true
    void loop.exclusively(async () => {
      isPolling = false
      await repeat('polling', pollNow)
    })
  }

  async function readContents(keys: readonly DeliveryKey[]): Promise<void> {
    try {
      const contents = await store.bodies(keys)
      updateAll(queue.fill(keys, contents, now()))
    } catch (thrown) {
      const reason = reasonOf(thrown)
      log.warn({ reason, deliveries: keys.length }, 'reading deliveries failed, retrying')
      await clock.sleep(FIRST_PAUSE_MS, stopping)
      queue.unrequest(keys)
      updateAll(queue.endpoints())
    } finally {
      fetching -= keys.length
      loop.trigger()
    }
  }

  return {
    get hasNewLease() {
      return grant !== undefined && state.lease !== undefined && grant.fence !== state.lease.fence
    },
    granted(next) {
      grant = next
      const isKnown =
        state.lease?.fence === next.fence &&
        next.leaving.length === leaving.size &&
        next.leaving.every((shard) => leaving.has(shard)) &&
        next.shards.length === state.loaded.size + leaving.size &&
        next.shards.every((shard) => state.loaded.has(shard) || leaving.has(shard))
      state.pendingElsewhere = next.pendingElsewhere
      if (isKnown) {
        handOverIdle()
        // A notification can be lost: each renewal polls.
        poll()
        return
      }
      applying = loop.exclusively(() => repeat('loading shards', applyGrant))
    },
    ready: async () => applying,
    onFenced,
    abandonSettlement({ delivery, settlement: { expect, next } }) {
      const { attempts = 0 } = expect
      // A delivery that expired or was cancelled had no attempt.
      if (next.attempts > attempts || next.state === 'quarantined') addAbandoned(delivery, attempts + 1)
    },
    onSettlementFenced() {
      // Not for an interrupted attempt, which this load has just read.
      if (hasFailedOver && settling.length === 0) reload()
    },
    applyChanges: () => repeat('reading changes', applyChanges),
    poll,
    reload,
    setWebhook,
    readAhead(webhookIds) {
      readingAhead = webhookIds && new Map(Array.from(webhookIds, (id) => [id, store.webhookOf(id)]))
      // If one fails, it is read again.
      readingAhead?.forEach((row) => void row.catch(() => {}))
    },
    async addEndpoints(webhookIds) {
      let begun = readingAhead
      await repeat('reading webhooks', async () => {
        const rows = webhookIds.map(
          (id) => begun?.get(id)?.catch(() => store.webhookOf(id)) ?? store.webhookOf(id),
        )
        begun = undefined
        for (const row of await Promise.all(rows)) if (row) queue.setWebhook(withKnownHealth(row))
      })
    },
    fetchContents() {
      const keys = queue.missing(maxContents - fetching, now())
      for (let from = 0; from < keys.length; from += FETCH_SIZE) {
        const some = keys.slice(from, from + FETCH_SIZE)
        fetching += some.length
        void readContents(some)
      }
    },
    nextFetchMs: () => (fetching < maxContents ? queue.nextMissingMs() : undefined),
    handOverIdle,
  }
}

/** A grant without shards that were handed over. If it has taken them again, it does not name them as leaving. */
function withoutHandedOver(grant: NodeLease, shards: readonly number[]): NodeLease {
  const given = new Set(grant.leaving.filter((shard) => shards.includes(shard)))
  const isKept = (shard: number) => !given.has(shard)
  return { ...grant, shards: grant.shards.filter(isKept), leaving: grant.leaving.filter(isKept) }
}

/** Whether an edit has ended a pause, or requests that waiting deliveries are sent now. */
const isResumed = (before: Webhook, row: Webhook) =>
  before.revision < row.revision &&
  (before.resumedRevision !== row.resumedRevision || (isProbed(before.health) && !isProbed(row.health)))
const startKey = ({ webhookId, position }: DeliveryKey) => `${webhookId} ${position}`

/** A delivery that was read from the store, as the queue holds it. */
export function toQueued(
  { delivery, body, traceparent }: DeliveryContent,
  endpoint: QueueEndpoint,
  position: number,
  sequence: number,
): QueuedDelivery {
  return new QueuedDelivery(delivery, endpoint, position, sequence, delivery.acceptedMs, body, traceparent)
}

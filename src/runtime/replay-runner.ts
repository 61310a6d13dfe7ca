/**
 * Works on replay jobs: walks over the ended deliveries of each webhook and accepts those that are selected once more.
 *
 * - A job is worked on by the node that owns its shard. How far it is is only in memory: a node that takes it over walks
 *   from the start again, and leaves out what was replayed since the job began. So a crash repeats nothing and skips nothing.
 * - The webhooks take turns, and each has a limited number of replays in the queue: other events are not held up, and
 *   nothing is displaced.
 */
import { countDeliveries } from '../delivery/accept.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import type { NewDelivery } from '../delivery/delivery-store.js'
import { replayByJob } from '../delivery/replay.js'
import {
  fromStoredReplay,
  type LeftOutWebhook,
  MAX_LEFT_OUT,
  MAX_UNFINISHED,
  newReplayJob,
  type ReplayJob,
  scopeOf,
  toStoredReplay,
  withState,
} from '../delivery/replay-job.js'
import { isReplayable, statesOf } from '../delivery/replay-selection.js'
import { QUEUE_FULL } from '../delivery/retry.js'
import { HookswitchError } from '../errors.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Core } from './core.js'
import { findDeliveriesOfCalls, type ReplayTarget, replayTargets } from './replay-targets.js'

/** Deliveries that one step reads of one webhook: so few that a group that accepts them holds up nobody. */
const PAGE = 100
/** Replays a second that a node accepts: the rest of its time is for new events. */
const PER_SECOND = 1_200
/** Deliveries that may wait for a webhook when replays are added, so that few are left when a job is paused. */
const MAX_WAITING = 1_000
/** Between two looks for jobs that nobody has announced, ms: those that other nodes have added, and those that are left. */
const SHARED_INTERVAL_MS = 5_000
const INTERVAL_MS = 600_000
/** Between two writes of the progress, ms. */
const PROGRESS_MS = 2_000
/** Until a job without room is looked at again, ms: twice as long each time, up to the second. */
const NO_ROOM_MS = 200
const MAX_NO_ROOM_MS = 5_000
/** Until what failed is tried again, where the failure does not say, ms. */
const FAILED_MS = 1_000
/** How long a job that the service has started stays after all is replayed, ms: what expires until then belongs to it. */
const AUTOMATIC_MS = 600_000
/** Until such a job is looked at again, ms. */
const AUTOMATIC_LOOK_MS = 10_000
/** How long a busy node works with the jobs that it has read, ms. */
const JOBS_MS = 250
/** Ids that are tried for one replay. */
const MAX_IDS = 5

export interface ReplayRunner {
  /** A job was added or changed. */
  wake(): void
  /** Deliveries of a webhook have expired as `queue_full`: they are replayed when there is room. */
  backlogFull(full: { readonly webhookId: string; readonly accountId: string }): void
  /** Starts no further step; resolves when the present one has ended. */
  stop(): Promise<void>
}

/** The part of a job that is one webhook's. */
interface Part extends ReplayTarget {
  cursor?: number
  /** Ids of the deliveries of the calls that the request names, oldest first. Absent: all of the webhook. */
  ids?: string[]
}

const newPart = ({ webhookId, accountId }: ReplayTarget): Part => ({ webhookId, accountId })

/** What this node knows of a job. */
interface Progress {
  readonly parts: Part[]
  next: number
  /** Replayed deliveries of each webhook. */
  readonly replayed: Map<string, number>
  readonly leftOut: LeftOutWebhook[]
  /** Webhooks of other nodes that were among them when it began. */
  readonly elsewhere: number
  /** When this was stored, and when a part was added, monotonic, ms. */
  storedAtMs: number
  addedAtMs: number
  /** Of the job as this node has written or read it. */
  revision: number
  /** For how long it waits when it finds no room, ms. */
  noRoomMs: number
}

type Deps = Pick<
  Core,
  'store' | 'dispatcher' | 'clock' | 'log' | 'newId' | 'accounts' | 'accept' | 'maxAgeMsOf' | 'metrics'
>

/** Starts to work on replay jobs. Its timer does not keep the process alive. */
export function startReplayRunner(deps: Deps): ReplayRunner {
  const { store, dispatcher, clock, log, newId } = deps
  const stopping = new AbortController()
  const known = new Map<string, Progress>()
  /** Webhooks of which deliveries have expired as `queue_full`, by account, until the job of the account knows. */
  const noticed = new Map<string, Set<string>>()
  /** When jobs may be looked at again, monotonic, ms. */
  const waits = new Map<string, number>()
  let wakeUp = () => {}
  let isAwake = false
  let hasFailed = false
  /** When the next replays may be accepted, monotonic, ms. */
  let nextMs = 0
  let unfinished: readonly ReplayJob[] = []
  let readAtMs = Number.NEGATIVE_INFINITY

  const isOwn = ({ id, request }: ReplayJob) => dispatcher.ownsShardOf(request.webhookId ?? id)

  async function write(job: ReplayJob): Promise<boolean> {
    readAtMs = Number.NEGATIVE_INFINITY
    return store.replays.replace(toStoredReplay(job))
  }

  function forget(id: string): void {
    known.delete(id)
    waits.delete(id)
  }

  function wait({ id }: ReplayJob, ms: number): void {
    waits.set(id, clock.monotonic() + ms)
  }

  /** Ends a job, unless somebody else has changed it. */
  async function complete(job: ReplayJob, progress: Progress): Promise<void> {
    const ended = withState(
      { ...job, ...figuresOf(job, progress) },
      'completed',
      Math.floor(dispatcher.now()),
    )
    if (!(await write(ended))) return
    forget(job.id)
    const { count, replayed } = ended
    log.info({ replayId: job.id, ...scopeOf(job.request), count, replayed }, 'a replay is complete')
  }

  async function begin(job: ReplayJob): Promise<Progress> {
    const reads = { ...deps, stopping: stopping.signal }
    const targets = await replayTargets(reads, job.request, job.isAutomatic)
    const calls = await findDeliveriesOfCalls(reads, job.request, targets)
    const parts: Part[] = calls
      ? calls.map(({ rows, ...target }) => ({ ...target, ids: rows.map(({ id }) => id) }))
      : targets.map(newPart)
    const now = clock.monotonic()
    const start = { next: 0, replayed: new Map(), storedAtMs: now, addedAtMs: now, noRoomMs: NO_ROOM_MS }
    const elsewhere = parts.filter(({ webhookId }) => !dispatcher.ownsShardOf(webhookId)).length
    const progress: Progress = {
      ...start,
      parts,
      elsewhere,
      leftOut: [...job.leftOut],
      revision: job.revision,
    }
    known.set(job.id, progress)
    return progress
  }

  /** How many replays a webhook may be given now. */
  async function roomOf({ elsewhere }: Progress, { webhookId, accountId }: Part): Promise<number> {
    const { waiting, spare } = dispatcher.roomFor(webhookId, accountId)
    if (dispatcher.ownsShardOf(webhookId)) return Math.min(PAGE, spare, MAX_WAITING - waiting)
    // This node does not know what waits on others, except for this webhook: each gets a part of the limits.
    if (spare <= 0) return 0
    const most = Math.min(MAX_WAITING, Math.max(1, Math.floor(spare / Math.max(1, elsewhere))))
    const activity = await store.deliveries.activity([webhookId], most)
    return Math.min(PAGE, most - (activity.get(webhookId)?.pending ?? 0))
  }

  /** Those of calls were found when the job began: some may be gone, or replayed, since. */
  async function readEach(accountId: string, ids: readonly string[]): Promise<StoredDelivery[]> {
    const rows: StoredDelivery[] = []
    for (const id of ids) {
      const row = await store.deliveries.delivery(accountId, id)
      if (row) rows.push(row)
    }
    return rows
  }

  async function read(
    job: ReplayJob,
    part: Part,
    webhook: Webhook,
    limit: number,
  ): Promise<readonly StoredDelivery[]> {
    if (part.ids) return readEach(part.accountId, part.ids.slice(0, limit))
    const { createdToMs = job.createdMs } = job.request
    const createdFromMs = job.isAutomatic
      ? dispatcher.now() - deps.maxAgeMsOf(webhook)
      : job.request.createdFromMs
    return store.deliveries.deliveries({
      accountId: part.accountId,
      webhookId: part.webhookId,
      states: statesOf(job.request),
      onlyOriginals: true,
      ascending: true,
      limit,
      ...(createdFromMs !== undefined && { fromMs: createdFromMs }),
      ...(!job.isAutomatic && { toMs: createdToMs }),
      ...(part.cursor !== undefined && { cursor: part.cursor }),
    })
  }

  function isWanted(job: ReplayJob, webhook: Webhook, delivery: StoredDelivery): boolean {
    if (!isReplayable(delivery, job.request, job.createdMs)) return false
    if (!job.isAutomatic) return true
    return !delivery.replays && delivery.acceptedMs + deps.maxAgeMsOf(webhook) > dispatcher.now()
  }

  /** Accepts replays, one by one if they are refused together. Resolves to their number. */
  async function accept(
    job: ReplayJob,
    webhook: Webhook,
    wanted: readonly StoredDelivery[],
  ): Promise<number> {
    if (await acceptAll(wanted.map((old) => replayByJob(old, webhook, job.id, 0)))) return wanted.length
    let accepted = 0
    for (const old of wanted) if (await acceptOne(job, webhook, old)) accepted += 1
    return accepted
  }

  /** @returns false: an id is taken, or an event is gone */
  async function acceptAll(deliveries: readonly NewDelivery[]): Promise<boolean> {
    try {
      await dispatcher.accept({ events: [], deliveries })
    } catch (thrown) {
      if (isTaken(thrown) || isGone(thrown)) return false
      throw thrown
    }
    countDeliveries(deps, deliveries.length)
    nextMs = Math.max(nextMs, clock.monotonic()) + (deliveries.length * 1_000) / PER_SECOND
    return true
  }

  /** @returns false: somebody else has replayed it, or it was erased */
  async function acceptOne(job: ReplayJob, webhook: Webhook, { accountId, id }: StoredDelivery) {
    for (let salt = 0; salt < MAX_IDS; salt++) {
      const old = await store.deliveries.delivery(accountId, id)
      if (!old || !isWanted(job, webhook, old)) return false
      if (await acceptAll([replayByJob(old, webhook, job.id, salt)])) return true
    }
    return false
  }

  /** Takes the part of a webhook out of a job that cannot continue with it. */
  function leaveOut(progress: Progress, part: Part, reason: LeftOutWebhook['reason']): void {
    const { leftOut } = progress
    const { webhookId } = part
    // A node that took the job over finds it a second time.
    const isKnown = leftOut.some((omitted) => omitted.webhookId === webhookId)
    if (!isKnown && leftOut.length < MAX_LEFT_OUT) leftOut.push({ webhookId, reason })
    remove(progress, part)
  }

  function remove({ parts }: Progress, part: Part): void {
    const index = parts.indexOf(part)
    const last = parts.pop()!
    if (last !== part) parts[index] = last
  }

  function count({ replayed }: Progress, { webhookId }: Part, number: number): void {
    replayed.set(webhookId, (replayed.get(webhookId) ?? 0) + number)
  }

  /** Works on one webhook. @returns whether anything was done */
  async function workOn(job: ReplayJob, progress: Progress, part: Part): Promise<boolean> {
    const room = await roomOf(progress, part)
    if (room <= 0) return false
    const webhook = await store.webhooks.read(part.accountId, part.webhookId)
    if (!webhook?.settings.enabled) {
      leaveOut(progress, part, webhook ? 'disabled' : 'deleted')
      return true
    }
    const rows = await read(job, part, webhook, room)
    const wanted = rows.filter((delivery) => isWanted(job, webhook, delivery))
    const before = rows.filter(({ replays }) => (replays?.lastAcceptedMs ?? -1) >= job.createdMs).length
    count(progress, part, before)
    if (wanted.length > 0) count(progress, part, await accept(job, webhook, wanted))
    if (part.ids) part.ids = part.ids.slice(room)
    else if (rows.length > 0) part.cursor = rows.at(-1)!.position
    if (part.ids ? part.ids.length === 0 : rows.length < room) remove(progress, part)
    return true
  }

  /** Called when no part is left: completes the job. An automatic job stays for `AUTOMATIC_MS`. */
  async function finish(job: ReplayJob, progress: Progress): Promise<void> {
    if (!job.isAutomatic) return complete(job, progress)
    const now = clock.monotonic()
    if (now - progress.addedAtMs >= AUTOMATIC_MS) await complete(job, progress)
    else {
      await storeProgress(job, progress)
      wait(job, AUTOMATIC_LOOK_MS)
    }
  }

  /** The webhooks of which deliveries have expired meanwhile are looked at from the start. */
  function addNoticed({ request }: ReplayJob, progress: Progress): void {
    const accountId = request.accountId!
    for (const webhookId of noticed.get(accountId) ?? []) {
      const part = progress.parts.find((part) => part.webhookId === webhookId)
      progress.replayed.delete(webhookId)
      if (part) delete part.cursor
      else progress.parts.push({ webhookId, accountId })
      progress.addedAtMs = clock.monotonic()
    }
    noticed.delete(accountId)
  }

  async function storeProgress(job: ReplayJob, progress: Progress): Promise<void> {
    if (clock.monotonic() - progress.storedAtMs < PROGRESS_MS) return
    progress.storedAtMs = clock.monotonic()
    const next = { ...job, ...figuresOf(job, progress), revision: job.revision + 1 }
    if (next.replayed !== job.replayed && (await write(next))) progress.revision = next.revision
  }

  /** One step of a job: a page of the next webhook that has room. @returns whether anything was done */
  async function step(job: ReplayJob): Promise<boolean> {
    if ((waits.get(job.id) ?? 0) > clock.monotonic()) return false
    let progress = known.get(job.id)
    // Another node has seen more expire.
    if (!progress || (job.isAutomatic && job.revision > progress.revision)) progress = await begin(job)
    if (job.isAutomatic) addNoticed(job, progress)
    for (let left = progress.parts.length; left > 0 && !stopping.signal.aborted; left--) {
      progress.next = (progress.next + 1) % progress.parts.length
      if (await workOn(job, progress, progress.parts[progress.next]!)) {
        progress.noRoomMs = NO_ROOM_MS
        if (progress.parts.length === 0) await finish(job, progress)
        else await storeProgress(job, progress)
        return true
      }
    }
    if (progress.parts.length === 0) {
      await finish(job, progress)
      return true
    }
    await storeProgress(job, progress)
    wait(job, job.isAutomatic ? AUTOMATIC_LOOK_MS : progress.noRoomMs)
    progress.noRoomMs = Math.min(2 * progress.noRoomMs, MAX_NO_ROOM_MS)
    return false
  }

  /** A job was paused, cancelled or erased, or is another node's now. */
  async function leave(id: string, progress: Progress): Promise<void> {
    forget(id)
    const stored = await store.replays.read(id)
    const job = stored && fromStoredReplay(stored)
    if (job && job.state !== 'running' && job.state !== 'completed')
      await write({ ...job, ...figuresOf(job, progress), revision: job.revision + 1 })
  }

  /** The earliest time at which a job without room is looked at again. */
  function nextLookMs(): number {
    if (hasFailed) return FAILED_MS
    let delayMs = store.supports.sharedBetweenNodes ? SHARED_INTERVAL_MS : INTERVAL_MS
    const now = clock.monotonic()
    for (const untilMs of waits.values()) delayMs = Math.min(delayMs, Math.max(0, untilMs - now))
    return delayMs
  }

  async function rest(delayMs: number): Promise<void> {
    if (isAwake || stopping.signal.aborted) return
    const waking = new AbortController()
    wakeUp = () => waking.abort()
    const signal = AbortSignal.any([waking.signal, stopping.signal])
    await clock.sleep(delayMs, signal)
    wakeUp = () => {}
  }

  async function readJobs(): Promise<readonly ReplayJob[]> {
    if (!isAwake && !hasFailed && clock.monotonic() - readAtMs < JOBS_MS) return unfinished
    isAwake = hasFailed = false
    unfinished = (await store.replays.unfinished(MAX_UNFINISHED)).map(fromStoredReplay)
    readAtMs = clock.monotonic()
    return unfinished
  }

  /** A step of each job, of one job of each account. @returns whether anything was done */
  async function round(): Promise<boolean> {
    const jobs = await readJobs()
    const running = jobs.filter((job) => job.state === 'running' && isOwn(job))
    const busy = new Set<string | undefined>()
    const ids = new Set(running.map(({ id }) => id))
    for (const [id, progress] of known) if (!ids.has(id)) await leave(id, progress)
    for (const id of waits.keys()) if (!ids.has(id)) waits.delete(id)
    for (const accountId of noticed.keys()) await startAutomatic(accountId, jobs)
    for (const job of running) {
      const { accountId } = job.request
      if (stopping.signal.aborted) return false
      if (busy.has(accountId)) continue
      try {
        if (await step(job)) busy.add(accountId)
      } catch (thrown) {
        if (stopping.signal.aborted) return false
        if (isHopeless(thrown)) await write(withState(job, 'cancelled', Math.floor(dispatcher.now())))
        pauseAfter(job, thrown)
      }
    }
    return busy.size > 0
  }

  function pauseAfter(job: ReplayJob, thrown: unknown): void {
    hasFailed = true
    const { retryAfterSeconds = FAILED_MS / 1_000 } = thrown instanceof HookswitchError ? thrown : {}
    wait(job, retryAfterSeconds * 1_000)
    const reason = thrown instanceof Error ? thrown.message : 'unknown'
    const what = isHopeless(thrown)
      ? 'a replay cannot continue, and has ended'
      : 'a replay tries again after a failure'
    log.warn({ replayId: job.id, reason }, what)
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let isBusy = false
      try {
        isBusy = await round()
      } catch (thrown) {
        hasFailed = true
        const reason = thrown instanceof Error ? thrown.message : 'unknown'
        if (!stopping.signal.aborted) log.warn({ reason }, 'replay jobs could not be read')
      }
      const paceMs = nextMs - clock.monotonic()
      if (!isBusy) await rest(nextLookMs())
      else if (paceMs > 0) await clock.sleep(paceMs, stopping.signal)
      else await clock.yield()
    }
  }

  /** Starts the job that replays what has expired of an account, or tells the node that works on it. */
  async function startAutomatic(accountId: string, jobs: readonly ReplayJob[]): Promise<void> {
    const found = jobs.find(({ isAutomatic, request }) => isAutomatic && request.accountId === accountId)
    if (found) {
      // Its own node may write it at the same time: then once more.
      if (!isOwn(found) && (await write({ ...found, revision: found.revision + 1 })))
        noticed.delete(accountId)
      return
    }
    // There may be one that was not read.
    if (jobs.length >= MAX_UNFINISHED) return
    const request = { accountId, result: 'expired', reason: QUEUE_FULL }
    const job = newReplayJob(newId(), request, Math.floor(dispatcher.now()), 0)
    await store.replays.create(toStoredReplay({ ...job, isAutomatic: true }))
    isAwake = true
  }

  function wake(): void {
    isAwake = true
    wakeUp()
  }

  const running = run()
  return {
    wake,
    backlogFull({ webhookId, accountId }) {
      const webhooks = noticed.get(accountId)
      if (webhooks) webhooks.add(webhookId)
      else noticed.set(accountId, new Set([webhookId]))
      wake()
    },
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** What is stored of the progress. More than was counted is replayed where another replay has failed meanwhile. */
function figuresOf({ count, isAutomatic }: ReplayJob, progress: Progress) {
  const replayed = [...progress.replayed.values()].reduce((sum, count) => sum + count, 0)
  return { replayed, leftOut: progress.leftOut, count: isAutomatic ? count : Math.max(count, replayed) }
}

const isGone = (thrown: unknown) => thrown instanceof HookswitchError && thrown.code === 'NotFound'

/** Its account is gone, or its number occurs in too many calls now. */
const isHopeless = (thrown: unknown) =>
  isGone(thrown) || (thrown instanceof HookswitchError && thrown.code === 'InvalidInput')

const isTaken = (thrown: unknown) =>
  thrown instanceof HookswitchError && thrown.code === 'Conflict' && thrown.field === 'id'

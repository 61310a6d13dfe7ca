/**
 * Works on replay jobs: walks over the ended deliveries of each webhook and accepts those that are selected once more. Also
 * calls the steps of the jobs that change webhooks (`webhook-job`).
 *
 * - A job is worked on by the node that owns its shard. How far it is is only in memory: a node that takes it over walks
 *   from the start again, and leaves out what was replayed since the job began. So a crash repeats nothing and skips nothing.
 * - The webhooks take turns, and each has a limited number of replays in the queue: other events are not held up, and
 *   nothing is displaced.
 */
import {
  fromStoredReplay,
  type LeftOutWebhook,
  MAX_LEFT_OUT,
  MAX_UNFINISHED,
  type ReplayJob,
  scopeOf,
  toStoredReplay,
  withState,
} from '../delivery/replay-job.js'
import { HookswitchError, reasonOf } from '../errors.js'
import { createAutomaticReplays } from './automatic-replays.js'
import type { Core } from './core.js'
import { isGone, type PageResult, partsAtOnce, type ReplayPart, replayPage } from './replay-page.js'
import { findDeliveriesOfCalls, replayTargets } from './replay-targets.js'
import { fromStoredJob, isWebhookJob, stepWebhookJob, type WebhookJob } from './webhook-job.js'

/** Replays a second that a node accepts: the rest of its time is for new events. */
const PER_SECOND = 2_000
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

interface ReplayRunner {
  /** A job was added or changed. */
  wake(): void
  /** Deliveries of a webhook have expired as `queue_full`: they are replayed when there is room. */
  backlogFull(full: { readonly webhookId: string; readonly accountId: string }): void
  /** Starts no further step; resolves when the present one has ended. */
  stop(): Promise<void>
}

/** What this node knows of a job. */
interface Progress {
  readonly parts: ReplayPart[]
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
  | 'store'
  | 'auth'
  | 'dispatcher'
  | 'clock'
  | 'log'
  | 'newId'
  | 'accounts'
  | 'accept'
  | 'maxAgeMsOf'
  | 'metrics'
  | 'endpoints'
  | 'webhookDeps'
>

/** Starts to work on replay jobs. Its timer does not keep the process alive. */
export function startReplayRunner(deps: Deps): ReplayRunner {
  const { store, dispatcher, clock, log } = deps
  const stopping = new AbortController()
  const known = new Map<string, Progress>()
  /** When jobs may be looked at again, monotonic, ms. */
  const waits = new Map<string, number>()
  let wakeUp = () => {}
  let isAwake = false
  let hasFailed = false
  /** When the next replays may be accepted, monotonic, ms. */
  let nextMs = 0
  let unfinished: readonly ReplayJob[] = []
  let webhookJobs: readonly WebhookJob[] = []
  let readAtMs = Number.NEGATIVE_INFINITY

  const isOwn = ({ id, request }: ReplayJob) => dispatcher.ownsShardOf(request.webhookId ?? id)

  async function write(job: ReplayJob): Promise<boolean> {
    readAtMs = Number.NEGATIVE_INFINITY
    return store.replays.replace(toStoredReplay(job))
  }

  const automatic = createAutomaticReplays(deps, isOwn, write)

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
    const parts: ReplayPart[] = calls
      ? calls.map(({ rows, ...target }) => ({ ...target, ids: rows.map(({ id }) => id) }))
      : targets.map((target) => ({ ...target }))
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

  /** Counts what a page has done, and removes its part from the job if no page follows. */
  function note(
    { parts, leftOut, replayed }: Progress,
    part: ReplayPart,
    { accepted, acceptedBefore, end }: PageResult,
  ): void {
    const { webhookId } = part
    replayed.set(webhookId, (replayed.get(webhookId) ?? 0) + accepted + acceptedBefore)
    nextMs = Math.max(nextMs, clock.monotonic()) + (accepted * 1_000) / PER_SECOND
    if (end === undefined) return
    if (end !== 'complete') {
      // A node that took the job over finds it a second time.
      const isKnown = leftOut.some((webhook) => webhook.webhookId === webhookId)
      if (!isKnown && leftOut.length < MAX_LEFT_OUT) leftOut.push({ webhookId, reason: end })
    }
    const index = parts.indexOf(part)
    const last = parts.pop()!
    if (last !== part) parts[index] = last
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
  function addExpired({ request }: ReplayJob, progress: Progress): void {
    const accountId = request.accountId!
    for (const webhookId of automatic.take(accountId)) {
      const part = progress.parts.find((other) => other.webhookId === webhookId)
      progress.replayed.delete(webhookId)
      if (part) delete part.cursor
      else progress.parts.push({ webhookId, accountId })
      progress.addedAtMs = clock.monotonic()
    }
  }

  async function storeProgress(job: ReplayJob, progress: Progress): Promise<void> {
    if (clock.monotonic() - progress.storedAtMs < PROGRESS_MS) return
    progress.storedAtMs = clock.monotonic()
    const next = { ...job, ...figuresOf(job, progress), revision: job.revision + 1 }
    if (next.replayed !== job.replayed && (await write(next))) progress.revision = next.revision
  }

  /**
   * By how many webhooks the room of an account on other nodes is divided: those of this job, for each job that replays for the
   * account. Other nodes work on jobs too, and do not know of each other's webhooks.
   */
  async function sharersOf(accountId: string, { elsewhere }: Progress): Promise<number> {
    if (elsewhere === 0) return 1
    const lineage = new Set((await deps.auth.lineages.lineage(accountId)).map(({ id }) => id))
    const jobs = unfinished.filter(
      ({ state, request }) =>
        state === 'running' &&
        request.webhookId === undefined &&
        (request.accountId === undefined || lineage.has(request.accountId)),
    )
    return elsewhere * Math.max(1, jobs.length)
  }

  /** A page of each part. What the others have done counts also if one fails. @returns whether any had room */
  async function replayParts(
    job: ReplayJob,
    progress: Progress,
    parts: readonly ReplayPart[],
  ): Promise<boolean> {
    const pages = await Promise.allSettled(
      parts.map(async (part) =>
        replayPage(deps, job, part, await sharersOf(part.accountId, progress), parts.length),
      ),
    )
    let hadRoom = false
    for (const [index, page] of pages.entries()) {
      if (page.status === 'rejected' || !page.value) continue
      note(progress, parts[index]!, page.value)
      hadRoom = true
    }
    for (const page of pages) if (page.status === 'rejected') throw page.reason
    return hadRoom
  }

  /** One step of a job: a page of the next webhooks that have room. @returns whether anything was done */
  async function step(job: ReplayJob): Promise<boolean> {
    if ((waits.get(job.id) ?? 0) > clock.monotonic()) return false
    let progress = known.get(job.id)
    // Another node has seen more expire.
    if (!progress || (job.isAutomatic && job.revision > progress.revision)) progress = await begin(job)
    if (job.isAutomatic) addExpired(job, progress)
    let hasReplayed = false
    for (let left = progress.parts.length; left > 0 && !hasReplayed && !stopping.signal.aborted; ) {
      const parts = partsAtOnce(deps, progress.parts, progress.next, left)
      progress.next = (progress.next + parts.length) % progress.parts.length
      left -= parts.length
      hasReplayed = await replayParts(job, progress, parts)
    }
    if (hasReplayed) {
      progress.noRoomMs = NO_ROOM_MS
      if (progress.parts.length === 0) await finish(job, progress)
      else await storeProgress(job, progress)
      return true
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
    const stored = await store.replays.unfinished(MAX_UNFINISHED)
    unfinished = stored.filter((job) => !isWebhookJob(job)).map(fromStoredReplay)
    webhookJobs = stored.filter(isWebhookJob).map(fromStoredJob)
    readAtMs = clock.monotonic()
    return unfinished
  }

  /** A step of each job that changes webhooks. @returns whether any step was done */
  async function changeWebhooks(): Promise<boolean> {
    let isBusy = false
    for (const job of webhookJobs) {
      if (stopping.signal.aborted) return false
      if (job.state !== 'running' || !dispatcher.ownsShardOf(job.id)) continue
      readAtMs = Number.NEGATIVE_INFINITY
      try {
        await stepWebhookJob(deps, job)
        isBusy = true
      } catch (thrown) {
        if (stopping.signal.aborted) return false
        hasFailed = true
        const reason = reasonOf(thrown)
        log.warn({ jobId: job.id, reason }, 'a job tries again after a failure')
      }
    }
    return isBusy
  }

  /** A step of each job, of one replay of each account. @returns whether anything was done */
  async function round(): Promise<boolean> {
    const jobs = await readJobs()
    const running = jobs.filter((job) => job.state === 'running' && isOwn(job))
    const busy = new Set<string | undefined>()
    const ids = new Set(running.map(({ id }) => id))
    for (const [id, progress] of known) if (!ids.has(id)) await leave(id, progress)
    for (const id of waits.keys()) if (!ids.has(id)) waits.delete(id)
    if (await automatic.start(jobs)) isAwake = true
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
    return (await changeWebhooks()) || busy.size > 0
  }

  function pauseAfter(job: ReplayJob, thrown: unknown): void {
    hasFailed = true
    const { retryAfterSeconds = FAILED_MS / 1_000 } = thrown instanceof HookswitchError ? thrown : {}
    wait(job, retryAfterSeconds * 1_000)
    const reason = reasonOf(thrown)
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
        const reason = reasonOf(thrown)
        if (!stopping.signal.aborted) log.warn({ reason }, 'replay jobs could not be read')
      }
      const paceMs = nextMs - clock.monotonic()
      if (!isBusy) await rest(nextLookMs())
      else if (paceMs > 0) await clock.sleep(paceMs, stopping.signal)
      else await clock.yield()
    }
  }

  function wake(): void {
    isAwake = true
    wakeUp()
  }

  const running = run()
  return {
    wake,
    backlogFull(full) {
      automatic.add(full)
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

/** Its account is gone, or its number occurs in too many calls now. */
const isHopeless = (thrown: unknown) =>
  isGone(thrown) || (thrown instanceof HookswitchError && thrown.code === 'InvalidInput')

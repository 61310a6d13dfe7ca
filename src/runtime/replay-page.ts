/** One step of a replay job: accepts a page of the ended deliveries of one webhook once more, as far as there is room. */
import { countDeliveries } from '../delivery/accept.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import type { NewDelivery } from '../delivery/delivery-store.js'
import { replayByJob } from '../delivery/replay.js'
import type { LeftOutWebhook, ReplayJob } from '../delivery/replay-job.js'
import { isReplayable, statesOf } from '../delivery/replay-selection.js'
import { HookswitchError } from '../errors.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Core } from './core.js'
import type { ReplayTarget } from './replay-targets.js'

/** Deliveries that one step reads: so few that a group that accepts them holds up nobody. */
const PAGE = 100
/** Webhooks of which a step reads at the same time, so that it waits for the store once. They share the page. */
const MOST_AT_ONCE = 4
/** Deliveries that may wait for a webhook when replays are added, so that few are left when a job is paused. */
const MAX_WAITING = 1_000
/** Ids that are tried for one replay. */
const MAX_IDS = 5

type Deps = Pick<Core, 'store' | 'dispatcher' | 'accept' | 'maxAgeMsOf' | 'metrics'>

/** The job and webhook of a page, with the dependencies. */
interface Step extends Deps {
  readonly job: ReplayJob
  readonly webhook: Webhook
}

/** The part of a job that is one webhook's. */
export interface ReplayPart extends ReplayTarget {
  cursor?: number
  /** Ids of the deliveries of the calls that the request names, oldest first. Absent: all of the webhook. */
  ids?: string[]
}

/** What one page has done. */
export interface PageResult {
  /** Deliveries that were accepted again. */
  readonly accepted: number
  /** Deliveries that had been accepted again before: another node has worked on the job. */
  readonly acceptedBefore: number
  /** Why the part has no further page. */
  readonly end?: 'complete' | LeftOutWebhook['reason']
}

/** Whether pages of several parts at once cannot take more room than there is: each alone has room for a whole page. */
function hasAmpleRoom({ dispatcher }: Deps, { webhookId, accountId }: ReplayPart): boolean {
  return dispatcher.ownsShardOf(webhookId) && dispatcher.roomFor(webhookId, accountId).spare >= PAGE
}

/**
 * The parts whose turn it is: those that may be replayed at the same time.
 *
 * @param next index of the first, also beyond the end
 * @param most number of parts that have not had their turn
 */
export function partsAtOnce(deps: Deps, parts: readonly ReplayPart[], next: number, most: number) {
  const length = Math.min(most, MOST_AT_ONCE)
  const turn = Array.from({ length }, (_, index) => parts[(next + index) % parts.length]!)
  return turn.every((part) => hasAmpleRoom(deps, part)) ? turn : turn.slice(0, 1)
}

/**
 * Replays the next page of a part, and moves the part behind it.
 *
 * @param sharers number of webhooks that share the room on other nodes, at least 1
 * @param atOnce number of parts that are replayed at the same time
 * @returns `undefined` if there is no room
 */
export async function replayPage(
  deps: Deps,
  job: ReplayJob,
  part: ReplayPart,
  sharers: number,
  atOnce: number,
): Promise<PageResult | undefined> {
  const room = Math.min(await roomOf(deps, part, sharers), Math.floor(PAGE / atOnce))
  if (room <= 0) return undefined
  const webhook = await deps.store.webhooks.read(part.accountId, part.webhookId)
  if (!webhook?.settings.enabled)
    return { accepted: 0, acceptedBefore: 0, end: webhook ? 'disabled' : 'deleted' }
  const step = { ...deps, job, webhook }
  const { rows, next } = await read(step, part, room)
  const wanted = rows.filter((delivery) => isWanted(step, delivery))
  const before = rows.filter(({ replays }) => (replays?.lastAcceptedMs ?? -1) >= job.createdMs)
  const accepted = wanted.length > 0 ? await accept(step, wanted) : 0
  if (part.ids) part.ids = part.ids.slice(room)
  else if (next !== undefined) part.cursor = next
  const isComplete = part.ids ? part.ids.length === 0 : next === undefined
  return { accepted, acceptedBefore: before.length, ...(isComplete && { end: 'complete' }) }
}

/** How many replays a webhook may be given now. */
async function roomOf({ store, dispatcher }: Deps, part: ReplayPart, sharers: number): Promise<number> {
  const { webhookId, accountId } = part
  const { waiting, spare } = dispatcher.roomFor(webhookId, accountId)
  if (dispatcher.ownsShardOf(webhookId)) return Math.min(PAGE, spare, MAX_WAITING - waiting)
  // This node does not know what waits on others, except for this webhook: each gets a part of the limits.
  if (spare <= 0) return 0
  const most = Math.min(MAX_WAITING, Math.max(1, Math.floor(spare / sharers)))
  const activity = await store.deliveries.activity([webhookId], most)
  return Math.min(PAGE, most - (activity.get(webhookId)?.pending ?? 0))
}

/** Deliveries of a part. `next`: the position behind which the part goes on; absent: it does not. */
interface FoundPage {
  readonly rows: readonly StoredDelivery[]
  readonly next?: number
}

async function read(step: Step, part: ReplayPart, limit: number): Promise<FoundPage> {
  const { store, dispatcher, maxAgeMsOf, job, webhook } = step
  const { accountId, webhookId, ids, cursor } = part
  if (ids) {
    const rows: StoredDelivery[] = []
    for (const id of ids.slice(0, limit)) {
      // They were found when the job began: some may be gone since.
      const row = await store.deliveries.delivery(accountId, id)
      if (row) rows.push(row)
    }
    return { rows }
  }
  const { createdToMs = job.createdMs } = job.request
  const createdFromMs = job.isAutomatic ? dispatcher.now() - maxAgeMsOf(webhook) : job.request.createdFromMs
  const list = {
    accountId,
    webhookId,
    ascending: true,
    ...(createdFromMs !== undefined && { fromMs: createdFromMs }),
  }
  const from = cursor === undefined ? {} : { cursor }
  // Without the end of the range: where the clock was once ahead, any later position may have a delivery of it.
  const { hasMore, ...bounds } = await store.deliveries.listPart({ list: 'deliveries', ...list, ...from })
  const rows = await store.deliveries.deliveries({
    ...list,
    ...(!job.isAutomatic && { toMs: createdToMs }),
    states: statesOf(job.request),
    onlyOriginals: true,
    limit,
    ...bounds,
  })
  if (rows.length >= limit) return { rows, next: rows.at(-1)!.position }
  return hasMore ? { rows, next: bounds.end } : { rows }
}

function isWanted({ dispatcher, maxAgeMsOf, job, webhook }: Step, delivery: StoredDelivery): boolean {
  if (!isReplayable(delivery, job.request, job.createdMs)) return false
  if (!job.isAutomatic) return true
  return !delivery.replays && delivery.acceptedMs + maxAgeMsOf(webhook) > dispatcher.now()
}

/** Accepts replays, one by one if they are refused together. Resolves to their number. */
async function accept(step: Step, wanted: readonly StoredDelivery[]): Promise<number> {
  const replays = wanted.map((old) => replayByJob(old, step.webhook, step.job.id, 0))
  if (await acceptAll(step, replays)) return wanted.length
  let accepted = 0
  for (const old of wanted) if (await acceptOne(step, old)) accepted += 1
  return accepted
}

/** @returns false: an id is taken, or an event is gone */
async function acceptAll(deps: Deps, deliveries: readonly NewDelivery[]): Promise<boolean> {
  try {
    await deps.dispatcher.accept({ events: [], deliveries })
  } catch (thrown) {
    if (isTaken(thrown) || isGone(thrown)) return false
    throw thrown
  }
  countDeliveries(deps, deliveries.length)
  return true
}

/** @returns false: somebody else has replayed it, or it was erased */
async function acceptOne(step: Step, { accountId, id }: StoredDelivery): Promise<boolean> {
  for (let salt = 0; salt < MAX_IDS; salt++) {
    const old = await step.store.deliveries.delivery(accountId, id)
    if (!old || !isWanted(step, old)) return false
    if (await acceptAll(step, [replayByJob(old, step.webhook, step.job.id, salt)])) return true
  }
  return false
}

export const isGone = (thrown: unknown) => thrown instanceof HookswitchError && thrown.code === 'NotFound'

const isTaken = (thrown: unknown) =>
  thrown instanceof HookswitchError && thrown.code === 'Conflict' && thrown.field === 'id'

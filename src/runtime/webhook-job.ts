/**
 * Jobs of operators that change webhooks of all accounts: what is stored of them, and their steps. They are stored and worked on
 * as replay jobs are (`replay-runner`).
 */
import { type ReplayJob, withState } from '../delivery/replay-job.js'
import type { ReplayListQuery, ReplayStore, StoredReplay } from '../delivery/replay-store.js'
import { findTroubled } from '../stats/endpoint-list.js'
import { STATES_OF, type WebhookAction } from '../webhooks/actions.js'
import { endPauseIf, reenableWebhook } from '../webhooks/manage.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Core } from './core.js'
import type { WebhookSelection } from './trouble-selection.js'

/** A job that changes webhooks. */
export interface WebhookJob extends Pick<ReplayJob, 'id' | 'state' | 'createdMs' | 'endedMs' | 'revision'> {
  readonly action: WebhookAction
  readonly selection: WebhookSelection
  /** Webhooks that were selected when it was requested. */
  readonly count: number
  /** Webhooks that it has changed. */
  readonly changed: number
  /** The last webhook that it has looked at, in the order of ids. Absent: none. */
  readonly afterId?: string
}

export function toStoredJob(job: WebhookJob): StoredReplay {
  const { id, state, createdMs, endedMs, revision, action, selection, count, changed, afterId } = job
  // The column of the account stays empty: the job belongs to the operators, also if it concerns one account.
  const row = { id, state, createdMs, ...(endedMs !== undefined && { endedMs }), revision }
  return { ...row, doc: JSON.stringify({ action, selection, count, changed, afterId }) }
}

export function fromStoredJob({ doc, ...row }: StoredReplay): WebhookJob {
  return { ...row, ...JSON.parse(doc) }
}

/** Whether a stored job is one of these, and no replay: by the first field of its document. */
export const isWebhookJob = ({ doc }: StoredReplay): boolean => doc.startsWith('{"action":')

/** Jobs that are read at once, and pages that are read for one page of the jobs of one kind. */
const PAGE = 200
const MAX_PAGES = 50

/** The newest stored jobs for which `isWanted` returns true, among 10,000. */
export async function listStoredJobs(
  { list }: Pick<ReplayStore, 'list'>,
  { limit, ...query }: ReplayListQuery,
  isWanted: (job: StoredReplay) => boolean,
): Promise<readonly StoredReplay[]> {
  const found: StoredReplay[] = []
  let { after } = query
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await list({ ...query, ...(after && { after }), limit: PAGE })
    found.push(...page.filter(isWanted))
    const last = page.at(-1)
    if (found.length >= limit || page.length < PAGE || !last) break
    after = { createdMs: last.createdMs, id: last.id }
  }
  return found.slice(0, limit)
}

/** Webhooks of one step: so few that it holds up nobody. */
const STEP_WEBHOOKS = 100
/** Webhooks that are changed at the same time. */
const AT_ONCE = 8

type Deps = Pick<Core, 'store' | 'endpoints' | 'webhookDeps' | 'dispatcher' | 'clock' | 'log'>

/**
 * One step of a job: changes the next webhooks, and stores how far it is. A node that takes it over begins with the webhooks of
 * the last step: what this one has changed is not changed again, because only what was so when the job was requested is.
 */
export async function stepWebhookJob(deps: Deps, job: WebhookJob): Promise<void> {
  const { webhooks, nextId } = await findTroubled(deps.endpoints, {
    ...job.selection,
    states: STATES_OF[job.action],
    limit: STEP_WEBHOOKS,
    afterId: job.afterId,
  })
  let changed = 0
  for (let from = 0; from < webhooks.length; from += AT_ONCE) {
    const part = webhooks.slice(from, from + AT_ONCE)
    const results = await Promise.all(part.map((webhook) => apply(deps, job, webhook)))
    changed += results.filter((isChanged) => isChanged).length
  }
  const { id: afterId = job.afterId } = webhooks.at(-1) ?? {}
  await storeStep(deps, job, changed, { afterId, isLast: nextId === undefined })
}

function apply(
  { webhookDeps, dispatcher, clock }: Deps,
  job: WebhookJob,
  webhook: Webhook,
): Promise<boolean> {
  if (job.action === 'resume')
    return endPauseIf(webhookDeps, webhook, ({ health }) => (health?.pause?.sinceMs ?? 0) <= job.createdMs)
  // The time of a webhook is that of the wall clock.
  const requestedMs = job.createdMs - (dispatcher.now() - clock.now())
  return reenableWebhook(webhookDeps, webhook, ({ disabledMs = 0 }) => disabledMs <= requestedMs)
}

/** How often a step is stored while an operator changes the job. */
const MAX_TRIES = 10

async function storeStep(
  { store, dispatcher, log }: Deps,
  job: WebhookJob,
  changed: number,
  { afterId, isLast }: { readonly afterId: string | undefined; readonly isLast: boolean },
): Promise<void> {
  let current = job
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const progress = {
      ...current,
      changed: current.changed + changed,
      ...(afterId !== undefined && { afterId }),
    }
    const isComplete = isLast && current.state === 'running'
    const next = isComplete
      ? withState(progress, 'completed', Math.floor(dispatcher.now()))
      : { ...progress, revision: current.revision + 1 }
    if (await store.replays.replace(toStoredJob(next))) {
      if (isComplete)
        log.info({ jobId: job.id, action: job.action, changed: next.changed }, 'a job is complete')
      return
    }
    // An operator has paused or cancelled it meanwhile.
    const stored = await store.replays.read(job.id)
    if (!stored) return
    current = fromStoredJob(stored)
  }
}

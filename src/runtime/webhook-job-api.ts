/** `hs.operator.jobs`: jobs that change webhooks of all accounts, as operators see them. */
import { MAX_UNFINISHED, SETTABLE_STATES, withState } from '../delivery/replay-job.js'
import { checkOptionNames, HookswitchError, invalidInput, notFound, unknownFields } from '../errors.js'
import { countWaiting, findTroubled } from '../stats/endpoint-list.js'
import { toCanonicalJson } from '../values/canonical-json.js'
import { defined } from '../values/defined.js'
import { STATES_OF, WEBHOOK_ACTIONS, type WebhookAction } from '../webhooks/actions.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Core } from './core.js'
import type { OperatorApi } from './operator-api.js'
import { checkJobPage, tooManyJobs } from './replay-api.js'
import { checkSelection, SELECTION_FIELDS, type WebhookSelection } from './trouble-selection.js'
import { fromStoredJob, isWebhookJob, listStoredJobs, toStoredJob, type WebhookJob } from './webhook-job.js'

type JobApi = OperatorApi['jobs']
type CountedAction = Parameters<JobApi['count']>[0]['action']
type Reference = Pick<Webhook, 'id' | 'accountId'>

/** Webhooks that are counted at a time. */
const PAGE = 500
/** How often a change of a state is tried while the progress of the job is written. */
const MAX_CHANGES = 10
const COUNTED_ACTIONS: readonly CountedAction[] = [...WEBHOOK_ACTIONS, 'hold']

/**
 * @param core returns the running instance; throws while there is none
 * @param wake called after a job was added or changed
 */
export function createWebhookJobApi(core: () => Core, wake: () => void): JobApi {
  async function find(id: string): Promise<WebhookJob> {
    const stored = await core().store.replays.read(id)
    if (!stored || !isWebhookJob(stored)) throw notFound(id, 'job')
    return fromStoredJob(stored)
  }

  return {
    async count(given) {
      const { action, selection } = await checked(core(), given, COUNTED_ACTIONS)
      return countOf(core(), action, selection)
    },
    async start(given) {
      const deps = core()
      const { action, selection } = await checked(deps, given, WEBHOOK_ACTIONS)
      const unfinished = await deps.store.replays.unfinished(MAX_UNFINISHED)
      const isSame = (job: WebhookJob) =>
        job.action === action && toCanonicalJson(job.selection) === toCanonicalJson(selection)
      const same = unfinished.filter(isWebhookJob).map(fromStoredJob).find(isSame)
      if (same) return shown(same)
      if (unfinished.length >= MAX_UNFINISHED) throw tooManyJobs()
      const now = Math.floor(deps.dispatcher.now())
      const { webhooks: count } = await countOf(deps, action, selection)
      const created = { id: deps.newId(), action, selection, createdMs: now, count, changed: 0, revision: 1 }
      const running: WebhookJob = { ...created, state: 'running' }
      const job = count > 0 ? running : withState(running, 'completed', now)
      await deps.store.replays.create(toStoredJob(job))
      deps.log.info({ jobId: job.id, action, ...selection, count }, 'a job was requested')
      wake()
      return shown(job)
    },
    read: async (id) => shown(await find(id)),
    async list(options = {}) {
      checkOptionNames('operator.jobs.list', options, ['after', 'limit'])
      const found = await listStoredJobs(core().store.replays, checkJobPage(options), isWebhookJob)
      return found.map((job) => shown(fromStoredJob(job)))
    },
    async set(id, state) {
      if (!SETTABLE_STATES.includes(state)) throw notOneOf('state', SETTABLE_STATES)
      for (let left = MAX_CHANGES; left > 0; left--) {
        const job = await find(id)
        const next = withState(job, state, Math.floor(core().dispatcher.now()), 'job')
        if (next === job) return shown(job)
        if (!(await core().store.replays.replace(toStoredJob(next)))) continue
        wake()
        return shown(next)
      }
      throw new HookswitchError('Conflict', 'this job was changed at the same time', { field: 'state' })
    },
  }
}

/** A job without what only its node needs. */
function shown({ afterId: _, ...job }: WebhookJob): Awaited<ReturnType<JobApi['read']>> {
  return job
}

const notOneOf = (path: string, values: readonly string[]) =>
  invalidInput([{ path, rule: 'error', message: `must be one of ${values.join(', ')}` }])

/** @throws `InvalidInput`, `NotFound` for the account */
async function checked<Action extends CountedAction>(
  { auth }: Core,
  given: WebhookSelection & { readonly action: Action },
  actions: readonly Action[],
): Promise<{ readonly action: Action; readonly selection: WebhookSelection }> {
  if (typeof given !== 'object' || given === null)
    throw invalidInput([{ path: '', rule: 'error', message: 'a request must be an object' }])
  const { action, ...conditions } = defined(given)
  if (!actions.includes(action)) throw notOneOf('action', actions)
  const known = action === 'hold' ? ['accountId'] : SELECTION_FIELDS
  const unknown = unknownFields(conditions, `the action '${action}'`, known)
  if (unknown.length > 0) throw invalidInput(unknown)
  const selection = checkSelection(conditions)
  const { accountId } = selection
  if (accountId !== undefined && (await auth.lineages.lineage(accountId)).length === 0)
    throw notFound(accountId, 'account')
  return { action, selection }
}

async function countOf(
  { store, endpoints, clock }: Core,
  action: CountedAction,
  selection: WebhookSelection,
) {
  const { accountId } = selection
  const accounts = new Set<string>()
  const counts = { webhooks: 0, deliveries: 0 }

  async function pageBehind(
    afterId: string | undefined,
  ): Promise<[readonly Reference[], string | undefined]> {
    if (action === 'hold') {
      if (accountId !== undefined) return [await store.webhooks.list([accountId]), undefined]
      const page = await store.webhooks.ids(PAGE, afterId)
      return [page, page.length < PAGE ? undefined : page.at(-1)!.id]
    }
    const states = STATES_OF[action as WebhookAction]
    const page = await findTroubled(endpoints, { ...selection, states, limit: PAGE, afterId })
    return [page.webhooks, page.nextId]
  }

  let afterId: string | undefined
  do {
    const [webhooks, nextId] = await pageBehind(afterId)
    counts.webhooks += webhooks.length
    for (const webhook of webhooks) accounts.add(webhook.accountId)
    for (const waiting of (await countWaiting(endpoints, webhooks)).values()) counts.deliveries += waiting
    afterId = nextId
    await clock.yield()
  } while (afterId !== undefined)
  return { ...counts, accounts: accounts.size }
}

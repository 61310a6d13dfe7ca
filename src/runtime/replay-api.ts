/** `hs.replays`: replay jobs as the host sees them. */

import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { webhookDisabled } from '../delivery/replay.js'
import {
  fromStoredReplay,
  MAX_UNFINISHED,
  newReplayJob,
  type ReplayJob,
  SETTABLE_STATES,
  scopeOf,
  toStoredReplay,
  withState,
} from '../delivery/replay-job.js'
import { isReplayable, type ReplayRequest, statesOf } from '../delivery/replay-selection.js'
import type { ReplayListQuery } from '../delivery/replay-store.js'
import { checkOptionNames, HookswitchError, invalidInput, notFound, unknownFields } from '../errors.js'
import { defined } from '../values/defined.js'
import { NUMBER_RULE, searchedNumber } from '../values/phone-number.js'
import type { Core } from './core.js'
import { findDeliveriesOfCalls, type ReplayTarget, replayTargets } from './replay-targets.js'
import { canonicalHost } from './trouble-selection.js'
import { isWebhookJob, listStoredJobs } from './webhook-job.js'

/** Replays of many deliveries: jobs that run until every selected delivery is accepted again. */
export interface ReplayApi {
  /**
   * Starts a job. It survives restarts, leaves out what a replay has recovered, and keeps the order within each call.
   * Throws `NotFound`, `Conflict` for a webhook that is disabled, `InvalidInput`, `TooManyReplays`.
   */
  start(request: ReplayRequest): Promise<ReplayJob>
  /** Counts what `start` would repeat; writes nothing. Throws `NotFound`, `InvalidInput`. */
  count(request: ReplayRequest): Promise<{
    /** Deliveries. */
    readonly count: number
    /** Webhooks that have them. */
    readonly webhooks: number
    /** Accounts of these webhooks. */
    readonly accounts: number
  }>
  /** One job. Throws `NotFound`, with `accountId` for a job of another account too. */
  read(id: string, accountId?: string): Promise<ReplayJob>
  /** Newest first. Throws `InvalidInput`. */
  list(options?: {
    /** Only jobs of this account. Default: all. */
    readonly accountId?: string | undefined
    /** Only jobs behind this one, in the order of the list. */
    readonly after?: { readonly createdMs: number; readonly id: string } | undefined
    /** 1–200, default 50. */
    readonly limit?: number | undefined
  }): Promise<readonly ReplayJob[]>
  /**
   * Pauses, continues or cancels a job. What it has accepted already is still sent. Throws `NotFound`, `Conflict` for a job that
   * has ended, `InvalidInput`.
   */
  set(id: string, state: Exclude<ReplayJob['state'], 'completed'>, accountId?: string): Promise<ReplayJob>
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200
/** Jobs of an account that have not ended. */
const MAX_UNFINISHED_OF_ACCOUNT = 100
/** From this number in all on, each account can have one: those of some keep nobody else from replays. */
const MANY_UNFINISHED = 1_000
/** The last time of a `Date`, ms. */
const MAX_TIME_MS = 8.64e15
/** Longest condition, characters. */
const MAX_TEXT = 256
/** Webhooks that one call counts. */
const WEBHOOKS_PER_COUNT = 1_000
/** How often a change of a state is tried while the progress of the job is written. */
const MAX_CHANGES = 10

type Deps = Pick<
  Core,
  'store' | 'accounts' | 'auth' | 'clock' | 'dispatcher' | 'newId' | 'log' | 'catalogue' | 'metrics'
>

/**
 * @param core returns the running instance; throws while there is none
 * @param wake called after a job was added or changed
 */
export function createReplayApi(core: () => Deps, wake: () => void): ReplayApi {
  async function find(id: string, accountId: string | undefined): Promise<ReplayJob> {
    const stored = await core().store.replays.read(id)
    if (!stored || isWebhookJob(stored) || (accountId !== undefined && stored.accountId !== accountId))
      throw notFound(id, 'replay')
    return fromStoredReplay(stored)
  }

  return {
    async start(given) {
      const deps = core()
      const request = await checked(deps, given, true)
      const { accountId } = request
      await checkUnfinished(deps, accountId)
      const now = Math.floor(deps.dispatcher.now())
      const bounded = { ...request, createdToMs: Math.min(request.createdToMs ?? now, now) }
      const { count } = await countOf(deps, bounded)
      const job = newReplayJob(deps.newId(), bounded, now, count)
      const started = count > 0 ? job : withState(job, 'completed', now)
      await deps.store.replays.create(toStoredReplay(started))
      deps.log.info({ replayId: job.id, ...scopeOf(bounded), count }, 'a replay was requested')
      wake()
      return started
    },
    async count(given) {
      const deps = core()
      return countOf(deps, await checked(deps, given, false))
    },
    read: async (id, accountId) => find(id, accountId),
    async list(options = {}) {
      checkOptionNames('replays.list', options, ['accountId', 'after', 'limit'])
      const { accountId } = options
      if (accountId !== undefined && typeof accountId !== 'string')
        throw invalid('accountId', 'must be a text')
      const query = { ...checkJobPage(options), ...defined({ accountId }) }
      const found = await listStoredJobs(core().store.replays, query, (job) => !isWebhookJob(job))
      return found.map(fromStoredReplay)
    },
    async set(id, state, accountId) {
      if (!SETTABLE_STATES.includes(state))
        throw invalid('state', `must be one of ${SETTABLE_STATES.join(', ')}`)
      for (let left = MAX_CHANGES; left > 0; left--) {
        const job = await find(id, accountId)
        const next = withState(job, state, Math.floor(core().dispatcher.now()))
        if (next === job) return job
        if (!(await core().store.replays.replace(toStoredReplay(next)))) continue
        wake()
        return next
      }
      throw new HookswitchError('Conflict', 'this replay was changed at the same time', { field: 'state' })
    },
  }
}

/** The page of a list of jobs that is requested. @throws `InvalidInput` naming `limit` or `after` */
export function checkJobPage({ limit = DEFAULT_LIMIT, after }: JobPage): Omit<ReplayListQuery, 'accountId'> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_LIMIT}`)
  if (after === undefined) return { limit }
  if (typeof after !== 'object' || typeof after?.createdMs !== 'number' || typeof after.id !== 'string')
    throw invalid('after', 'must have createdMs and id, as a job of the list')
  return { limit, after }
}

type JobPage = Pick<NonNullable<Parameters<ReplayApi['list']>[0]>, 'after' | 'limit'>

/** @throws `TooManyReplays` if an account, or all operators, cannot have another job. */
async function checkUnfinished({ store }: Deps, accountId: string | undefined): Promise<void> {
  const unfinished = await store.replays.unfinished(MAX_UNFINISHED)
  const own = unfinished.filter((job) => job.accountId === accountId && !fromStoredReplay(job).isAutomatic)
  const most = unfinished.length < MANY_UNFINISHED ? MAX_UNFINISHED_OF_ACCOUNT : 1
  if (unfinished.length < MAX_UNFINISHED && (accountId === undefined || own.length < most)) return
  throw tooManyJobs()
}

/** The error for a job beyond the limits. */
export const tooManyJobs = () =>
  new HookswitchError('TooManyReplays', 'too many replays have not ended', { retryAfterSeconds: 60 })

const invalid = (path: string, message: string) => invalidInput([{ path, rule: 'error', message }])

/** Whether it is a time that can be written as a date. */
const isTime = (value: unknown) => typeof value === 'number' && Math.abs(value) <= MAX_TIME_MS

const FIELDS: readonly (keyof ReplayRequest)[] = [
  'accountId',
  'webhookId',
  'createdFromMs',
  'createdToMs',
  'result',
  'hook',
  'reason',
  'callId',
  'number',
  'includeRecovered',
  'host',
]

/** Checks a request against its rules and the store. @param isStart whether the webhook must be enabled */
async function checked(deps: Deps, given: ReplayRequest, isStart: boolean): Promise<ReplayRequest> {
  if (typeof given !== 'object' || given === null) throw invalid('', 'a request must be an object')
  const request: Record<string, unknown> = defined(given)
  const unknown = unknownFields(request, 'a replay', FIELDS)
  if (unknown.length > 0) throw invalidInput(unknown)
  const { accountId, webhookId, createdFromMs, createdToMs, hook, number, host } = request as ReplayRequest
  for (const path of ['hook', 'reason', 'callId', 'accountId', 'webhookId', 'host'] as const) {
    const value: unknown = request[path]
    if (value !== undefined && (typeof value !== 'string' || value === '' || value.length > MAX_TEXT))
      throw invalid(path, `must be a text of 1 to ${MAX_TEXT} characters`)
  }
  for (const path of ['createdFromMs', 'createdToMs'] as const)
    if (request[path] !== undefined && !isTime(request[path]))
      throw invalid(path, 'must be a time in milliseconds')
  if (createdFromMs !== undefined && createdToMs !== undefined && createdFromMs > createdToMs)
    throw invalid('createdFromMs', 'must not be later than createdToMs')
  if (request.includeRecovered !== undefined && typeof request.includeRecovered !== 'boolean')
    throw invalid('includeRecovered', 'must be true or false')
  statesOf(request)
  if (hook !== undefined && !deps.catalogue.some(({ id }) => id === hook))
    throw invalid('hook', 'is not a kind of event')
  if (number !== undefined && searchedNumber(number) === undefined) throw invalid('number', NUMBER_RULE)
  if (number !== undefined && accountId === undefined) throw invalid('number', 'requires an account')
  if (webhookId !== undefined && accountId === undefined) throw invalid('webhookId', 'requires its account')
  if (host !== undefined) {
    if (webhookId !== undefined) throw invalid('host', 'cannot be combined with a webhook')
    request.host = canonicalHost(host)
  }
  if (accountId !== undefined && (await deps.auth.lineages.lineage(accountId)).length === 0)
    throw notFound(accountId, 'account')
  if (webhookId === undefined) return request
  const webhook = await deps.store.webhooks.read(accountId!, webhookId)
  if (!webhook) throw notFound(webhookId, 'webhook')
  if (isStart && !webhook.settings.enabled) throw webhookDisabled()
  return request
}

/** Counts what a request selects now. */
async function countOf(deps: Deps, request: ReplayRequest): ReturnType<ReplayApi['count']> {
  const { store, clock } = deps
  const targets = await replayTargets(deps, request)
  const calls = await findDeliveriesOfCalls(deps, request, targets)
  if (calls) {
    const isWanted = (row: StoredDelivery) => isReplayable(row, request, Number.POSITIVE_INFINITY)
    return sumOf(targets, new Map(calls.map((call) => [call.webhookId, call.rows.filter(isWanted).length])))
  }
  const { createdFromMs, createdToMs, hook, reason, includeRecovered = false } = request
  const counts = new Map<string, number>()
  for (let from = 0; from < targets.length; from += WEBHOOKS_PER_COUNT) {
    if (from > 0) await clock.yield()
    const counted = await store.deliveries.countReplayable({
      webhookIds: targets.slice(from, from + WEBHOOKS_PER_COUNT).map(({ webhookId }) => webhookId),
      states: statesOf(request),
      includeRecovered,
      ...(createdFromMs !== undefined && { fromMs: createdFromMs }),
      ...(createdToMs !== undefined && { toMs: createdToMs }),
      ...(hook !== undefined && { hooks: [hook] }),
      ...(reason !== undefined && { reason }),
    })
    for (const [webhookId, count] of counted) counts.set(webhookId, count)
  }
  return sumOf(targets, counts)
}

/** @param counts of deliveries, by webhook */
function sumOf(targets: readonly ReplayTarget[], counts: ReadonlyMap<string, number>) {
  const accounts = new Set<string>()
  let [count, webhooks] = [0, 0]
  for (const { webhookId, accountId } of targets) {
    const own = counts.get(webhookId) ?? 0
    if (own === 0) continue
    count += own
    webhooks += 1
    accounts.add(accountId)
  }
  return { count, webhooks, accounts: accounts.size }
}

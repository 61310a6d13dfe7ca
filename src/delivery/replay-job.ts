/** Replay jobs: selections of deliveries that are replayed one after the other, however many they are. */
import { HookswitchError } from '../errors.js'
import type { ReplayRequest, ReplayScope } from './replay-selection.js'
import type { ReplayState, StoredReplay } from './replay-store.js'

/** A replay job. */
export interface ReplayJob {
  /** 32 lower-case hex digits. */
  readonly id: string
  /** What it repeats. `createdToMs` is not later than the time of the request. */
  readonly request: ReplayRequest
  /** Where it is. */
  readonly state: 'running' | 'paused' | 'cancelled' | 'completed'
  /** When it was requested: store time, ms. */
  readonly createdMs: number
  /** When it was completed or cancelled: store time, ms. Absent before. */
  readonly endedMs?: number
  /**
   * How many deliveries the request selected when it was made; more if others that were accepted before have ended
   * meanwhile, or have lost their replay. 0 for an automatic job.
   */
  readonly count: number
  /** How many of them have been accepted again as new deliveries. Sending them has its own result. */
  readonly replayed: number
  /** Webhooks that were disabled or deleted before their part was done, at most 100. */
  readonly leftOut: readonly {
    /** Id of the webhook. */
    readonly webhookId: string
    /** What happened to it before its part was done. */
    readonly reason: 'disabled' | 'deleted'
  }[]
  /** True: the service itself replays what expired as `queue_full`. */
  readonly isAutomatic: boolean
  /** Raised by every change. */
  readonly revision: number
}

/** A webhook whose deliveries were not all replayed. */
export type LeftOutWebhook = ReplayJob['leftOut'][number]

/** What `ReplayJob.state` can be set to. */
export type SettableState = Exclude<ReplayJob['state'], 'completed'>
export const SETTABLE_STATES: readonly SettableState[] = ['running', 'paused', 'cancelled']

export const MAX_LEFT_OUT = 100
/** Jobs that have not ended, of all accounts. */
export const MAX_UNFINISHED = 10_000

/** The part of a request for a log, which must not contain numbers and calls. */
export const scopeOf = ({ accountId, webhookId }: ReplayRequest): ReplayScope => ({
  ...(accountId !== undefined && { accountId }),
  ...(webhookId !== undefined && { webhookId }),
})

/** @param now store time, ms */
export const newReplayJob = (id: string, request: ReplayRequest, now: number, count: number): ReplayJob => ({
  id,
  request,
  state: 'running',
  createdMs: now,
  count,
  replayed: 0,
  leftOut: [],
  isAutomatic: false,
  revision: 1,
})

export function toStoredReplay(job: ReplayJob): StoredReplay {
  const { id, request, state, createdMs, endedMs, revision, count, replayed, leftOut, isAutomatic } = job
  return {
    id,
    ...(request.accountId !== undefined && { accountId: request.accountId }),
    state,
    createdMs,
    ...(endedMs !== undefined && { endedMs }),
    revision,
    doc: JSON.stringify({ request, count, replayed, leftOut, isAutomatic }),
  }
}

export function fromStoredReplay({ id, state, createdMs, endedMs, revision, doc }: StoredReplay): ReplayJob {
  const ended = endedMs !== undefined && { endedMs }
  return { id, state, createdMs, ...ended, revision, ...JSON.parse(doc) }
}

export const hasEnded = ({ state }: Pick<ReplayJob, 'state'>) =>
  state === 'completed' || state === 'cancelled'

/**
 * The job with another state.
 *
 * @param kind names it in messages. Default: `replay`
 * @throws `Conflict` for a job that has ended
 */
export function withState<Job extends Pick<ReplayJob, 'state' | 'revision' | 'endedMs'>>(
  job: Job,
  state: ReplayState,
  now: number,
  kind = 'replay',
): Job {
  if (job.state === state) return job
  if (hasEnded(job)) throw new HookswitchError('Conflict', `this ${kind} is ${job.state}`, { field: 'state' })
  const next = { ...job, state, revision: job.revision + 1 }
  return hasEnded(next) ? { ...next, endedMs: now } : next
}

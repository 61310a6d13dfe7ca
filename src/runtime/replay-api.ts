/** `hs.replays`: replay jobs as the host sees them. */
import type { ReplayJob, ReplayRequest, SettableState } from '../delivery/replay-job.js'

/** How many deliveries a replay would repeat. */
export interface ReplayCount {
  readonly count: number
  /** True: there are more than were counted. */
  readonly isCapped: boolean
}

/** Selects replay jobs. */
export interface ReplayListOptions {
  /** Only jobs of this account. Default: all. */
  readonly accountId?: string
  /** Only jobs behind this one, in the order of the list. */
  readonly after?: { readonly createdMs: number; readonly id: string }
  /** 1–200, default 50. */
  readonly limit?: number
}

/** Replays of many deliveries: jobs that run until every selected delivery is accepted again. */
export interface ReplayApi {
  /**
   * Starts a job. It survives restarts, leaves out what a replay has recovered, and keeps the order within each call.
   * Throws `NotFound`, `Conflict` for a webhook that is disabled, `InvalidInput`, `TooManyReplays`.
   */
  start(request: ReplayRequest): Promise<ReplayJob>
  /** Counts what `start` would repeat; writes nothing. Throws `NotFound`, `InvalidInput`. */
  count(request: ReplayRequest): Promise<ReplayCount>
  /** One job. Throws `NotFound`, with `accountId` for a job of another account too. */
  read(id: string, accountId?: string): Promise<ReplayJob>
  /** Newest first. Throws `InvalidInput`. */
  list(options?: ReplayListOptions): Promise<readonly ReplayJob[]>
  /**
   * Pauses, continues or cancels a job. What it has accepted already is still sent. Throws `NotFound`, `Conflict` for a job that
   * has ended, `InvalidInput`.
   */
  set(id: string, state: SettableState, accountId?: string): Promise<ReplayJob>
}

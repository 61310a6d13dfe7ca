/** Replay jobs that the service itself starts: one per account, for what has expired as `queue_full`. */
import { MAX_UNFINISHED, newReplayJob, type ReplayJob, toStoredReplay } from '../delivery/replay-job.js'
import { QUEUE_FULL } from '../delivery/retry.js'
import type { Core } from './core.js'

interface AutomaticReplays {
  /** Deliveries of a webhook have expired. */
  add(full: { readonly webhookId: string; readonly accountId: string }): void
  /** Returns the webhooks that were added for an account, once. */
  take(accountId: string): ReadonlySet<string>
  /**
   * Starts the job of each account with added webhooks, or tells the node that works on it.
   *
   * @param jobs those that have not ended
   * @returns whether a job was started
   */
  start(jobs: readonly ReplayJob[]): Promise<boolean>
}

const NONE: ReadonlySet<string> = new Set()

/**
 * @param isOwn whether this node works on a job
 * @param write replaces a stored job; resolves to false if somebody else has changed it
 */
export function createAutomaticReplays(
  { store, dispatcher, newId }: Pick<Core, 'store' | 'dispatcher' | 'newId'>,
  isOwn: (job: ReplayJob) => boolean,
  write: (job: ReplayJob) => Promise<boolean>,
): AutomaticReplays {
  /** Ids of webhooks by account, until the job of the account knows them. */
  const added = new Map<string, Set<string>>()

  async function startOf(accountId: string, jobs: readonly ReplayJob[]): Promise<boolean> {
    const found = jobs.find(({ isAutomatic, request }) => isAutomatic && request.accountId === accountId)
    if (found) {
      // Its own node may write it at the same time: then once more.
      if (!isOwn(found) && (await write({ ...found, revision: found.revision + 1 }))) added.delete(accountId)
      return false
    }
    // There may be one that was not read.
    if (jobs.length >= MAX_UNFINISHED) return false
    const request = { accountId, result: 'expired', reason: QUEUE_FULL }
    const job = newReplayJob(newId(), request, Math.floor(dispatcher.now()), 0)
    await store.replays.create(toStoredReplay({ ...job, isAutomatic: true }))
    return true
  }

  return {
    add({ webhookId, accountId }) {
      const webhooks = added.get(accountId)
      if (webhooks) webhooks.add(webhookId)
      else added.set(accountId, new Set([webhookId]))
    },
    take(accountId) {
      const webhooks = added.get(accountId) ?? NONE
      added.delete(accountId)
      return webhooks
    },
    async start(jobs) {
      let hasStarted = false
      for (const accountId of added.keys()) if (await startOf(accountId, jobs)) hasStarted = true
      return hasStarted
    },
  }
}

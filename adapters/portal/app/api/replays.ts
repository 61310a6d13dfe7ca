/** Replays of many deliveries: the jobs of a webhook, of an account with all below it, or of the whole service. */
import { signal } from '@preact/signals'
import type { ReplayJob } from 'hookswitch/client'
import { page, request } from './api.js'

/** Whose deliveries are repeated. */
export interface ReplayScope {
  /** Absent: all accounts, for operators. */
  readonly accountId?: string
  /** Absent: all webhooks. */
  readonly webhookId?: string
}

/** The selection of a replay that the user gets to see first. */
export interface ReplayProposal {
  /** Earliest time of acceptance, ISO 8601. Default: no limit */
  readonly from?: string | undefined
  /** How many deliveries wait, behind which those of the replay queue. */
  readonly waiting?: number | undefined
}

/** Jobs among which those of a scope are searched. */
const MAX_JOBS = 200

/** How many jobs this page has started. */
export const startedReplays = signal(0)

const baseOf = ({ accountId }: ReplayScope) =>
  accountId === undefined ? '/system' : '/accounts/{account_id}'

/** Starts a job, or counts with `dry_run`. */
export const replay = <Data>(scope: ReplayScope, data: Readonly<Record<string, unknown>>): Promise<Data> => {
  const webhook = scope.webhookId === undefined ? '' : '/webhooks/{webhook_id}'
  return request('PUT', `${baseOf(scope)}${webhook}/replay`, { ...scope, data })
}

const accountOf = ({ accountId }: ReplayScope) => (accountId === undefined ? {} : { accountId })

export const readReplay = (scope: ReplayScope, replayId: string, signal: AbortSignal) =>
  request<ReplayJob>('GET', `${baseOf(scope)}/replays/{replay_id}`, { ...accountOf(scope), replayId }, signal)

export const setReplay = (scope: ReplayScope, replayId: string, state: string) =>
  request<ReplayJob>('POST', `${baseOf(scope)}/replays/{replay_id}`, {
    ...accountOf(scope),
    replayId,
    data: { state },
  })

export const hasEnded = ({ state }: ReplayJob) => state === 'completed' || state === 'cancelled'

/** The jobs that have not ended and the latest one that has. Those of a whole account are its webhooks' too. */
export async function listReplays(scope: ReplayScope, signal: AbortSignal): Promise<readonly ReplayJob[]> {
  const { accountId, webhookId } = scope
  const { items } = await page<ReplayJob>(
    `${baseOf(scope)}/replays`,
    { ...accountOf(scope), pageSize: MAX_JOBS },
    signal,
  )
  const own = items.filter(
    ({ account_id, webhook_id }) =>
      account_id === accountId && (webhook_id === undefined || webhook_id === webhookId),
  )
  const latest = own.find(hasEnded)
  return own.filter((job) => job === latest || !hasEnded(job))
}

/** For operators: jobs that change webhooks of all accounts. */
import type { SettableState } from '../../delivery/replay-job.js'
import { HookswitchError } from '../../errors.js'
import { startedJob } from '../../runtime/audited-calls.js'
import { validateReplayState, validateWebhookJob } from '../../values/validators.generated.js'
import { replayStateSchema, webhookJobSchema } from '../../wire/body-schemas.js'
import { decodeReplayPlace, encodeReplayPlace, type ReplayPlace } from '../../wire/cursor.js'
import { parseWebhookJob, toSelectionFailure, webhookJobJson } from '../../wire/webhook-job-json.js'
import { decodeStart, upTo } from '../paginate.js'
import {
  entityIdOf,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  translateFailures,
  validateBody,
} from './context.js'

type Jobs = OperationContext['deps']['jobs']
type Job = Awaited<ReturnType<Jobs['read']>>
type CountRequest = Parameters<Jobs['count']>[0]

/** Not an id of an account: the counts of operators, of which one is made at a time. */
const COUNT = '.webhooks'
const COUNT_RETRY_SECONDS = 5

/** The counts of what a job or a hold concerns. @throws `TooManyReplays` while another request counts */
export async function countWebhooks(
  { countingReplays, deps }: OperationContext,
  request: CountRequest,
): Promise<OperationResult> {
  if (countingReplays.has(COUNT)) {
    throw new HookswitchError('TooManyReplays', 'another count has not ended', {
      retryAfterSeconds: COUNT_RETRY_SECONDS,
    })
  }
  countingReplays.add(COUNT)
  try {
    const data = await translateFailures(deps.jobs.count(request), toSelectionFailure)
    return { data: { ...data }, status: 200, audit: false }
  } finally {
    countingReplays.delete(COUNT)
  }
}

export const startJob: Operation = async (context) => {
  const data = validateBody(context, webhookJobSchema, validateWebhookJob)
  const { isDryRun, ...request } = parseWebhookJob(data as Record<string, unknown>)
  if (isDryRun) return countWebhooks(context, request)
  const job = await translateFailures(context.deps.jobs.start(request), toSelectionFailure)
  return { data: webhookJobJson(job), audit: () => startedJob(job) }
}

/** Jobs per query. */
const BATCH_SIZE = 100

export const listJobs: Operation = async (context) => {
  const request = readListRequest(context)
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = request
  const hasRange = request.fromMs !== undefined || request.toMs !== undefined
  const placeOf = ({ createdMs, id }: Job): ReplayPlace => ({ createdMs, id })
  return listResult<Job, ReplayPlace>(request, {
    start: decodeStart(request.startKey, decodeReplayPlace),
    async read(limit, after) {
      const page = { limit: limit + 1, ...(after && { after }) }
      return upTo(limit, await context.deps.jobs.list(page), placeOf)
    },
    placeOf,
    startKeyOf: encodeReplayPlace,
    isInRange: hasRange ? ({ createdMs }) => createdMs >= fromMs && createdMs <= toMs : undefined,
    toFilterJson: webhookJobJson,
    toItems: (jobs) => jobs.map(webhookJobJson),
    batchSize: BATCH_SIZE,
  })
}

export const readJob: Operation = async (context) => ({
  data: webhookJobJson(await context.deps.jobs.read(entityIdOf(context, 'jobId'))),
})

export const setJob: Operation = async (context) => {
  const id = entityIdOf(context, 'jobId')
  const { state } = validateBody(context, replayStateSchema, validateReplayState) as { state: SettableState }
  const job = await context.deps.jobs.set(id, state)
  return { data: webhookJobJson(job), audit: () => ({ details: { jobId: id, state } }) }
}

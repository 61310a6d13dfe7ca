/** Replays: of one delivery, and of many as jobs that can be listed, paused and cancelled. */

import type { ReplayJob, SettableState } from '../../delivery/replay-job.js'
import type { ReplayRequest, ReplayScope } from '../../delivery/replay-selection.js'
import { HookswitchError, notFound } from '../../errors.js'
import type { ReplayApi } from '../../runtime/replay-api.js'
import type { Defined } from '../../values/defined.js'
import { isId } from '../../values/ids.js'
import { validateReplay, validateReplayState } from '../../values/validators.generated.js'
import { replaySchema, replayStateSchema } from '../../wire/body-schemas.js'
import { decodeReplayPlace, encodeReplayPlace, type ReplayPlace } from '../../wire/cursor.js'
import { parseReplay, replayedJson, replayJobJson, toReplayFailure } from '../../wire/replay-json.js'
import { decodeStart, upTo } from '../paginate.js'
import {
  entityIdOf,
  limitReplays,
  listResult,
  type Operation,
  type OperationContext,
  readListRequest,
  translateFailures,
  validateBody,
  webhookIds,
} from './context.js'

/** The account and webhook of the path; neither is in those of operators. */
function scopeOf(context: OperationContext): Defined<ReplayScope> {
  const { accountId, webhookId } = context.params
  return {
    ...(accountId !== undefined && { accountId }),
    ...(webhookId !== undefined && { webhookId: entityIdOf(context, 'webhookId') }),
  }
}

/** Repeats one delivery, starts the job of a selection, or counts what it would repeat. */
export const replay: Operation = async (context) => {
  const scope = scopeOf(context)
  const { replays, webhooks } = context.deps
  const data = validateBody(context, replaySchema, validateReplay) as Record<string, unknown>
  const parsed = parseReplay(data, scope.webhookId !== undefined)
  if ('deliveryId' in parsed) {
    if (!isId(parsed.deliveryId)) throw notFound(parsed.deliveryId)
    const ids = webhookIds(context)
    limitReplays(context, ids)
    const deliveryId = await webhooks.replay(...ids, parsed.deliveryId)
    return { data: replayedJson(deliveryId), audit: () => ({ deliveryId: parsed.deliveryId }) }
  }
  const request = { ...scope, ...parsed.selection }
  if (parsed.isDryRun) return { data: await count(context, request), status: 200, audit: false }
  if (scope.accountId !== undefined) limitReplays(context, Object.values(scope))
  const job = await translateFailures(replays.start(request), toReplayFailure)
  return { data: replayJobJson(job), audit: () => ({ replayId: job.id, details: { count: job.count } }) }
}

/** A count walks over all deliveries of the account, so a second one waits until the first has ended. */
const COUNT_RETRY_SECONDS = 5

/** @throws `TooManyReplays` while another request counts for the account */
async function count(context: OperationContext, request: ReplayRequest): ReturnType<ReplayApi['count']> {
  const { countingReplays, deps } = context
  const { accountId = '' } = request
  if (countingReplays.has(accountId)) {
    throw new HookswitchError('TooManyReplays', 'another count for this account has not ended', {
      retryAfterSeconds: COUNT_RETRY_SECONDS,
    })
  }
  countingReplays.add(accountId)
  try {
    return await translateFailures(deps.replays.count(request), toReplayFailure)
  } finally {
    countingReplays.delete(accountId)
  }
}

/** Jobs per query. */
const BATCH_SIZE = 100

export const listReplays: Operation = async (context) => {
  const scope = scopeOf(context)
  const request = readListRequest(context)
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = request
  const hasRange = request.fromMs !== undefined || request.toMs !== undefined
  const placeOf = ({ createdMs, id }: ReplayJob): ReplayPlace => ({ createdMs, id })
  return listResult<ReplayJob, ReplayPlace>(request, {
    start: decodeStart(request.startKey, decodeReplayPlace),
    async read(limit, after) {
      const page = { limit: limit + 1, ...(after && { after }) }
      return upTo(limit, await context.deps.replays.list({ ...scope, ...page }), placeOf)
    },
    placeOf,
    startKeyOf: encodeReplayPlace,
    isInRange: hasRange ? ({ createdMs }) => createdMs >= fromMs && createdMs <= toMs : undefined,
    toFilterJson: replayJobJson,
    toItems: (jobs) => jobs.map(replayJobJson),
    batchSize: BATCH_SIZE,
  })
}

/** The id of the path, and its account; of all accounts for operators. */
const idsOf = (context: OperationContext) =>
  [entityIdOf(context, 'replayId'), context.params.accountId] as const

export const readReplay: Operation = async (context) => ({
  data: replayJobJson(await context.deps.replays.read(...idsOf(context))),
})

export const setReplay: Operation = async (context) => {
  const [id, accountId] = idsOf(context)
  const { state } = validateBody(context, replayStateSchema, validateReplayState) as { state: SettableState }
  const job = await context.deps.replays.set(id, state, accountId)
  return { data: replayJobJson(job), audit: () => ({ accountId: job.request.accountId, details: { state } }) }
}

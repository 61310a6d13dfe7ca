/** Replays: of one delivery, and of many as jobs that can be listed, paused and cancelled. */
import type { ReplayJob, SettableState } from '../../delivery/replay-job.js'
import type { ReplayScope } from '../../delivery/replay-selection.js'
import { notFound } from '../../errors.js'
import { isId } from '../../values/ids.js'
import { validateReplay, validateReplayState } from '../../values/validators.generated.js'
import { replaySchema, replayStateSchema } from '../../wire/body-schemas.js'
import { decodeReplayPlace, encodeReplayPlace, type ReplayPlace } from '../../wire/cursor.js'
import {
  type ParsedReplay,
  parseReplay,
  replayCountJson,
  replayedJson,
  replayJobJson,
  toReplayFailure,
} from '../../wire/replay-json.js'
import { decodeStart, upTo } from '../paginate.js'
import {
  accountIdOf,
  entityIdOf,
  listResult,
  type Operation,
  type OperationContext,
  type OperationResult,
  readListRequest,
  translateFailures,
  validateBody,
} from './context.js'

const replayOf = (context: OperationContext, isOfWebhook: boolean): ParsedReplay =>
  parseReplay(validateBody(context, replaySchema, validateReplay) as Record<string, unknown>, isOfWebhook)

/** Starts the job of a selection, or counts what it would repeat. */
async function replayMany(
  { backend }: OperationContext,
  scope: ReplayScope,
  { selection, isDryRun }: Exclude<ParsedReplay, { readonly deliveryId: string }>,
): Promise<OperationResult> {
  const request = { ...scope, ...selection }
  const { replays } = backend
  if (!isDryRun) {
    const job = await translateFailures(replays.start(request), toReplayFailure)
    return { data: replayJobJson(job) }
  }
  const count = await translateFailures(replays.count(request), toReplayFailure)
  return { data: replayCountJson(count), status: 200 }
}

export const replayWebhook: Operation = async (context) => {
  const webhookId = entityIdOf(context, 'webhookId')
  const accountId = accountIdOf(context)
  const parsed = replayOf(context, true)
  if (!('deliveryId' in parsed)) return replayMany(context, { accountId, webhookId }, parsed)
  if (!isId(parsed.deliveryId)) throw notFound(parsed.deliveryId)
  return {
    data: replayedJson(await context.backend.webhooks.replay(accountId, webhookId, parsed.deliveryId)),
  }
}

const replayScope = (context: OperationContext, scope: ReplayScope): Promise<OperationResult> =>
  replayMany(context, scope, replayOf(context, false) as Exclude<ParsedReplay, { deliveryId: string }>)

export const replayAccount: Operation = async (context) =>
  replayScope(context, { accountId: accountIdOf(context) })

export const replayAllAccounts: Operation = async (context) => replayScope(context, {})

/** Jobs per query. */
const BATCH_SIZE = 100

async function listJobs(
  context: OperationContext,
  scope: Pick<ReplayScope, 'accountId'>,
): Promise<OperationResult> {
  const request = readListRequest(context)
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = request
  const hasRange = request.fromMs !== undefined || request.toMs !== undefined
  const placeOf = ({ createdMs, id }: ReplayJob): ReplayPlace => ({ createdMs, id })
  return listResult<ReplayJob, ReplayPlace>(request, {
    start: decodeStart(request.startKey, decodeReplayPlace),
    async read(limit, after) {
      const page = { limit: limit + 1, ...(after && { after }) }
      return upTo(limit, await context.backend.replays.list({ ...scope, ...page }), placeOf)
    },
    placeOf,
    startKeyOf: encodeReplayPlace,
    isInRange: hasRange ? ({ createdMs }) => createdMs >= fromMs && createdMs <= toMs : undefined,
    toFilterJson: replayJobJson,
    toItems: (jobs) => jobs.map(replayJobJson),
    batchSize: BATCH_SIZE,
  })
}

export const listReplays: Operation = async (context) =>
  listJobs(context, { accountId: accountIdOf(context) })
export const listAllReplays: Operation = async (context) => listJobs(context, {})

const replayId = (context: OperationContext) => entityIdOf(context, 'replayId')

export const readReplay: Operation = async (context) => ({
  data: replayJobJson(await context.backend.replays.read(replayId(context), accountIdOf(context))),
})
export const readAnyReplay: Operation = async (context) => ({
  data: replayJobJson(await context.backend.replays.read(replayId(context))),
})

async function setState(context: OperationContext, accountId?: string): Promise<OperationResult> {
  const id = replayId(context)
  const { state } = validateBody(context, replayStateSchema, validateReplayState) as { state: SettableState }
  return { data: replayJobJson(await context.backend.replays.set(id, state, accountId)) }
}

export const setReplay: Operation = async (context) => setState(context, accountIdOf(context))
export const setAnyReplay: Operation = async (context) => setState(context)

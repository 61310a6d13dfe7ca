/** JSON of replays: what a request selects, and the jobs that repeat it. */
import type { ReplayJob } from '../delivery/replay-job.js'
import type { ReplaySelection } from '../delivery/replay-selection.js'
import { type Failure, invalidInput } from '../errors.js'
import { toIsoTime } from '../values/iso-time.js'
import { MAX_FAILURES } from '../values/schema-failures.js'
import { replaySchema } from './body-schemas.js'
import { UI_METADATA } from './command-json.js'
import { isFailure, lateStart, parseTime, type TimeSpan } from './time.js'
import type { JsonObject } from './webhook-json.js'

/** The body of a replay: one delivery, or a selection. */
type ParsedReplay =
  | { readonly deliveryId: string }
  | {
      readonly selection: ReplaySelection
      /** Only the number of deliveries is wanted. */
      readonly isDryRun: boolean
    }

type Fields = Readonly<Record<string, unknown>>

/** Fields of a selection that are taken as they are. */
const FIELDS = {
  result: 'result',
  hook: 'hook',
  reason: 'reason',
  call_id: 'callId',
  number: 'number',
  host: 'host',
  include_recovered: 'includeRecovered',
} as const satisfies Readonly<Record<string, keyof ReplaySelection>>

/**
 * Parses the body of a replay, already validated by its schema. Both ends of a range are inclusive. A misspelt field must
 * not be ignored as on other routes: without it the selection would be larger.
 *
 * @param isOfWebhook whether the body may name one delivery
 * @throws `InvalidInput` for a time that is neither Gregorian seconds nor ISO 8601, a range that ends before it begins, an
 *   unknown field, and a selection beside `delivery_id`
 */
export function parseReplay(data: Fields, isOfWebhook: boolean): ParsedReplay {
  const names = Object.keys(data).filter((name) => name !== UI_METADATA)
  const unknown = names.filter((name) => !isField(name) || (name === 'delivery_id' && !isOfWebhook))
  if (unknown.length > 0) throw invalidInput(unknown.slice(0, MAX_FAILURES).map(unknownField))
  const { delivery_id: deliveryId } = data as { delivery_id?: string }
  if (deliveryId === undefined) return parseSelection(data)
  if (names.length > 1) throw invalidInput([COMBINED])
  return { deliveryId }
}

const isField = (name: string) => Object.hasOwn(replaySchema.properties, name)

const unknownField = (path: string): Failure => ({
  path,
  rule: 'additionalProperties',
  message: 'is not a field of a replay',
  target: false,
})

const COMBINED: Failure = {
  path: 'delivery_id',
  rule: 'error',
  message: 'Value cannot be combined with a selection',
}

function parseSelection(data: Fields): ParsedReplay {
  const { created_from, created_to, dry_run: isDryRun = false } = data as Fields & { dry_run?: boolean }
  const from = created_from === undefined ? undefined : parseTime('created_from', created_from)
  const to = created_to === undefined ? undefined : parseTime('created_to', created_to)
  const failures = [from, to].filter((parsed) => parsed !== undefined && isFailure(parsed)) as Failure[]
  if (failures.length > 0) throw invalidInput(failures)
  const { firstMs } = (from ?? {}) as Partial<TimeSpan>
  const { lastMs } = (to ?? {}) as Partial<TimeSpan>
  if (firstMs !== undefined && lastMs !== undefined && firstMs > lastMs)
    throw invalidInput([lateStart(created_from, created_to)])
  const selection = {
    ...(firstMs !== undefined && { createdFromMs: firstMs }),
    ...(lastMs !== undefined && { createdToMs: lastMs }),
    ...Object.fromEntries(
      Object.entries(FIELDS).flatMap(([wire, name]) =>
        data[wire] === undefined ? [] : [[name, data[wire]]],
      ),
    ),
  }
  return { selection, isDryRun }
}

const WIRE_NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(FIELDS).map(([wire, name]) => [name, wire])),
  createdFromMs: 'created_from',
  createdToMs: 'created_to',
}

/** Translates the path of a failure of a selection to wire names. */
export const toReplayFailure = (failure: Failure): Failure => ({
  ...failure,
  path: WIRE_NAMES[failure.path] ?? failure.path,
})

/** The result of a replay of one delivery. */
export const replayedJson = (deliveryId: string): JsonObject => ({ delivery_ids: [deliveryId] })

/** Returns the JSON of a replay job. */
export function replayJobJson(job: ReplayJob): JsonObject {
  const { request, createdMs, endedMs, leftOut } = job
  return {
    id: job.id,
    account_id: request.accountId,
    webhook_id: request.webhookId,
    state: job.state,
    count: job.count,
    replayed: job.replayed,
    created_at: toIsoTime(createdMs),
    ended_at: isoTime(endedMs),
    created_from: isoTime(request.createdFromMs),
    created_to: isoTime(request.createdToMs),
    result: request.result,
    hook: request.hook,
    reason: request.reason,
    call_id: request.callId,
    number: request.number,
    host: request.host,
    include_recovered: request.includeRecovered ?? false,
    left_out: leftOut.map(({ webhookId, reason }) => ({ webhook_id: webhookId, reason })),
    automatic: job.isAutomatic,
  }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))

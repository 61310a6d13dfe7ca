/** Query, documents and ids of the live stream. Pure. */
import type { AttemptRecord } from '../delivery/attempt-record.js'
import type { CallParties } from '../delivery/payload.js'
import type { Failure } from '../errors.js'
import { toGregorian } from '../values/gregorian-time.js'
import { isId } from '../values/ids.js'
import { attemptJson } from './attempt-json.js'
import { getQueryValue, type Query } from './query.js'
import type { JsonObject } from './webhook-json.js'

/** Kinds of items that a stream may be limited to. */
export type StreamType = NonNullable<StreamRequest['types']>[number]

const STREAM_TYPES: readonly StreamType[] = ['attempt', 'webhook', 'event']

/** Kinds of items of a stream that names none. */
export const DEFAULT_STREAM_TYPES: readonly StreamType[] = ['attempt', 'webhook']

/** What is requested of a stream. */
export interface StreamRequest {
  /** Id of the account whose items the stream has. */
  readonly accountId: string
  /** The id of the last item that the reader has: the stream continues after it. */
  readonly lastId?: string | undefined
  /** Default: `attempt` and `webhook`. */
  readonly types?: readonly ('attempt' | 'webhook' | 'event')[] | undefined
  /** Only attempts and changes of this webhook. Default: of all webhooks. Events belong to no webhook. */
  readonly webhookId?: string | undefined
  /** Only attempts and events of this call, all its legs. Default: of all calls. Changes of webhooks belong to no call. */
  readonly callId?: string | undefined
  /** Only attempts with this result. Default: both. */
  readonly result?: 'success' | 'failure' | undefined
  /** Whether the accounts below the account are included, at most 1,000 accounts. Default false. */
  readonly descendants?: boolean | undefined
}

/** The names of all fields of a request. */
export const STREAM_REQUEST_FIELDS: readonly (keyof StreamRequest)[] = [
  'accountId',
  'lastId',
  'types',
  'webhookId',
  'callId',
  'result',
  'descendants',
]

/** Which items of the account a stream has. */
export type StreamFilter = Omit<StreamRequest, 'accountId' | 'lastId'>

const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

/** Checks a filter. `streamFailure` translates the failures. */
export function streamFilterFailures(filter: StreamFilter): readonly Failure[] {
  const failures: Failure[] = []
  const { types, webhookId, callId, result, descendants } = filter
  const oneOf = (path: string, value: unknown, target: readonly string[]) => {
    if (target.includes(value as string)) return
    const message = `Value not found in enumerated list of values: ${target.join(', ')}`
    failures.push({ path, rule: 'enum', message, target, ...(typeof value === 'string' && { value }) })
  }
  if (types !== undefined) {
    if (!Array.isArray(types) || types.length === 0) oneOf('types', '', STREAM_TYPES)
    else for (const type of types) oneOf('types', type, STREAM_TYPES)
  }
  if (result !== undefined) oneOf('result', result, ['success', 'failure'])
  if (webhookId !== undefined && !isId(webhookId)) {
    failures.push({ path: 'webhookId', rule: 'wrong_format', message: 'Value must be the id of a webhook' })
  }
  if (callId !== undefined && (typeof callId !== 'string' || !CALL_ID.test(callId))) {
    const message = 'Value must have 1 to 255 printable characters'
    failures.push({ path: 'callId', rule: 'wrong_format', message })
  }
  if (descendants !== undefined && typeof descendants !== 'boolean') {
    const message = 'Value did not match type(s): boolean'
    failures.push({ path: 'descendants', rule: 'type', message, target: 'boolean' })
  }
  return failures
}

const WIRE_NAMES: Readonly<Record<string, string>> = {
  result: 'filter_result',
  webhookId: 'webhook_id',
  callId: 'call_id',
  lastId: 'last-event-id',
}

/** A failure of a request for a stream with the names of the query and headers. */
export const streamFailure = (failure: Failure): Failure => ({
  ...failure,
  path: Object.hasOwn(WIRE_NAMES, failure.path) ? WIRE_NAMES[failure.path]! : failure.path,
})

/** Reads the query of `GET stream`, unchecked (`streamFilterFailures`). Unknown parameters are ignored. */
export function parseStreamQuery(query: Query): StreamFilter {
  const types = getQueryValue(query, 'types')
  const descendants = getQueryValue(query, 'descendants')
  const webhookId = getQueryValue(query, 'webhook_id')
  const callId = getQueryValue(query, 'call_id')
  const result = getQueryValue(query, 'filter_result')
  const isBoolean = descendants === 'true' || descendants === 'false'
  return {
    ...(types !== undefined && { types: types.split(',') as StreamType[] }),
    ...(webhookId !== undefined && { webhookId }),
    ...(callId !== undefined && { callId }),
    ...(result !== undefined && { result: result as 'success' }),
    ...(descendants !== undefined && {
      descendants: (isBoolean ? descendants === 'true' : descendants) as boolean,
    }),
  }
}

/** Fields of an attempt that only its details have: they would make items as large as bodies. */
const DETAILS = ['resp_headers', 'resp_body', 'req_headers', 'req_body']

/** The document of an attempt: as in lists, with `account_id`, without headers and bodies. */
export function streamAttemptJson(record: AttemptRecord, call: CallParties | undefined): JsonObject {
  const { id, ...fields } = attemptJson({ ...record, position: 0, ...(call && { call }) })
  const document: Record<string, unknown> = { id, account_id: record.accountId }
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && !DETAILS.includes(name)) document[name] = value
  }
  return document
}

/** How a webhook changed. */
export interface WebhookChange {
  /** Id of the webhook. */
  readonly id: string
  /** Id of its account. */
  readonly accountId: string
  /** `disabled`: by its owner or by the service. `changed`: also paused and resumed. */
  readonly change: 'created' | 'changed' | 'disabled' | 'deleted'
  /** Why the service disabled it. */
  readonly disableReason?: string
}

export const streamWebhookJson = ({ id, accountId, change, disableReason }: WebhookChange): JsonObject => ({
  id,
  account_id: accountId,
  change,
  ...(disableReason !== undefined && { disable_reason: disableReason }),
})

/** What is counted of the document of an attempt. */
export const countedOf = ({ hook_id, result }: JsonObject) => ({
  webhookId: String(hook_id),
  isSuccess: result === 'success',
})

/**
 * The document of one second of a webhook's attempts.
 *
 * @param ms start of the second, Unix ms
 */
export const streamRateJson = (webhookId: string, ok: number, failed: number, ms: number): JsonObject => ({
  hook_id: webhookId,
  ok,
  failed,
  timestamp: toGregorian(ms),
})

/**
 * The document of items that are missing.
 *
 * @param from id of the last item before them
 * @param dropped their number; null: unknown
 */
export const streamGapJson = (from: string, dropped: number | null): JsonObject => ({ from, dropped })

/** Why the service ends a stream. */
export type StreamEndReason = 'token' | 'slow' | 'closing'

export const streamEndJson = (reason: StreamEndReason): JsonObject => ({ reason })

/** A place in the log of attempts at which a stream resumes. */
export interface StreamPlace {
  /** Everything up to this position was sent. */
  readonly position: number
  /** When the id was issued, Unix seconds. */
  readonly issued: number
  /** The process, where positions mean nothing to another one; otherwise ''. */
  readonly scope: string
}

const PLACE = /^s(0|[1-9][0-9]{0,15})\.(0|[1-9][0-9]{0,11})\.([0-9a-f]{0,32})$/

const encode = (text: string) => Buffer.from(text, 'latin1').toString('base64url')

export const encodeStreamId = ({ position, issued, scope }: StreamPlace): string =>
  encode(`s${position}.${issued}.${scope}`)

/** Returns the place, or `undefined` for text that `encodeStreamId` did not produce. */
export function decodeStreamId(id: string): StreamPlace | undefined {
  const text = Buffer.from(id, 'base64url').toString('latin1')
  const match = encode(text) === id ? PLACE.exec(text) : null
  if (!match) return undefined
  const position = Number(match[1])
  return Number.isSafeInteger(position) ? { position, issued: Number(match[2]), scope: match[3]! } : undefined
}

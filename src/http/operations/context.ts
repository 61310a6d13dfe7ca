/** What every operation receives and returns, and how it reads ids and list parameters. */
import type { Caller } from '../../auth/authenticate.js'
import { type CallerRights, rightsOf } from '../../auth/authority.js'
import { errorCode, type Failure, invalidInput, notFound } from '../../errors.js'
import { type AuditDetails, changesOf } from '../../runtime/audit.js'
import { isId } from '../../values/ids.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { type SchemaValidator, toSchemaFailures } from '../../values/schema-failures.js'
import { coerce } from '../../wire/coerce.js'
import type { EnvelopeFields } from '../../wire/envelope.js'
import { type ListRequest, type Page, parseListRequest } from '../../wire/list.js'
import { allowedRevisions } from '../../wire/precondition.js'
import { getQueryValue, type Query } from '../../wire/query.js'
import { getHeader, type RequestHeaders } from '../../wire/request-head.js'
import type { RouteMatch } from '../../wire/router.js'
import type { FieldWarning } from '../../wire/warnings.js'
import type { ApiDeps } from '../api-deps.js'
import type { DocumentCache } from '../document-cache.js'
import type { StreamSource } from '../event-stream.js'
import { type ListBody, type ListReaderDeps, openList } from '../list-response.js'
import type { RowSource } from '../paginate.js'

/** A request that passed the request guard. */
export interface OperationContext {
  readonly deps: ApiDeps
  readonly documentCache: DocumentCache
  /** Runs work that reads much when it is the turn of the caller's account (`http/read-gate`). */
  readInTurn<Result>(work: () => Promise<Result>): Promise<Result>
  /** Accounts for which a request counts what a replay would repeat; the empty text stands for all accounts. */
  readonly countingReplays: Set<string>
  /** Present if the route requires a token. */
  readonly caller?: Caller | undefined
  /** Decoded path parameters. */
  readonly params: RouteMatch['params']
  /** `data` of the body, of the route's `bodyKind`. */
  readonly data: unknown
  readonly query: Query
  readonly headers: RequestHeaders
  /** Address of the client, as far as the proxies in between are trusted; only set for logins. */
  readonly clientAddress?: string | undefined
  /** Mount prefix and version: the start of `Location`. */
  readonly base: string
  /** True for HEAD: the response has no body. */
  readonly isHead: boolean
}

/** The result of an operation, before it is put into the envelope. */
export interface OperationResult {
  /**
   * What the audit record says besides the ids of the path; called only if somebody listens. `false`: nothing was changed, so
   * there is none.
   */
  readonly audit?: (() => AuditDetails) | false
  readonly data?: unknown
  /** `data` as JSON text, if it is already serialized. */
  readonly dataJson?: string
  /** Revision of the document, sent as `revision` and `ETag`. */
  readonly revision?: number
  /** True: the client already has this revision; responds with 304. */
  readonly isNotModified?: boolean
  /** The response contains a secret, although the route's responses usually do not; it must not be cached. */
  readonly hasSecret?: boolean
  /** Status, if it differs from that of the route. */
  readonly status?: number
  /** Present for a list that is in memory; its items are the data. */
  readonly page?: Page
  readonly startKey?: string
  /** Reads a list of the store, whose items are the data. */
  readonly list?: (fields: EnvelopeFields, deps: ListReaderDeps) => Promise<ListBody>
  /** The token that a login issued. */
  readonly issuedToken?: string
  readonly location?: string
  /** Sent as `metadata.warnings`. */
  readonly warnings?: readonly FieldWarning[]
  /** The whole response body, sent without an envelope; all responses share it. */
  readonly rawBody?: Uint8Array
  /** The items of a response that is a live stream. */
  readonly source?: StreamSource
}

/** Performs the operation of a route. May reject with any error; `toHttpError` maps it. */
export type Operation = (context: OperationContext) => Promise<OperationResult>

/** Returns the account id of the path. The request guard has checked its syntax and the caller's access. */
export const accountIdOf = (context: OperationContext): string => context.params.accountId!

/** The names of these accounts that exist, by id. */
export async function accountNames(
  { core }: Pick<ApiDeps, 'core'>,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(accountIds)]
  const lineages = await Promise.all(ids.map((id) => core().auth.lineages.lineage(id)))
  return new Map(lineages.flatMap(([account]) => (account ? [[account.id, account.name]] : [])))
}

/** The rights of the caller. Only for routes that require a token. */
export const callerRights = ({ caller, deps }: OperationContext): CallerRights =>
  rightsOf(caller!, deps.options)

/** Returns an id of the path. A malformed id is treated like an unknown one: throws `NotFound`. */
export function entityIdOf(
  context: OperationContext,
  name: 'webhookId' | 'deliveryId' | 'replayId' | 'jobId' | 'userId',
): string {
  const id = context.params[name]!
  if (!isId(id)) throw notFound(id)
  return id
}

/** The account and webhook of the path. Throws `NotFound`. */
export const webhookIds = (context: OperationContext): readonly [string, string] => [
  accountIdOf(context),
  entityIdOf(context, 'webhookId'),
]

/** The dependencies of webhooks, and a function that tells what was changed with them last. */
export function auditedWebhooks({ deps }: Pick<OperationContext, 'deps'>) {
  const { webhookDeps } = deps.core()
  let change: Parameters<typeof changesOf> = [undefined, undefined]
  const onChanged: typeof webhookDeps.onChanged = (before, after) => {
    webhookDeps.onChanged?.(before, after)
    change = [before, after]
  }
  return { webhookDeps: { ...webhookDeps, onChanged }, audit: () => changesOf(...change) }
}

/** Counts a test, replay or resumption of a webhook. Throws `TooManyReplays`. */
export const limitReplays = ({ deps }: OperationContext, ids: readonly string[]): void =>
  deps.replayLimiter.consume(ids.join('/'))

/** Call ids have 1 to 255 printable characters. No event can have another id, so the store is not queried for it. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

export const isCallId = (text: string): boolean => CALL_ID.test(text)

/** Returns the call id of the path. A malformed id is treated like an unknown one: throws `NotFound`. */
export function callIdOf(context: OperationContext): string {
  const callId = context.params.callId!
  if (!isCallId(callId)) throw notFound(callId)
  return callId
}

/** Returns the ids of the call of the path and of its other legs. Throws `NotFound`. */
export async function legsOf(context: OperationContext): Promise<readonly string[]> {
  const callId = callIdOf(context)
  const callIds = await context.deps.core().store.deliveries.legs(accountIdOf(context), callId)
  if (callIds.length === 0) throw notFound(callId)
  return callIds
}

/** Coerces and validates the body. Throws `InvalidInput`. */
export function validateBody(
  context: OperationContext,
  schema: JsonSchema,
  validate: SchemaValidator,
): unknown {
  const data = coerce(schema, context.data)
  if (!validate(data)) throw invalidInput(toSchemaFailures(validate.errors, data))
  return data
}

/** Parses the list parameters of the query. Throws `InvalidInput`. */
export function readListRequest(context: OperationContext): ListRequest {
  const parsed = parseListRequest(context.query)
  if ('failures' in parsed) throw invalidInput(parsed.failures)
  return parsed.request
}

/** A parameter of the query that has one of these values; `undefined`: it is absent. Throws `InvalidInput`. */
export function enumValue<Value extends string>(
  { query }: OperationContext,
  path: string,
  values: readonly Value[],
): Value | undefined {
  const value = getQueryValue(query, path)
  const known = values.find((allowed) => allowed === value)
  if (value === undefined || known !== undefined) return known
  const message = 'Value not found in enumerated list of values'
  throw invalidInput([{ path, rule: 'enum', message, target: values, value }])
}

/** The result of an operation that lists rows of the store. */
export const listResult = <Row, Place>(
  request: ListRequest,
  source: RowSource<Row, Place>,
): OperationResult => ({ list: (fields, deps) => openList(request, source, fields, deps) })

/** The result of an operation that lists what is in memory. Echoes the client's `start_key` (KAZOO). */
export const pageResult = (page: Page, { startKey }: ListRequest): OperationResult => ({
  data: page.items,
  page,
  ...(startKey !== undefined && { startKey }),
})

/** A revision that no document has, so that a change that expects it fails. */
const NO_REVISION = 0

/**
 * The revision that `If-Match` requires; of several, the document's current one if it is among them; `undefined`: any.
 *
 * @param current reads the document's current revision
 */
export async function expectedRevision(
  context: OperationContext,
  current: () => Promise<number>,
): Promise<number | undefined> {
  const allowed = allowedRevisions(getHeader(context.headers, 'if-match'))
  if (allowed === undefined) return undefined
  if (allowed.length <= 1) return allowed[0] ?? NO_REVISION
  const revision = await current()
  return allowed.includes(revision) ? revision : NO_REVISION
}

/** Rejects with the failures of an `InvalidInput` in the names of the wire. */
export async function translateFailures<T>(
  work: Promise<T>,
  toWire: (failure: Failure) => Failure,
): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const { failures = [] } = thrown as { failures?: readonly Failure[] }
    throw errorCode(thrown) === 'InvalidInput' && failures.length > 0
      ? invalidInput(failures.map(toWire))
      : thrown
  }
}

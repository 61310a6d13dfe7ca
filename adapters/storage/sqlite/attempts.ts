/** Queries attempt records: first finds their keys through an index, then reads only the selected records. */
import {
  type AttemptLogPage,
  type AttemptLogQuery,
  type AttemptQuery,
  type AttemptRecord,
  decodeRecord,
  type ListPart,
  type PartQuery,
  partiesOf,
  partOf,
  type StoredAttempt,
  toStoredAttempt,
  type Webhook,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { wholeDeliveryId } from './delivery-ids.js'
import type { EventBodies } from './event-bodies.js'
import { httpVerbIn } from './formats.js'
import { hashKey } from './hash-key.js'
import { hookList, MAX_POSITION, MAX_TIME_MS, PART_ROWS } from './queries.js'

/** Conditions of every list: cursor, end, earliest and latest time, kinds of events as `hookList` writes them, twice. */
const range = (ascending: boolean) =>
  `a.doc is not null and a.key ${ascending ? '> ? and a.key <=' : '< ? and a.key >='} ? and a.at_ms >= ? and a.at_ms <= ?
    and (? is null or instr(?, (
      select ' ' || hook || ' ' from hookswitch_event where position = coalesce(a.event, a.position)
    )) > 0)`
const ordered = (ascending: boolean) => `order by a.key ${ascending ? 'asc' : 'desc'} limit ? + 0`

/** Which records a list has, and the index that has those of a webhook in order. */
const KINDS = {
  all: { condition: '', index: 'hookswitch_attempt_webhook' },
  failures: { condition: "and substr(a.doc, 1, 2) <> '[1'", index: 'hookswitch_attempt_failure' },
} as const
type RecordKind = keyof typeof KINDS

/** Records of one webhook. */
const OF_WEBHOOK_SQL = (ascending: boolean, kind: RecordKind) => `select a.key
  from hookswitch_attempt a indexed by ${KINDS[kind].index}
  where a.webhook = ? and ${range(ascending)} ${KINDS[kind].condition} ${ordered(ascending)}`

/** Records of deliveries to the webhooks of an account for a call, whichever account recorded the call. */
const OF_CALL_SQL = (ascending: boolean, kind: RecordKind) => `select a.key
  from hookswitch_call c cross join hookswitch_event e on e.call = c.key
  cross join hookswitch_attempt a on (a.position = e.position or a.event = e.position)
  cross join hookswitch_webhook w on w.key = a.webhook
  where c.call_key = ? and c.call_id = ? and w.account = ? and a.webhook = coalesce(?, a.webhook)
    and ${range(ascending)} ${KINDS[kind].condition} ${ordered(ascending)}`

/** The webhooks of an account, ordered by their first matching record. */
const FIRST_RECORDS_SQL = (ascending: boolean, kind: RecordKind) => `with firsts as materialized (
    select w.key, (
      select a.key from hookswitch_attempt a indexed by ${KINDS[kind].index}
      where a.webhook = w.key and ${range(ascending)} ${KINDS[kind].condition} order by a.key ${ascending ? 'asc' : 'desc'} limit 1
    ) as first
    from hookswitch_webhook w where w.account = ?
  ) select key from firsts where first is not null order by first ${ascending ? 'asc' : 'desc'} limit ? + 0`

interface AttemptRow {
  readonly webhook: number
  readonly atMs: number
  readonly variant: number
  readonly format: number
  readonly id: string
  readonly doc: string
  readonly request: string
  readonly event: number
  readonly eventId: string
  readonly hook: string
  readonly callId: string | null
  readonly body: string
}

const RECORD_SQL = `select a.webhook, a.at_ms as "atMs", a.variant, a.format, a.id, a.doc,
    r.request, e.position as event, e.id as "eventId", e.hook, e.call_id as "callId", e.body
  from hookswitch_attempt a
  join hookswitch_event e on e.position = coalesce(a.event, a.position)
  join hookswitch_request r on r.key = a.request
  where a.key = ?`

export function createAttemptQuery(
  context: EngineContext,
): (query: AttemptQuery) => readonly StoredAttempt[] {
  const { prepareQuery, accounts, endpoints, eventBodies } = context
  const findKeys = createKeyQuery(context)
  const read = prepareQuery<AttemptRow>(RECORD_SQL)

  function attemptOf(key: number): StoredAttempt {
    const row = read.get(key)!
    const record = recordOf(row, endpoints.byKey(row.webhook)!.webhook)
    return toStoredAttempt(record, key, { httpVerb: httpVerbIn(row.format), body: bodyOf(row, eventBodies) })
  }

  return (query) => {
    const account = accounts.find(query.accountId)
    const attempts = account === undefined ? [] : findKeys(account, query).map(attemptOf)
    return query.slim ? attempts.map(slimOf) : attempts
  }
}

/** Without what is large: to copy it between threads takes longer than to read it. */
function slimOf(attempt: StoredAttempt): StoredAttempt {
  const { requestHeaders: _, requestBody: __, responseHeaders: ___, responseBody: ____, ...rest } = attempt
  return rest
}

/** Reads the log of attempts onwards from a position. */
export function createAttemptLog(context: EngineContext): (query: AttemptLogQuery) => AttemptLogPage {
  const { prepareQuery, accounts, endpoints, eventBodies } = context
  const findKeys = createKeyQuery(context)
  const read = prepareQuery<AttemptRow>(RECORD_SQL)
  const last = prepareQuery<{ readonly position: number | null }>(
    'select max(key) as position from hookswitch_attempt',
  )
  return ({ accountIds, after, limit }) => {
    const position = last.get()?.position ?? 0
    if (after === undefined) return { attempts: [], position }
    const keys = [...new Set(accountIds)]
      .flatMap((accountId) => {
        const account = accounts.find(accountId)
        return account === undefined
          ? []
          : findKeys(account, { accountId, cursor: after, ascending: true, limit })
      })
      .sort((a, b) => a - b)
      .slice(0, limit)
    const attempts = keys.map((key) => {
      const row = read.get(key)!
      const call = partiesOf(bodyOf(row, eventBodies))
      const record = recordOf(row, endpoints.byKey(row.webhook)!.webhook)
      return { ...record, position: key, ...(call && { call }) }
    })
    return { attempts, position: keys.length < limit ? Math.max(position, after) : keys.at(-1)! }
  }
}

const bodyOf = ({ variant, event, body }: AttemptRow, { variantBody }: EventBodies): string =>
  variant === 0 ? body : variantBody(event, variant)

/** @param row joined with its request and its event */
export function recordOf(
  row: Pick<AttemptRow, 'id' | 'doc' | 'request' | 'atMs' | 'eventId' | 'hook' | 'callId'>,
  { id: webhookId, accountId }: Webhook,
): AttemptRecord {
  const { eventId, hook, callId } = row
  const deliveryId = wholeDeliveryId(row.id, eventId)
  const context = { accountId, webhookId, hook, eventId, deliveryId }
  return decodeRecord(row, callId === null ? context : { ...context, callId })
}

/** The last recorded success of each webhook, among its newest 1,000 records. */
export function createLastSuccessQuery({
  prepareQuery,
  endpoints,
}: EngineContext): (webhookIds: readonly string[]) => ReadonlyMap<string, number> {
  const lastOf = (records: number) =>
    prepareQuery<{ readonly atMs: number }>(`select at_ms as "atMs" from (
        select key, at_ms, doc from hookswitch_attempt indexed by hookswitch_attempt_webhook
        where webhook = ? and doc is not null order by key desc limit ${records}
      ) where substr(doc, 1, 2) = '[1' order by key desc limit 1`)
  // The newest record nearly always is a success; the longer query sorts a thousand.
  const [newest, last] = [lastOf(1), lastOf(1_000)]
  return (webhookIds) => {
    const found = new Map<string, number>()
    for (const webhookId of webhookIds) {
      const endpoint = endpoints.byId(webhookId)
      const row = endpoint && (newest.get(endpoint.key) ?? last.get(endpoint.key))
      if (row) found.set(webhookId, row.atMs)
    }
    return found
  }
}

interface KeyRow {
  readonly key: number
}

/** The record at which a part of a webhook's list ends. Parameters: webhook, cursor, rows of the part less one. */
const PART_OF_WEBHOOK_SQL = (ascending: boolean) => `select a.key
  from hookswitch_attempt a indexed by ${KINDS.all.index}
  where a.webhook = ? and a.doc is not null and a.key ${ascending ? '>' : '<'} ?
  order by a.key ${ascending ? 'asc' : 'desc'} limit 1 offset ? + 0`

/** The account's next record, with which its part begins: others may have millions before it. Parameters: cursor, account. */
const NEXT_OF_ACCOUNT_SQL = (ascending: boolean) => `select ${ascending ? 'min' : 'max'}((
    select a.key from hookswitch_attempt a indexed by ${KINDS.all.index}
    where a.webhook = w.key and a.doc is not null and a.key ${ascending ? '>' : '<'} ?
    order by a.key ${ascending ? 'asc' : 'desc'} limit 1
  )) as key from hookswitch_webhook w where w.account = ?`

/** To read the kind of an event takes so many times as long as to read an entry of an index. */
const KIND_COST = 50

/** Finds parts of the list of a webhook or an account. */
export function createAttemptPart({
  prepareQuery,
  prepareBoth,
  accounts,
  endpoints,
}: EngineContext): (query: PartQuery) => ListPart {
  const ofWebhook = prepareBoth<KeyRow>(PART_OF_WEBHOOK_SQL)
  const nextOfAccount = prepareBoth<{ readonly key: number | null }>(NEXT_OF_ACCOUNT_SQL)
  const lastKey = prepareQuery<{ readonly key: number | null }>(
    'select max(key) as key from hookswitch_attempt',
  )
  return ({ accountId, webhookId, hooks, ascending = false, ...query }) => {
    const { rows = hooks ? PART_ROWS / KIND_COST : PART_ROWS } = query
    const last = (lastKey.get()?.key ?? 0) + 1
    const bounds = ascending
      ? { cursor: query.cursor ?? 0, end: last }
      : { cursor: Math.min(query.cursor ?? last, last), end: 0 }
    if (webhookId === undefined) {
      const account = accounts.find(accountId)
      const next = account === undefined ? null : nextOfAccount(ascending).get(bounds.cursor, account)!.key
      // So many keys have no more rows.
      return partOf(bounds, next === null ? undefined : next + (rows - 1) * (ascending ? 1 : -1), ascending)
    }
    const webhook = endpoints.byId(webhookId)
    const end = webhook && ofWebhook(ascending).get(webhook.key, bounds.cursor, rows - 1)
    return partOf(bounds, end?.key, ascending)
  }
}

/** The range of a list, as the parameters of its query. */
type Range = readonly [
  cursor: number,
  end: number,
  fromMs: number,
  toMs: number,
  kinds: string | null,
  sameKinds: string | null,
  limit: number,
]

/** Returns the keys of the matching records, in the requested order. */
function createKeyQuery({
  prepareBoth,
  endpoints,
  rows,
}: EngineContext): (account: number, query: AttemptQuery) => readonly number[] {
  const inBothDirections = (sql: (ascending: boolean, kind: RecordKind) => string) => {
    const prepare = (kind: RecordKind) => prepareBoth<KeyRow>((ascending) => sql(ascending, kind))
    const [all, failures] = [prepare('all'), prepare('failures')]
    return ({ ascending = false, onlyFailures = false }: AttemptQuery) =>
      (onlyFailures ? failures : all)(ascending)
  }
  const ofWebhook = inBothDirections(OF_WEBHOOK_SQL)
  const ofCall = inBothDirections(OF_CALL_SQL)
  const firstRecords = inBothDirections(FIRST_RECORDS_SQL)
  const ofDelivery = inBothDirections(
    (ascending, kind) => `select a.key from hookswitch_attempt a
    where a.webhook = ? and a.position = ? and ${range(ascending)} ${KINDS[kind].condition} ${ordered(ascending)}`,
  )

  return (account, query) => {
    const { deliveryId, webhookId, callIds, ascending = false, limit } = query
    const { fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS } = query
    const { cursor = ascending ? -1 : MAX_POSITION, end = ascending ? MAX_POSITION : -1 } = query
    const kinds = query.hooks ? hookList(query.hooks) : null
    const range: Range = [cursor, end, fromMs, toMs, kinds, kinds, limit]
    const webhook = webhookId === undefined ? undefined : endpoints.byId(webhookId)
    if (webhookId !== undefined && webhook?.account !== account) return []

    function keysOfDelivery(id: string): readonly KeyRow[] {
      const row = rows.byId(id)?.row
      if (!row || endpoints.byKey(row.webhook)!.account !== account) return []
      if (webhook && webhook.key !== row.webhook) return []
      if (callIds && (row.callId === null || !callIds.includes(row.callId))) return []
      return ofDelivery(query).all(row.webhook, row.position, ...range)
    }
    /** Each list holds up to `limit` keys. */
    function keysInLists(): readonly KeyRow[] {
      if (callIds) {
        return [...new Set(callIds)].flatMap((callId) =>
          ofCall(query).all(hashKey(callId), callId, account, webhook?.key ?? null, ...range),
        )
      }
      // `limit` webhooks are enough: one whose first record comes after those of `limit` others adds nothing.
      const webhooks = webhook ? [webhook] : firstRecords(query).all(...range.slice(0, -1), account, limit)
      return webhooks.flatMap(({ key }) => ofWebhook(query).all(key, ...range))
    }

    const found = deliveryId === undefined ? keysInLists() : keysOfDelivery(deliveryId)
    return found
      .map(({ key }) => key)
      .sort((a, b) => (ascending ? a - b : b - a))
      .slice(0, limit)
  }
}

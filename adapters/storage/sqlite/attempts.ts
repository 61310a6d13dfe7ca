/** Queries attempt records: first finds their positions through an index, then reads only the selected records. */
import {
  type AttemptQuery,
  type AttemptRecord,
  type Delivery,
  type StoredAttempt,
  toStoredAttempt,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { prepareQuery } from './query.js'

/** Above every position. */
const MAX_POSITION = Number.MAX_SAFE_INTEGER
/** Beyond every timestamp, in both directions. */
const MAX_TIME_MS = 9e15

/** Records of one webhook, or of one call and a webhook (null: any webhook). */
export const POSITIONS_SQL = (by: 'webhook' | 'call', ascending: boolean) => `select position
  from hookswitch_attempt indexed by hookswitch_attempt_${by}
  where ${by} = ? and position ${ascending ? '>' : '<'} ? and at_ms >= ? and at_ms <= ?
    ${by === 'call' ? 'and webhook = coalesce(?, webhook)' : ''}
  order by position ${ascending ? 'asc' : 'desc'} limit ? + 0`

/** The webhooks of an account, ordered by their first matching record. */
export const FIRST_RECORDS_SQL = (ascending: boolean) => `with firsts as materialized (
    select w.key, (
      select position from hookswitch_attempt a indexed by hookswitch_attempt_webhook
      where a.webhook = w.key and position ${ascending ? '>' : '<'} ? and at_ms >= ? and at_ms <= ?
      order by position ${ascending ? 'asc' : 'desc'} limit 1
    ) as first
    from hookswitch_webhook w where w.account = ?
  ) select key from firsts where first is not null order by first ${ascending ? 'asc' : 'desc'} limit ? + 0`

interface AttemptRow {
  readonly doc: string
  readonly httpVerb: Delivery['httpVerb'] | null
  readonly variant: number
  readonly event: number
  readonly body: string
}

export function createAttemptQuery(
  context: EngineContext,
): (query: AttemptQuery) => readonly StoredAttempt[] {
  const { db, accounts, eventBodies } = context
  const findPositions = createPositionQuery(context)
  const read = prepareQuery<AttemptRow>(
    db,
    `select a.doc, d.http_verb as "httpVerb", d.variant, d.event, e.body
    from hookswitch_attempt a
    left join hookswitch_delivery d on d.position = a.delivery
    left join hookswitch_event e on e.key = d.event
    where a.position = ?`,
  )

  function attemptAt(position: number): StoredAttempt {
    const { doc, httpVerb, variant, event, body } = read.get(position)!
    const record = JSON.parse(doc) as AttemptRecord
    if (httpVerb === null) return toStoredAttempt(record, position, undefined)
    const sentBody = variant === 0 ? body : eventBodies.variantBody(event, variant)
    return toStoredAttempt(record, position, { httpVerb, body: sentBody })
  }

  return (query) => {
    const account = accounts.find(query.accountId)
    return account === undefined ? [] : findPositions(account, query).map(attemptAt)
  }
}

/** The last recorded success of each webhook, among its newest 1,000 records. */
export function createLastSuccessQuery({
  db,
  endpoints,
}: EngineContext): (webhookIds: readonly string[]) => ReadonlyMap<string, number> {
  // The text cannot occur inside a value: JSON escapes its quotes there.
  const last = prepareQuery<{ readonly atMs: number }>(
    db,
    `select at_ms as "atMs" from (
      select position, at_ms, doc from hookswitch_attempt indexed by hookswitch_attempt_webhook
      where webhook = ? order by position desc limit 1000
    ) where instr(doc, '"result":"success"') > 0 order by position desc limit 1`,
  )
  return (webhookIds) => {
    const found = new Map<string, number>()
    for (const webhookId of webhookIds) {
      const endpoint = endpoints.byId(webhookId)
      const row = endpoint && last.get(endpoint.key)
      if (row) found.set(webhookId, row.atMs)
    }
    return found
  }
}

interface PositionRow {
  readonly position: number
}

/** A record in the chain of a delivery's records; `before` is the position of the previous one. */
interface ChainRow {
  readonly before: number | null
  readonly atMs: number
}

/** The part of a query that bounds the positions. */
interface Bounds {
  readonly ascending: boolean
  readonly cursor: number
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
}

/** Returns the positions of the matching records, in the requested order. */
function createPositionQuery(
  context: EngineContext,
): (account: number, query: AttemptQuery) => readonly number[] {
  const { db, endpoints, phoneCalls, rows } = context
  const inBothDirections = <Row>(sql: (ascending: boolean) => string) => {
    const [up, down] = [prepareQuery<Row>(db, sql(true)), prepareQuery<Row>(db, sql(false))]
    return (ascending: boolean) => (ascending ? up : down)
  }
  const inWebhook = inBothDirections<PositionRow>((ascending) => POSITIONS_SQL('webhook', ascending))
  const inCall = inBothDirections<PositionRow>((ascending) => POSITIONS_SQL('call', ascending))
  const firstRecords = inBothDirections<{ readonly key: number }>(FIRST_RECORDS_SQL)
  const chained = prepareQuery<ChainRow>(
    db,
    'select before, at_ms as "atMs" from hookswitch_attempt where position = ?',
  )

  /** The records of a delivery are a linked list, newest first: they need no index. */
  function ofDelivery(account: number, query: AttemptQuery, bounds: Bounds): readonly number[] {
    const row = rows.byId(query.deliveryId!)
    const endpoint = row && endpoints.byKey(row.webhook)
    if (!endpoint || endpoint.account !== account) return []
    if (query.webhookId !== undefined && endpoint.webhook.id !== query.webhookId) return []
    const { callId } = row!.delivery
    if (query.callIds && (callId === undefined || !query.callIds.includes(callId))) return []
    const { ascending, cursor, fromMs, toMs, limit } = bounds
    const found: number[] = []
    for (let position = row!.lastAttempt; position !== null; ) {
      const record = chained.get(position)
      // The oldest records are pruned first, so everything before this one is gone too.
      if (!record) break
      const isBehindCursor = ascending ? position > cursor : position < cursor
      if (isBehindCursor && record.atMs >= fromMs && record.atMs <= toMs) found.push(position)
      position = record.before
    }
    return (ascending ? found.reverse() : found).slice(0, limit)
  }

  /** Merges lists that each hold up to `limit` positions. */
  function merge(
    parts: readonly (readonly PositionRow[])[],
    { ascending, limit }: Bounds,
  ): readonly number[] {
    const found = parts.flatMap((part) => part.map(({ position }) => position))
    return found.sort((a, b) => (ascending ? a - b : b - a)).slice(0, limit)
  }

  function ofCalls(
    account: number,
    callIds: readonly string[],
    webhook: number | undefined,
    bounds: Bounds,
  ): readonly number[] {
    const { ascending, cursor, fromMs, toMs, limit } = bounds
    const parts = [...new Set(callIds)].map((callId) => {
      const call = phoneCalls.find(account, callId)
      return call ? inCall(ascending).all(call.key, cursor, fromMs, toMs, webhook ?? null, limit) : []
    })
    return merge(parts, bounds)
  }

  /** `limit` webhooks are enough: a webhook whose first record comes after those of `limit` others adds nothing. */
  function ofWebhooks(webhooks: readonly { readonly key: number }[], bounds: Bounds): readonly number[] {
    const { ascending, cursor, fromMs, toMs, limit } = bounds
    const parts = webhooks.map(({ key }) => inWebhook(ascending).all(key, cursor, fromMs, toMs, limit))
    return merge(parts, bounds)
  }

  return (account, query) => {
    const { deliveryId, webhookId, callIds, ascending = false, limit } = query
    const { fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS } = query
    const cursor = query.cursor ?? (ascending ? -1 : MAX_POSITION)
    const bounds = { ascending, cursor, fromMs, toMs, limit }
    if (deliveryId !== undefined) return ofDelivery(account, query, bounds)
    const webhook = webhookId === undefined ? undefined : endpoints.byId(webhookId)
    if (webhookId !== undefined && webhook?.account !== account) return []
    if (callIds) return ofCalls(account, callIds, webhook?.key, bounds)
    if (webhook) return ofWebhooks([webhook], bounds)
    return ofWebhooks(firstRecords(ascending).all(cursor, fromMs, toMs, account, limit), bounds)
  }
}

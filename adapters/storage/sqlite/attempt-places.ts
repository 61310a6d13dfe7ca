import type { AttemptQuery } from 'hookswitch/store'
import { query } from './query.js'
import type { Tools } from './tools.js'

/** Above every position. */
const END = Number.MAX_SAFE_INTEGER
/** Before and after every time. */
const EVER = 9e15

/** Records of one webhook, or of one call: then of one webhook or, where that is null, of any. */
export const PLACES_SQL = (by: 'webhook' | 'call', ascending: boolean) => `select position
  from hookswitch_attempt indexed by hookswitch_attempt_${by}
  where ${by} = ? and position ${ascending ? '>' : '<'} ? and at_ms >= ? and at_ms <= ?
    ${by === 'call' ? 'and webhook = coalesce(?, webhook)' : ''}
  order by position ${ascending ? 'asc' : 'desc'} limit ? + 0`

/** The first record of each webhook of an account, those first that come first. */
export const FIRSTS_SQL = (ascending: boolean) => `with firsts as materialized (
    select w.key, (
      select position from hookswitch_attempt a indexed by hookswitch_attempt_webhook
      where a.webhook = w.key and position ${ascending ? '>' : '<'} ? and at_ms >= ? and at_ms <= ?
      order by position ${ascending ? 'asc' : 'desc'} limit 1
    ) as first
    from hookswitch_webhook w where w.account = ?
  ) select key from firsts where first is not null order by first ${ascending ? 'asc' : 'desc'} limit ? + 0`

interface Place {
  readonly position: number
}

/** A record of a delivery, and the one before it. */
interface ChainedPlace {
  readonly before: number | null
  readonly atMs: number
}

/** What of a query bounds the places: those behind the cursor, in a stretch of time, so many. */
interface Bounds {
  readonly ascending: boolean
  readonly cursor: number
  readonly fromMs: number
  readonly toMs: number
  readonly limit: number
}

/** The positions of the records that are asked for, in the order that is asked for. */
export function attemptPlaces(tools: Tools): (account: number, asked: AttemptQuery) => readonly number[] {
  const { db, endpoints, calls, rows } = tools
  const both = <Row>(sql: (ascending: boolean) => string) => {
    const [up, down] = [query<Row>(db, sql(true)), query<Row>(db, sql(false))]
    return (ascending: boolean) => (ascending ? up : down)
  }
  const inWebhook = both<Place>((ascending) => PLACES_SQL('webhook', ascending))
  const inCall = both<Place>((ascending) => PLACES_SQL('call', ascending))
  const firsts = both<{ readonly key: number }>(FIRSTS_SQL)
  const chained = query<ChainedPlace>(
    db,
    'select before, at_ms as "atMs" from hookswitch_attempt where position = ?',
  )

  /** A delivery's records hang together, newest first: they need no index. */
  function ofDelivery(account: number, asked: AttemptQuery, bounds: Bounds): readonly number[] {
    const row = rows.byId(asked.deliveryId!)
    const endpoint = row && endpoints.byKey(row.webhook)
    if (!endpoint || endpoint.account !== account) return []
    if (asked.webhookId !== undefined && endpoint.webhook.id !== asked.webhookId) return []
    const { callId } = row!.delivery
    if (asked.callIds && (callId === undefined || !asked.callIds.includes(callId))) return []
    const { ascending, cursor, fromMs, toMs, limit } = bounds
    const found: number[] = []
    for (let position = row!.lastAttempt; position !== null; ) {
      const place = chained.get(position)
      // The oldest go first: what is before it has gone too.
      if (!place) break
      const isBehind = ascending ? position > cursor : position < cursor
      if (isBehind && place.atMs >= fromMs && place.atMs <= toMs) found.push(position)
      position = place.before
    }
    return (ascending ? found.reverse() : found).slice(0, limit)
  }

  /** As many of each as could be shown, of which the first are. */
  function merged(parts: readonly (readonly Place[])[], { ascending, limit }: Bounds): readonly number[] {
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
      const call = calls.find(account, callId)
      return call ? inCall(ascending).all(call.key, cursor, fromMs, toMs, webhook ?? null, limit) : []
    })
    return merged(parts, bounds)
  }

  /** Webhooks whose first record comes behind those of `limit` others show nothing. */
  function ofWebhooks(webhooks: readonly { readonly key: number }[], bounds: Bounds): readonly number[] {
    const { ascending, cursor, fromMs, toMs, limit } = bounds
    const parts = webhooks.map(({ key }) => inWebhook(ascending).all(key, cursor, fromMs, toMs, limit))
    return merged(parts, bounds)
  }

  return (account, asked) => {
    const { deliveryId, webhookId, callIds, ascending = false, limit, fromMs = -EVER, toMs = EVER } = asked
    const cursor = asked.cursor ?? (ascending ? -1 : END)
    const bounds = { ascending, cursor, fromMs, toMs, limit }
    if (deliveryId !== undefined) return ofDelivery(account, asked, bounds)
    const webhook = webhookId === undefined ? undefined : endpoints.byId(webhookId)
    if (webhookId !== undefined && webhook?.account !== account) return []
    if (callIds) return ofCalls(account, callIds, webhook?.key, bounds)
    if (webhook) return ofWebhooks([webhook], bounds)
    return ofWebhooks(firsts(ascending).all(cursor, fromMs, toMs, account, limit), bounds)
  }
}

/** Reads deliveries for lists and details: those that wait and those that have ended, as one list. */
import {
  type DeliveryQuery,
  type DeliverySearch,
  type DeliveryState,
  deliveryBounds,
  dueMsForReaders,
  effectiveState,
  type FoundDeliveries,
  type ListPart,
  type PartQuery,
  partOf,
  type StoredDelivery,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { SqliteValue } from './driver.js'
import type { CachedEndpoint } from './endpoints.js'
import { hashKey, idHashKey } from './hash-key.js'
import type { Statements } from './query.js'
import { createReplayReader } from './replay-marks.js'
import { type DeliveryRow, ENDED_COLUMNS, type LocatedDelivery, WAITING_COLUMNS } from './rows.js'
import { CANCELLED, stateCode, WAITING } from './state-codes.js'

/** Above every position. */
export const MAX_POSITION = Number.MAX_SAFE_INTEGER
/** The epoch of a new webhook. */
const FIRST_EPOCH = 1
/** Beyond every timestamp, in both directions. */
export const MAX_TIME_MS = 9e15

/** A list of kinds of events, in which `instr` finds one between spaces. */
export const hookList = (hooks: readonly string[]): string => ` ${hooks.join(' ')} `

export type Table = 'waiting' | 'attempt'
const TABLES: readonly Table[] = ['waiting', 'attempt']

const columnsOf = (table: Table) => (table === 'waiting' ? WAITING_COLUMNS : ENDED_COLUMNS)
/** @param epoch the epoch of the webhook, as SQL */
export const hasState = (table: Table, epoch: string) =>
  table === 'waiting'
    ? `? & (case when d.epoch < ${epoch} then ${1 << CANCELLED} else ${1 << WAITING} end) <> 0`
    : 'd.state is not null and ? & (1 << d.state) <> 0'

/** The deliveries of a webhook. */
export const inTable = (table: Table) =>
  `from hookswitch_${table} d indexed by hookswitch_${table === 'waiting' ? 'waiting_webhook' : 'attempt_end'}`
/**
 * Parameters: webhook, cursor, last position, earliest and latest acceptance, whether replays match, mask of states, epoch if
 * they wait.
 */
const isMatch = (table: Table, ascending: boolean) =>
  `d.webhook = ? and d.position ${ascending ? '> ? and d.position <=' : '< ? and d.position >='} ? and d.accepted_ms >= ? and d.accepted_ms <= ?
    and (d.event is null or ?) and ${hasState(table, '?')}`

/** Parameters: those of `isMatch`, limit. */
const LIST_SQL = (table: Table, ascending: boolean) => `select ${columnsOf(table)}
  ${inTable(table)} join hookswitch_event e on e.position = coalesce(d.event, d.position)
  where ${isMatch(table, ascending)}
  order by d.position ${ascending ? 'asc' : 'desc'} limit ? + 0`

/** The row at which a part of a list ends. Parameters: webhook, cursor, rows of the part less one. @internal */
export const PART_SQL = (table: Table, ascending: boolean) => `select d.position ${inTable(table)}
  where d.webhook = ? and d.position ${ascending ? '>' : '<'} ? ${table === 'attempt' ? 'and d.state is not null' : ''}
  order by d.position ${ascending ? 'asc' : 'desc'} limit 1 offset ? + 0`

/** Rows of each kind that one part of a list has: they are read in an index alone, in 0.02 to 0.05 µs. */
export const PART_ROWS = 200_000

/** Rows of each kind that one search examines: a rare match must not hold up the writes of this connection. */
const MAX_EXAMINED = 20_000

/** Parameters: cursor, last position, earliest and latest acceptance, account, webhook, mask, limit. */
const SEARCH_SQL = (table: Table) => `select ${columnsOf(table)}
  from hookswitch_${table} d
  join hookswitch_event e on e.position = coalesce(d.event, d.position) join hookswitch_webhook w on w.key = d.webhook
  where d.position < ? and d.position >= ? and d.accepted_ms >= ? and d.accepted_ms <= ?
    and w.account = coalesce(?, w.account) and d.webhook = coalesce(?, d.webhook)
    and ${hasState(table, 'w.epoch')}
  order by d.position desc limit ? + 0`

/** Deliveries of a call, whichever account recorded it. Parameters: hash and id of the call, then as above. */
const SEARCH_CALL_SQL = (table: Table) => `select ${columnsOf(table)}
  from hookswitch_call c cross join hookswitch_event e on e.call = c.key
  cross join hookswitch_${table} d on (d.position = e.position or d.event = e.position)
  cross join hookswitch_webhook w on w.key = d.webhook
  where c.call_key = ? and c.call_id = ? and d.position < ? and d.position >= ? and d.accepted_ms >= ?
    and d.accepted_ms <= ? and w.account = coalesce(?, w.account) and d.webhook = coalesce(?, d.webhook)
    and ${hasState(table, 'w.epoch')}
  order by d.position desc limit ? + 0`

/** Whether a webhook of the account, or of any (null), has a delivery of the event `e`. */
const isReceived = (table: Table) => `exists (
    select 1 from hookswitch_${table} d cross join hookswitch_webhook w on w.key = d.webhook
    where (d.position = e.position or d.event = e.position) and w.account = coalesce(?, w.account)
  )`

/** Parameters: hash and id of the event, then for each table the account or null. */
const EVENT_SQL = `select e.account, e.hook, e.call_id as "callId" from hookswitch_event e
  where e.id_key = ? and e.id = ? and (${TABLES.map(isReceived).join(' or ')})`

/** Parameters: webhook, first and last position, epoch. @internal */
export const CANCELLED_SQL = `select 1 from hookswitch_waiting indexed by hookswitch_waiting_webhook
  where webhook = ? and position >= ? and position <= ? and epoch < ? limit 1`

/**
 * Returns a function that says which of these states deliveries have that wait in a range of positions, as a mask. Nearly always
 * none is cancelled by its epoch, and then the rows of a long backlog are not read.
 */
export function createWaitingMask({ prepareQuery }: Statements) {
  const anyCancelled = prepareQuery<object>(CANCELLED_SQL)
  return (mask: number, { key, webhook }: CachedEndpoint, first = 0, last = MAX_POSITION): number => {
    const cancelled = mask & (1 << CANCELLED)
    const isCancelled =
      cancelled !== 0 &&
      webhook.epoch > FIRST_EPOCH &&
      anyCancelled.get(key, first, last, webhook.epoch) !== undefined
    return (mask & (1 << WAITING)) | (isCancelled ? cancelled : 0)
  }
}

/** Reads deliveries with their effective state: a waiting delivery of an older epoch reads as cancelled. */
export function createDeliveryQueries(context: EngineContext) {
  const { prepareQuery, prepareBoth, accounts, endpoints, rows, state } = context
  const replaysOf = createReplayReader(context)
  const waitingMask = createWaitingMask(context)
  const listWaiting = prepareBoth<DeliveryRow>((ascending) => LIST_SQL('waiting', ascending))
  const listEnded = prepareBoth<DeliveryRow>((ascending) => LIST_SQL('attempt', ascending))
  const partEnds = TABLES.map((table) =>
    prepareBoth<{ readonly position: number }>((ascending) => PART_SQL(table, ascending)),
  )
  const search = TABLES.map((table) => prepareQuery<DeliveryRow>(SEARCH_SQL(table)))
  const searchCall = TABLES.map((table) => prepareQuery<DeliveryRow>(SEARCH_CALL_SQL(table)))
  const eventById = prepareQuery<{
    readonly account: number
    readonly hook: string
    readonly callId: string | null
  }>(EVENT_SQL)
  const lastExamined = TABLES.map((table) =>
    prepareQuery<{
      readonly position: number
    }>(`select position from hookswitch_${table} where position < ? order by position desc
      limit 1 offset ${MAX_EXAMINED - 1}`),
  )
  function storedDelivery({ row, delivery }: LocatedDelivery): StoredDelivery {
    const { position, eventSequence: sequence } = row
    const { epoch } = endpoints.byKey(row.webhook)!.webhook
    const read = effectiveState(delivery, epoch)
    const replays = replaysOf(row, epoch)
    const found = { ...read, position, ahead: 0, sequence, ...(replays && { replays }) }
    if (read.state !== 'waiting') return found
    // What is ahead of it in its lane, the queue of this process knows.
    const dueMs = dueMsForReaders(row.dueMs ?? 0, delivery.acceptedMs, 0)
    return dueMs === undefined ? found : { ...found, dueMs }
  }

  /** The parameters of a list of a webhook, of those that wait and those that ended; `undefined`: the account has no such webhook. */
  function selectionOf(query: DeliveryQuery) {
    const { accountId, webhookId, states } = query
    const { fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS, onlyOriginals = false } = query
    const endpoint = endpoints.byId(webhookId)
    if (!endpoint || endpoint.account !== accounts.find(accountId)) return undefined
    const { cursor, end } = deliveryBounds(query, state.aheadMs)
    const mask = maskOf(states)
    const rest = [fromMs, toMs, onlyOriginals ? 0 : 1] as const
    return {
      ended: [endpoint.key, cursor, end, ...rest, mask] as const,
      /** @param last the last position that the list needs. Default: all. Returns `undefined` if there are none */
      waiting(last = end) {
        const found = waitingMask(mask, endpoint, Math.min(cursor, last), Math.max(cursor, last))
        if (found === 0) return undefined
        return [endpoint.key, cursor, last, ...rest, found, endpoint.webhook.epoch] as const
      },
    }
  }

  /** Newest first. */
  const searchIn = (
    { callId }: DeliverySearch,
    range: readonly SqliteValue[],
    limit: number,
  ): readonly DeliveryRow[] => {
    const find = (queries: typeof search, events: readonly SqliteValue[]) =>
      queries.flatMap((kind) => kind.all(...events, ...range, limit)).sort((a, b) => b.position - a.position)
    return callId === undefined ? find(search, []) : find(searchCall, [hashKey(callId), callId])
  }

  return {
    delivery(accountId: string | undefined, deliveryId: string): StoredDelivery | undefined {
      const found = rows.byId(deliveryId)
      const isOfAccount = found && (accountId === undefined || found.delivery.accountId === accountId)
      return isOfAccount ? storedDelivery(found) : undefined
    },
    deliveries(query: DeliveryQuery): readonly StoredDelivery[] {
      const { ascending = false, limit } = query
      const selection = selectionOf(query)
      if (!selection) return []
      const ended = listEnded(ascending).all(...selection.ended, limit)
      const range = selection.waiting(ended[limit - 1]?.position)
      const waiting = range ? listWaiting(ascending).all(...range, limit) : []
      return [...waiting, ...ended]
        .sort((a, b) => (ascending ? a.position - b.position : b.position - a.position))
        .slice(0, limit)
        .map((row) => storedDelivery(rows.fromRow(row)))
    },
    /** A part of the deliveries of a webhook. */
    deliveryPart(query: PartQuery): ListPart {
      const { accountId, webhookId = '', ascending = false, rows: most = PART_ROWS } = query
      const bounds = deliveryBounds(query, state.aheadMs)
      const endpoint = endpoints.byId(webhookId)
      if (!endpoint || endpoint.account !== accounts.find(accountId)) return partOf(bounds, undefined)
      const ends = partEnds.flatMap(
        (nth) => nth(ascending).get(endpoint.key, bounds.cursor, most - 1)?.position ?? [],
      )
      return partOf(
        bounds,
        ends.length > 0 ? (ascending ? Math.min : Math.max)(...ends) : undefined,
        ascending,
      )
    },
    eventOf(accountId: string | undefined, eventId: string) {
      const account = accountId === undefined ? null : accounts.find(accountId)
      if (account === undefined) return undefined
      const found = eventById.get(idHashKey(eventId), eventId, ...TABLES.map(() => account))
      if (!found) return undefined
      const { account: eventAccount, hook, callId } = found
      return { accountId: accounts.idOf(eventAccount), hook, ...(callId !== null && { callId }) }
    },
    search(query: DeliverySearch): FoundDeliveries {
      const { accountId, webhookId, callId, states, limit } = query
      const { fromMs = -MAX_TIME_MS, toMs = MAX_TIME_MS } = query
      const { cursor, end: first } = deliveryBounds(query, state.aheadMs)
      const account = accountId === undefined ? null : accounts.find(accountId)
      const webhook = webhookId === undefined ? null : endpoints.byId(webhookId)?.key
      if (account === undefined || webhook === undefined) return { deliveries: [] }
      // A call has few deliveries, and an index.
      const examined = callId === undefined ? lastExamined : []
      const last = Math.max(first, ...examined.map((query) => query.get(cursor)?.position ?? -1))
      const range = [cursor, last, fromMs, toMs, account, webhook, maskOf(states)]
      const found = searchIn(query, range, limit)
      const end = found[limit - 1]?.position
      if (end === undefined) {
        const deliveries = found.map((row) => storedDelivery(rows.fromRow(row)))
        return last === first ? { deliveries } : { deliveries, cursor: last }
      }
      // Deliveries of one event have the same position, which is the cursor: none of them is left for the next page.
      const before = found.filter(({ position }) => position > end)
      const whole = [...before, ...searchIn(query, [end + 1, end, ...range.slice(2)], MAX_EXAMINED)]
      return { deliveries: whole.map((row) => storedDelivery(rows.fromRow(row))), cursor: end }
    },
  }
}

const ALL_CODES = 0xff

/** The codes of these states as bits; `undefined`: of all states. */
export function maskOf(states: readonly DeliveryState[] | undefined): number {
  if (!states) return ALL_CODES
  return states.map(stateCode).reduce((bits, code) => (code < 0 ? bits : bits | (1 << code)), 0)
}

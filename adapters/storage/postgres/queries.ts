/** Read-only queries about deliveries and attempts; pruning and erasure are included from their files. */
import {
  type AttemptQuery,
  type DeliveryQuery,
  type DeliverySearch,
  type DeliveryState,
  deliveryBounds,
  dueMsForReaders,
  effectiveState,
  firstPosition,
  laneKey,
  partiesOf,
  partOf,
  REQUEST_BODY_BYTES,
  type StoredDelivery,
  toStoredAttempt,
} from 'hookswitch/store'
import { int4Array, int8Array, textArray } from './binary-arrays.js'
import { lookupOf } from './delivery-id.js'
import { postgresErasure } from './erase.js'
import { postgresPruning } from './prune.js'
import { readableUpTo } from './read-horizon.js'
import {
  attemptOf,
  type DeliveryRow,
  deliveryOf,
  type ReplaysRow,
  replaysOf,
  stateNumberOf,
  verbOf,
} from './rows.js'
import type { Deps, Queries, Queue } from './session-deps.js'
import { type ActivityRow, activityStatement } from './sql/activity.js'
import {
  type AttemptLookup,
  attemptLogStatements,
  attemptStatement,
  type LastSuccessRow,
  lastSuccessStatement,
  type ReadAttemptRow,
} from './sql/attempts.js'
import { type AheadRow, type BodyRow, deliveryStatements, type SearchRow } from './sql/deliveries.js'
import { type EventRow, eventStatement, type LegRow, legsStatement } from './sql/legs.js'
import { listPartStatements, type PartRow } from './sql/list-parts.js'
import { type ReplayableRow, replayableStatement } from './sql/replayable.js'
import type { Statement } from './statement.js'
import { webhookReader } from './webhook-reader.js'

/** Ends other than success are rare and often queried: they have an index of their own. */
const UNDELIVERED = new Set(['exhausted', 'expired', 'cancelled', 'quarantined'])
/** Higher than every position. */
const NEWEST = Number.MAX_SAFE_INTEGER
/** Lower than every position, also those of converted rows. */
const OLDEST = Number.MIN_SAFE_INTEGER

/** Rows of a webhook that a part of a list has, of each kind: one takes 1 to 3 µs to read. */
const PART_ROWS = 5_000
/** The same for an account: each of its webhooks is looked up. */
const ACCOUNT_PART_ROWS = 20_000
/** The same for a search, of all webhooks together. */
const SEARCH_ROWS = 20_000
/** To read the kind of an event takes about so many times as long. */
const KIND_COST = 2.5

type FoundRow = DeliveryRow & ReplaysRow

/** The positions that a list of attempts can have. */
const attemptBounds = ({ ascending, cursor, end }: Pick<AttemptQuery, 'ascending' | 'cursor' | 'end'>) => ({
  cursor: cursor ?? (ascending ? OLDEST : NEWEST),
  end: end ?? (ascending ? NEWEST : OLDEST),
})

/** The numbers of states; null: any. */
const statesOf = ({ states }: Pick<DeliveryQuery, 'states'>) => states?.map(stateNumberOf) ?? null

/** The values of the statements `deliveryStatements.down` and its variants. */
function listValues(query: DeliveryQuery) {
  const { cursor, end } = deliveryBounds(query)
  const { limit, webhookId, accountId, onlyOriginals = false } = query
  const selection = [statesOf(query), limit, webhookId, accountId, onlyOriginals]
  return [cursor, ...rangeOf(query), ...selection, end]
}

export function postgresQueries(deps: Deps, queue: Pick<Queue, 'memory' | 'notify'>): Queries {
  const { session, schema } = deps
  const sql = deliveryStatements(schema)
  const [replayable, replayableDetailed] = [
    replayableStatement(schema, false),
    replayableStatement(schema, true),
  ]
  const legsOf = legsStatement(schema)
  const parts = listPartStatements(schema)
  const eventById = eventStatement(schema)
  const lastSuccesses = lastSuccessStatement(schema)
  const activity = activityStatement(schema)
  const attemptLog = attemptLogStatements(schema)
  const upTo = readableUpTo(session, schema)
  const attemptsBy = (ascending: boolean, onlyFailures: boolean): Record<AttemptLookup, Statement> => {
    const kind = { ascending, onlyFailures }
    return {
      webhook: attemptStatement(schema, 'webhook', kind),
      delivery: attemptStatement(schema, 'delivery', kind),
      calls: attemptStatement(schema, 'calls', kind),
      account: attemptStatement(schema, 'account', kind),
    }
  }
  const attemptsUp = { all: attemptsBy(true, false), failures: attemptsBy(true, true) }
  const attemptsDown = { all: attemptsBy(false, false), failures: attemptsBy(false, true) }

  /** Adds to deliveries how many of the lane must end first, and their replays. */
  async function toStored(rows: readonly FoundRow[]): Promise<StoredDelivery[]> {
    const waiting = rows.filter((row) => row.state === 0 && row.lane !== 0 && row.epoch >= row.webhookEpoch)
    const isOfCall = ({ eventAccountId, callId, lane }: DeliveryRow) =>
      callId !== null && laneKey(`${eventAccountId}/${callId}`) === lane
    const ahead = new Map<string, number>()
    for (const [statement, part] of [
      [sql.aheadOfCall, waiting.filter(isOfCall)],
      [sql.aheadOfReplay, waiting.filter((row) => row.replayOf !== null && !isOfCall(row))],
    ] as const) {
      if (part.length === 0) continue
      const values = [
        int4Array(part.map((row) => row.webhookKey)),
        int8Array(part.map((row) => row.position)),
        int8Array(part.map((row) => row.lane)),
        int4Array(part.map((row) => row.webhookEpoch)),
      ]
      if (statement === sql.aheadOfCall) {
        values.push(
          textArray(part.map((row) => row.callId)),
          textArray(part.map((row) => row.eventAccountId)),
        )
      }
      for (const row of await session.query<AheadRow>(statement, values)) ahead.set(nameOf(row), row.ahead)
    }
    return rows.map((row) => {
      const before = ahead.get(nameOf(row)) ?? 0
      const replays = replaysOf(row)
      const dueMs = row.state === 0 ? dueMsForReaders(row.dueMs ?? 0, row.acceptedMs, before) : undefined
      return {
        ...effectiveState(deliveryOf(row, dueMs), row.webhookEpoch),
        position: row.position,
        ahead: before,
        sequence: row.eventSequence,
        ...(replays && { replays }),
      }
    })
  }

  /** The deliveries of a search, and the position at which it stopped (`undefined`: there are no more). */
  async function find(query: DeliverySearch, limit: number) {
    const { accountId = null, webhookId = null, callId = null, states } = query
    const { cursor, end } = deliveryBounds(query)
    const values = [cursor, ...rangeOf(query), statesOf(query), limit]
    if (callId !== null) {
      const rows = await session.query<FoundRow>(sql.searchCall, [...values, callId, accountId, webhookId])
      return { rows, stoppedAt: undefined }
    }
    if (accountId === null && webhookId === null) {
      const rows = await session.query<SearchRow>(sql.searchAll, values)
      return { rows: rows.filter(({ id }) => id !== null), stoppedAt: rows[0]?.stoppedAt ?? undefined }
    }
    const [part] = await session.query<PartRow>(parts.search, [
      ...[accountId, webhookId, cursor],
      ...[SEARCH_ROWS, statesOf(query)],
    ])
    const { hasMore, ...bounds } = partOf({ cursor, end }, part!.nth ?? undefined)
    const statement = isUndelivered(states) ? sql.searchWebhooksUndelivered : sql.searchWebhooks
    const rows = await session.query<FoundRow>(statement, [...values, accountId, webhookId, null, bounds.end])
    return { rows, stoppedAt: hasMore ? bounds.end : undefined }
  }

  return {
    webhookOf: webhookReader(session, schema),
    async delivery(accountId, deliveryId) {
      const { fromEventId, toEventId, derived, whole } = lookupOf(deliveryId)
      const values = [fromEventId, toEventId, derived, whole, accountId ?? null]
      return (await toStored(await session.query<FoundRow>(sql.one, values)))[0]
    },
    async deliveries(query) {
      const { ascending = false, states } = query
      const [up, down] = isUndelivered(states) ? [sql.upUndelivered, sql.downUndelivered] : [sql.up, sql.down]
      const statement = ascending ? up : down
      if (ascending) await upTo('waiting')
      return toStored(await session.query<FoundRow>(statement, listValues(query)))
    },
    async listPart(query) {
      const { list, accountId, webhookId = null, ascending = false } = query
      const most = webhookId === null ? ACCOUNT_PART_ROWS : PART_ROWS
      const { rows = query.hooks ? most / KIND_COST : most } = query
      const statements =
        list === 'deliveries' ? parts.deliveries : webhookId === null ? parts.ofAccount : parts.ofWebhook
      const bounds = list === 'deliveries' ? deliveryBounds(query) : attemptBounds(query)
      const [row] = await session.query<PartRow>(statements[ascending ? 'up' : 'down'], [
        ...[accountId, webhookId, bounds.cursor],
        ...(list === 'deliveries' ? [rows, statesOf(query)] : [...rangeOf(query), rows]),
      ])
      const { first, last, nth } = row ?? { first: null, last: null, nth: null }
      return partOf({ cursor: first ?? bounds.cursor, end: last ?? bounds.end }, nth ?? undefined, ascending)
    },
    async countReplayable(query) {
      const { webhookIds, states, hooks = null, reason = null, includeRecovered } = query
      const range = [...rangeOf(query), includeRecovered, firstPosition(query.fromMs)]
      const values = [webhookIds, states.map(stateNumberOf), ...range]
      const isDetailed = hooks !== null || reason !== null
      const rows = isDetailed
        ? await session.query<ReplayableRow>(replayableDetailed, [...values, hooks, reason])
        : await session.query<ReplayableRow>(replayable, values)
      return new Map(rows.map(({ webhookId, count }) => [webhookId, count]))
    },
    async search(query) {
      const { rows, stoppedAt } = await find(query, query.limit)
      const deliveries = await toStored(rows)
      // Deliveries with the position of the last one belong to its page.
      const last = deliveries.at(-1)
      if (last && deliveries.length >= query.limit) {
        const next = await find({ ...query, cursor: last.position }, 1)
        const hasMore = next.rows.length > 0 || next.stoppedAt !== undefined
        return hasMore ? { deliveries, cursor: last.position } : { deliveries }
      }
      return stoppedAt === undefined ? { deliveries } : { deliveries, cursor: stoppedAt }
    },
    async eventOf(accountId, eventId) {
      const [row] = await session.query<EventRow>(eventById, [accountId ?? null, eventId])
      if (!row) return undefined
      const { callId, ...event } = row
      return { ...event, ...(callId !== null && { callId }) }
    },
    async lastSuccesses(webhookIds) {
      const rows = await session.query<LastSuccessRow>(lastSuccesses, [webhookIds])
      return new Map(rows.map(({ webhookId, atMs }) => [webhookId, atMs]))
    },
    async activity(webhookIds, maxPending) {
      const rows = await session.query<ActivityRow>(activity, [webhookIds, maxPending])
      return new Map(
        rows.map(({ webhookId, pending, oldestDueMs, oldestAcceptedMs, atMs, isSuccess, status, cause }) => [
          webhookId,
          {
            pending,
            ...(oldestDueMs !== null && { oldestDueMs }),
            ...(oldestAcceptedMs !== null && { oldestAcceptedMs }),
            ...(atMs !== null && {
              last: {
                atMs,
                result: isSuccess ? 'success' : 'failure',
                ...(status !== null && { status }),
                ...(cause !== null && { cause }),
              },
            }),
          },
        ]),
      )
    },
    async attempts(query) {
      const { accountId, webhookId = null, deliveryId, callIds = null, ascending = false } = query
      const lookup =
        deliveryId !== undefined ? 'delivery' : webhookId !== null ? 'webhook' : callIds ? 'calls' : 'account'
      const statements = (ascending ? attemptsUp : attemptsDown)[query.onlyFailures ? 'failures' : 'all']
      const last = ascending ? await upTo('attempt') : NEWEST
      const { fromEventId, toEventId, derived, whole } = lookupOf(deliveryId ?? '')
      const { cursor, end } = attemptBounds(query)
      const rows = await session.query<ReadAttemptRow>(statements[lookup], [
        accountId,
        cursor,
        ...rangeOf(query),
        query.limit,
        REQUEST_BODY_BYTES,
        ...[webhookId, callIds],
        ...[fromEventId, toEventId, derived, whole, end, query.hooks ?? null],
      ])
      return rows
        .filter(({ position }) => position <= last)
        .map((row) => {
          const { body, form, position } = row
          const sent = body === null ? undefined : { httpVerb: verbOf(form), body }
          return toStoredAttempt(attemptOf(row), position, sent)
        })
    },
    async eventBodies(keys) {
      const found: (string | undefined)[] = keys.map(() => undefined)
      if (keys.length === 0) return found
      const rows = await session.query<BodyRow>(sql.bodies, [
        textArray(keys.map(({ eventId }) => eventId)),
        int4Array(keys.map(({ variant }) => variant)),
      ])
      for (const { place, body } of rows) found[place - 1] = body
      return found
    },
    async attemptLog({ accountIds, after, limit }) {
      const [last] = await session.query<{ position: number }>(attemptLog.last, [])
      const position = last!.position
      if (after === undefined) return { attempts: [], position }
      const rows = await session.query<ReadAttemptRow>(attemptLog.log, [
        accountIds,
        after,
        limit,
        REQUEST_BODY_BYTES,
      ])
      const attempts = rows.map((row) => {
        const call = row.body === null ? undefined : partiesOf(row.body)
        return { ...attemptOf(row), position: row.position, ...(call && { call }) }
      })
      const end = attempts.at(-1)?.position ?? after
      return { attempts, position: attempts.length < limit ? Math.max(position, end) : end }
    },
    async legs(accountId, callId) {
      const rows = await session.query<LegRow>(legsOf, [accountId, callId])
      if (rows.length === 0) return []
      const others = rows.map((row) => (row.callId === callId ? row.other : row.callId))
      return [...new Set([callId, ...others.flatMap((other) => other ?? [])])]
    },
    ...postgresPruning(deps),
    ...postgresErasure(deps, queue),
  }
}

const nameOf = ({ webhookKey, position }: Pick<DeliveryRow, 'webhookKey' | 'position'>) =>
  `${webhookKey}/${position}`

function rangeOf({ fromMs, toMs }: Pick<DeliveryQuery, 'fromMs' | 'toMs'>): [number, number] {
  return [fromMs ?? Number.NEGATIVE_INFINITY, toMs ?? Number.POSITIVE_INFINITY]
}

function isUndelivered(states: readonly DeliveryState[] | undefined): boolean {
  return states !== undefined && states.length > 0 && states.every((state) => UNDELIVERED.has(state))
}

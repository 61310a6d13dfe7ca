/** Read-only queries about deliveries and attempts; pruning and erasure are included from their files. */
import {
  type DeliveryQuery,
  type DeliveryState,
  effectiveState,
  REQUEST_BODY_BYTES,
  type StoredDelivery,
  toStoredAttempt,
} from 'hookswitch/store'
import { postgresErasure } from './erase.js'
import { postgresPruning } from './prune.js'
import { readableUpTo } from './read-horizon.js'
import { attemptOf, deliveryOf, stateNumberOf, type WebhookRow, webhookOf } from './rows.js'
import type { Deps, Queries, Queue } from './session-deps.js'
import {
  type AttemptLookup,
  attemptStatement,
  type LastSuccessRow,
  lastSuccessStatement,
  type ReadAttemptRow,
} from './sql/attempts.js'
import { type AheadRow, deliveryStatements, type ReadDeliveryRow } from './sql/deliveries.js'
import { type LegRow, legsStatement } from './sql/legs.js'
import { webhookStatements } from './sql/webhooks.js'
import type { Statement } from './statement.js'

/** Failed states are rare and often queried: they have a separate index. */
const FAILED = new Set(['exhausted', 'expired', 'quarantined'])
/** Higher than every position. */
const NEWEST = Number.MAX_SAFE_INTEGER

export function postgresQueries(deps: Deps, queue: Pick<Queue, 'notify'>): Queries {
  const { session, schema } = deps
  const sql = deliveryStatements(schema)
  const { readAny } = webhookStatements(schema)
  const legsOf = legsStatement(schema)
  const lastSuccesses = lastSuccessStatement(schema)
  const upTo = readableUpTo(session, schema)
  const attemptsBy = (ascending: boolean): Record<AttemptLookup, Statement> => ({
    webhook: attemptStatement(schema, 'webhook', ascending),
    delivery: attemptStatement(schema, 'delivery', ascending),
    calls: attemptStatement(schema, 'calls', ascending),
    account: attemptStatement(schema, 'account', ascending),
  })
  const [upwards, downwards] = [attemptsBy(true), attemptsBy(false)]

  /** Adds to deliveries of one webhook how many of the lane must end first. */
  async function withAhead(rows: readonly ReadDeliveryRow[]): Promise<StoredDelivery[]> {
    const waitingBehind = rows.filter(
      (row) => row.state === 0 && row.dueMs === null && row.epoch >= row.webhookEpoch,
    )
    const ahead = new Map<number, number>()
    const [first] = waitingBehind
    if (first) {
      const lanes = [...new Set(waitingBehind.map(({ lane }) => lane))]
      const positions = waitingBehind.map(({ position }) => position)
      const values = [first.webhookKey, lanes, first.webhookEpoch, positions]
      for (const row of await session.query<AheadRow>(sql.ahead, values)) ahead.set(row.position, row.ahead)
    }
    return rows.map((row) => ({
      ...effectiveState(deliveryOf(row), row.webhookEpoch),
      position: row.position,
      ahead: ahead.get(row.position) ?? 0,
    }))
  }

  return {
    async webhookOf(webhookId) {
      const [row] = await session.query<WebhookRow>(readAny, [webhookId])
      return row && webhookOf(row)
    },
    async delivery(accountId, deliveryId) {
      return (await withAhead(await session.query<ReadDeliveryRow>(sql.one, [deliveryId, accountId])))[0]
    },
    async deliveries(query) {
      const { ascending = false, states, limit } = query
      const onlyFailed = isOnlyFailed(states)
      const statement = ascending
        ? onlyFailed
          ? sql.upFailed
          : sql.up
        : onlyFailed
          ? sql.downFailed
          : sql.down
      const last = ascending ? await upTo('delivery') : NEWEST
      const rows = await session.query<ReadDeliveryRow>(statement, [
        query.webhookId,
        query.accountId,
        query.cursor ?? (ascending ? -1 : NEWEST),
        ...rangeOf(query),
        states ? states.map(stateNumberOf) : null,
        limit,
      ])
      return withAhead(rows.filter(({ position }) => position <= last))
    },
    async search(query) {
      const { accountId = null, webhookId = null, callId = null, states, limit } = query
      const statement =
        callId !== null ? sql.searchCall : isOnlyFailed(states) ? sql.searchFailed : sql.search
      const found = await session.query<ReadDeliveryRow>(statement, [
        query.cursor ?? NEWEST,
        ...rangeOf(query),
        states ? states.map(stateNumberOf) : null,
        limit + 1,
        ...[accountId, webhookId, callId],
      ])
      const deliveries: StoredDelivery[] = []
      for (const rows of groupByWebhook(found.slice(0, limit))) deliveries.push(...(await withAhead(rows)))
      deliveries.sort((a, b) => b.position - a.position)
      return found.length > limit ? { deliveries, cursor: deliveries.at(-1)!.position } : { deliveries }
    },
    async lastSuccesses(webhookIds) {
      const rows = await session.query<LastSuccessRow>(lastSuccesses, [webhookIds])
      return new Map(rows.map(({ webhookId, atMs }) => [webhookId, atMs]))
    },
    async attempts(query) {
      const { accountId, webhookId = null, deliveryId = null, callIds = null, ascending = false } = query
      const lookup =
        webhookId !== null ? 'webhook' : deliveryId !== null ? 'delivery' : callIds ? 'calls' : 'account'
      const last = ascending ? await upTo('attempt') : NEWEST
      const rows = await session.query<ReadAttemptRow>((ascending ? upwards : downwards)[lookup], [
        accountId,
        query.cursor ?? (ascending ? -1 : NEWEST),
        ...rangeOf(query),
        query.limit,
        ...[webhookId, deliveryId, callIds, REQUEST_BODY_BYTES],
      ])
      return rows
        .filter(({ position }) => position <= last)
        .map((row) => {
          const { httpVerb, body } = row
          const sent = httpVerb === null || body === null ? undefined : { httpVerb, body }
          return toStoredAttempt(attemptOf(row), row.position, sent)
        })
    },
    async legs(accountId, callId) {
      const rows = await session.query<LegRow>(legsOf, [accountId, callId])
      return rows.length === 0 ? [] : [callId, ...rows.flatMap(({ other }) => other ?? [])]
    },
    async pending() {
      return (await session.query<{ pending: number }>(sql.pending, []))[0]!.pending
    },
    ...postgresPruning(deps),
    ...postgresErasure(deps, queue),
  }
}

function rangeOf({ fromMs, toMs }: Pick<DeliveryQuery, 'fromMs' | 'toMs'>): [number, number] {
  return [fromMs ?? Number.NEGATIVE_INFINITY, toMs ?? Number.POSITIVE_INFINITY]
}

function isOnlyFailed(states: readonly DeliveryState[] | undefined): boolean {
  return states !== undefined && states.length > 0 && states.every((state) => FAILED.has(state))
}

function groupByWebhook(rows: readonly ReadDeliveryRow[]): Iterable<readonly ReadDeliveryRow[]> {
  const groups = new Map<number, ReadDeliveryRow[]>()
  for (const row of rows) {
    const group = groups.get(row.webhookKey)
    if (group) group.push(row)
    else groups.set(row.webhookKey, [row])
  }
  return groups.values()
}

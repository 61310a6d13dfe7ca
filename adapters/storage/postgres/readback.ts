import {
  asRead,
  type DeliveryQuery,
  REQUEST_BODY_BYTES,
  readAttempt,
  type StoredDelivery,
} from 'hookswitch/store'
import { postgresErasure } from './erase.js'
import { postgresPruning } from './prune.js'
import { readableUpTo } from './readback-order.js'
import { attemptOf, deliveryOf, numberOf, type WebhookRow, webhookOf } from './rows.js'
import type { Statement } from './session.js'
import type { Doors, Queue, Readback } from './session-doors.js'
import { type AttemptWay, attemptStatement, type ReadAttemptRow } from './sql/attempts.js'
import { type AheadRow, deliveryStatements, type ReadDeliveryRow } from './sql/deliveries.js'
import { type LegRow, legsStatement } from './sql/legs.js'
import { webhookStatements } from './sql/webhooks.js'

/** States that are few and looked for: they have an index of their own. */
const FAILED = new Set(['exhausted', 'expired', 'quarantined'])
/** Above every position. */
const NEWEST = Number.MAX_SAFE_INTEGER

/** What is read of deliveries and attempts, what is pruned and erased. */
export function postgresReadback(doors: Doors, queue: Pick<Queue, 'tell'>): Readback {
  const { session, schema } = doors
  const sql = deliveryStatements(schema)
  const { readAny } = webhookStatements(schema)
  const legsOf = legsStatement(schema)
  const upTo = readableUpTo(session, schema)
  const attemptsBy = (ascending: boolean): Record<AttemptWay, Statement> => ({
    webhook: attemptStatement(schema, 'webhook', ascending),
    delivery: attemptStatement(schema, 'delivery', ascending),
    calls: attemptStatement(schema, 'calls', ascending),
    account: attemptStatement(schema, 'account', ascending),
  })
  const [upwards, downwards] = [attemptsBy(true), attemptsBy(false)]

  /** Of rows of one webhook: how many of its lane must end first. */
  async function stored(rows: readonly ReadDeliveryRow[]): Promise<StoredDelivery[]> {
    const behind = rows.filter(
      (row) => row.state === 0 && row.dueMs === null && row.epoch >= row.webhookEpoch,
    )
    const ahead = new Map<number, number>()
    const [first] = behind
    if (first) {
      const lanes = [...new Set(behind.map(({ lane }) => lane))]
      const positions = behind.map(({ position }) => position)
      const values = [first.webhookKey, lanes, first.webhookEpoch, positions]
      for (const row of await session.query<AheadRow>(sql.ahead, values)) ahead.set(row.position, row.ahead)
    }
    return rows.map((row) => ({
      ...asRead(deliveryOf(row), row.webhookEpoch),
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
      return (await stored(await session.query<ReadDeliveryRow>(sql.one, [deliveryId, accountId])))[0]
    },
    async deliveries(query) {
      const { ascending = false, states, limit } = query
      const failed = states !== undefined && states.length > 0 && states.every((state) => FAILED.has(state))
      const statement = ascending ? (failed ? sql.upFailed : sql.up) : failed ? sql.downFailed : sql.down
      const last = ascending ? await upTo('delivery') : NEWEST
      const rows = await session.query<ReadDeliveryRow>(statement, [
        query.webhookId,
        query.accountId,
        query.cursor ?? (ascending ? -1 : NEWEST),
        ...rangeOf(query),
        states ? states.map(numberOf) : null,
        limit,
      ])
      return stored(rows.filter(({ position }) => position <= last))
    },
    async attempts(query) {
      const { accountId, webhookId = null, deliveryId = null, callIds = null, ascending = false } = query
      const way =
        webhookId !== null ? 'webhook' : deliveryId !== null ? 'delivery' : callIds ? 'calls' : 'account'
      const last = ascending ? await upTo('attempt') : NEWEST
      const rows = await session.query<ReadAttemptRow>((ascending ? upwards : downwards)[way], [
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
          return readAttempt(attemptOf(row), row.position, sent)
        })
    },
    async legs(accountId, callId) {
      const rows = await session.query<LegRow>(legsOf, [accountId, callId])
      return rows.length === 0 ? [] : [callId, ...rows.flatMap(({ other }) => other ?? [])]
    },
    async pending() {
      return (await session.query<{ pending: number }>(sql.pending, []))[0]!.pending
    },
    ...postgresPruning(doors),
    ...postgresErasure(doors, queue),
  }
}

function rangeOf({ fromMs, toMs }: Pick<DeliveryQuery, 'fromMs' | 'toMs'>): [number, number] {
  return [fromMs ?? Number.NEGATIVE_INFINITY, toMs ?? Number.POSITIVE_INFINITY]
}

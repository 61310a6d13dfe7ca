/** Stores the call index: events that no webhook wanted, and the calls of numbers. */
import type { CallIndexStore, IndexedCall, UnwantedEvent } from 'hookswitch/store'
import { float8Array, int4Array, int8Array, textArray } from './binary-arrays.js'
import { removedOn } from './session.js'
import type { Deps } from './session-deps.js'
import { callIndexStatements } from './sql/call-index.js'

export function postgresCallIndex({ session, schema }: Pick<Deps, 'session' | 'schema'>): CallIndexStore {
  const sql = callIndexStatements(schema)
  const removedBy = removedOn(session)

  return {
    async write({ events, numbers }) {
      const texts = <Row>(rows: readonly Row[], ...names: (keyof Row)[]) =>
        names.map((name) => textArray(rows.map((row) => row[name] as string)))
      await session.transaction(async (tx) => {
        if (events.length > 0)
          await tx.query(sql.putEvents, [
            ...texts(events, 'id', 'accountId', 'callId', 'hook', 'source'),
            int4Array(events.map(({ sequence }) => sequence)),
            events.map(({ isInternalLeg }) => isInternalLeg),
            float8Array(events.map(({ timestampMs }) => timestampMs)),
            float8Array(events.map(({ acceptedMs }) => acceptedMs)),
          ])
        if (numbers.length > 0)
          await tx.query(sql.putNumbers, [
            int8Array(numbers.map(({ number }) => number)),
            ...texts(numbers, 'accountId', 'callId', 'source'),
            float8Array(numbers.map(({ acceptedMs }) => acceptedMs)),
            ...texts(numbers, 'eventId'),
          ])
      })
    },
    events({ accountId = null, callIds, eventId, limit }) {
      if (eventId !== undefined) return session.query<UnwantedEvent>(sql.eventById, [eventId, accountId])
      return callIds
        ? session.query<UnwantedEvent>(sql.eventsOfCalls, [callIds, accountId, limit])
        : session.query<UnwantedEvent>(sql.eventsOfAccount, [accountId, limit])
    },
    async calls({ accountId = null, numbers = [], callId, limit }) {
      const found: IndexedCall[] = []
      if (callId !== undefined)
        found.push(...(await session.query<IndexedCall>(sql.callsOfIds, [[callId], accountId, limit])))
      if (numbers.length > 0)
        found.push(
          ...(await (accountId === null
            ? session.query<IndexedCall>(sql.callsOfNumbers, [int8Array(numbers), limit])
            : session.query<IndexedCall>(sql.callsOfNumbersAndAccount, [
                int8Array(numbers),
                accountId,
                limit,
              ]))),
        )
      return found.sort((a, b) => b.acceptedMs - a.acceptedMs).slice(0, limit)
    },
    erase: ({ accountId, callIds }, limit) =>
      session.transaction(async (tx) => {
        await tx.query(sql.lock, [])
        let left = limit
        for (const statement of callIds ? sql.eraseCalls : sql.eraseAccount)
          if (left > 0)
            left -= await removedOn(tx)(statement, [accountId, ...(callIds ? [callIds] : []), left])
        return limit - left
      }),
    async excess(kind, keep, accountId) {
      const [row] = await (accountId === undefined
        ? session.query<{ readonly n: number }>(sql[kind].excess, [keep])
        : session.query<{ readonly n: number }>(sql[kind].excessOfAccount, [accountId, keep]))
      return row?.n ?? 0
    },
    trim: (kind, accountId, upTo, limit) => removedBy(sql[kind].trim, [accountId, upTo, limit]),
    async prune({ events, numbers }, limit) {
      return (
        (await removedBy(sql.events.prune, [events.beforeMs, events.upTo, limit])) +
        (await removedBy(sql.numbers.prune, [numbers.beforeMs, numbers.upTo, limit]))
      )
    },
  }
}

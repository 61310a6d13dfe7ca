/** Stores the open legs of event sources. */
import { isMentioned, type OpenLeg, type OpenLegStore } from 'hookswitch/store'
import { removedOn } from './session.js'
import type { Deps } from './session-deps.js'
import { openLegStatements } from './sql/open-legs.js'

export function postgresOpenLegs({ session, schema }: Pick<Deps, 'session' | 'schema'>): OpenLegStore {
  const sql = openLegStatements(schema)
  const removedBy = removedOn(session)

  return {
    write: (source, { put, remove }, now) =>
      session.transaction(async (tx) => {
        if (remove.length > 0) await tx.query(sql.remove, [source, remove])
        if (put.length === 0) return
        const columns = [
          put.map((leg) => leg.callId),
          put.map((leg) => leg.accountId),
          put.map((leg) => leg.state),
        ]
        await tx.query(sql.put, [source, now, ...columns])
      }),
    // Every call id is greater than the empty string.
    list: (source, after = '', limit) => session.query<OpenLeg>(sql.list, [source, after, limit]),
    erase: ({ accountId, callIds }, limit) =>
      callIds
        ? removedBy(sql.eraseCalls, [accountId, callIds, limit])
        : removedBy(sql.eraseAccount, [accountId, limit]),
    async mentions(accountId, text) {
      const found = await session.query<OpenLeg>(sql.candidates, [accountId, text])
      const matching = found.filter(
        ({ callId, state }) => isMentioned(callId, text) || isMentioned(state, text),
      )
      return [...new Set(matching.map(({ callId }) => callId))]
    },
    prune: (beforeMs, limit) => removedBy(sql.prune, [beforeMs, limit]),
  }
}

/** Stores the open legs of event sources. */
import { isMentioned, type OpenLeg, type OpenLegStore } from 'hookswitch/store'
import type { Statements } from './query.js'
import type { Synchronous } from './synchronous.js'

const COLUMNS = 'call_id as "callId", account_id as "accountId", state'

/** @param noteErased called when rows were erased, so that they are scrubbed from the file */
export function createOpenLegStore(
  { prepareQuery, prepareChange }: Statements,
  noteErased: () => void,
): Synchronous<OpenLegStore> {
  const put =
    prepareChange(`insert into hookswitch_open_leg (source, call_id, account_id, added_ms, state) values (?, ?, ?, ?, ?)
    on conflict (source, call_id) do update set account_id = excluded.account_id, state = excluded.state`)
  const remove = prepareChange('delete from hookswitch_open_leg where source = ? and call_id = ?')
  const list = prepareQuery<OpenLeg>(
    `select ${COLUMNS} from hookswitch_open_leg where source = ? and call_id > ? order by call_id limit ? + 0`,
  )
  // Not every build of SQLite supports `delete … limit`.
  const prepareErase = (where: string) =>
    prepareChange(`delete from hookswitch_open_leg where (source, call_id) in (
        select source, call_id from hookswitch_open_leg where ${where} limit ? + 0
      )`)
  const eraseCall = prepareErase('account_id = ? and call_id = ?')
  const eraseAccount = prepareErase('account_id = ?')
  const prune = prepareErase('added_ms < ?')
  const candidates = prepareQuery<OpenLeg>(`select ${COLUMNS} from hookswitch_open_leg
    where account_id = ? and (instr(state, ?) > 0 or instr(call_id, ?) > 0)`)

  return {
    write(source, changes, now) {
      for (const callId of changes.remove) remove(source, callId)
      for (const { callId, accountId, state } of changes.put) put(source, callId, accountId, now, state)
    },
    // Every call id is greater than the empty string. Rows of a driver have no prototype.
    list: (source, after = '', limit) => list.all(source, after, limit).map((row) => ({ ...row })),
    erase({ accountId, callIds }, limit) {
      let left = limit
      if (!callIds) left -= eraseAccount(accountId, left)
      for (const callId of callIds ?? []) left -= eraseCall(accountId, callId, left)
      if (left < limit) noteErased()
      return limit - left
    },
    mentions(accountId, text) {
      const found = candidates.all(accountId, text, text)
      const matching = found.filter(
        ({ callId, state }) => isMentioned(callId, text) || isMentioned(state, text),
      )
      return [...new Set(matching.map(({ callId }) => callId))]
    },
    prune: (beforeMs, limit) => prune(beforeMs, limit),
  }
}

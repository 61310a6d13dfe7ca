/** Stores replay jobs. */
import type { ReplayState, ReplayStore, StoredReplay } from 'hookswitch/store'
import { MAX_TIME_MS } from './queries.js'
import type { Statements } from './query.js'
import type { Synchronous } from './synchronous.js'

interface ReplayRow {
  readonly id: string
  readonly accountId: string | null
  readonly state: ReplayState
  readonly createdMs: number
  readonly endedMs: number | null
  readonly revision: number
  readonly doc: string
}

const SELECT = `select id, account_id as "accountId", state, created_ms as "createdMs", ended_ms as "endedMs", revision, doc
  from hookswitch_replay`

/** @param noteErased called when jobs of an account were erased, so that they are scrubbed from the file */
export function createReplayStore(
  { prepareQuery, prepareChange }: Statements,
  noteErased: () => void,
): Synchronous<ReplayStore> {
  const insert =
    prepareChange(`insert into hookswitch_replay (id, account_id, state, created_ms, ended_ms, revision, doc)
    values (?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`)
  const read = prepareQuery<ReplayRow>(`${SELECT} where id = ?`)
  const prepareList = (where: string, index: string) =>
    prepareQuery<ReplayRow>(`${SELECT} indexed by hookswitch_replay_${index} where ${where} and (created_ms, id) < (?, ?)
      order by created_ms desc, id desc limit ? + 0`)
  const [list, listOfAccount] = [prepareList('true', 'created'), prepareList('account_id = ?', 'account')]
  const unfinished =
    prepareQuery<ReplayRow>(`${SELECT} indexed by hookswitch_replay_unfinished where state in ('running', 'paused')
    order by created_ms, id limit ? + 0`)
  const replace = prepareChange(`update hookswitch_replay
    set account_id = ?, state = ?, created_ms = ?, ended_ms = ?, revision = ?, doc = ? where id = ? and revision = ?`)
  // Not every build of SQLite supports `delete … limit`.
  const prepareDelete = (where: string) =>
    prepareChange(
      `delete from hookswitch_replay where id in (select id from hookswitch_replay where ${where} limit ? + 0)`,
    )
  const prune = prepareDelete('ended_ms < ?')
  const erase = prepareDelete('account_id = ?')

  return {
    create({ id, accountId = null, state, createdMs, endedMs = null, revision, doc }) {
      insert(id, accountId, state, createdMs, endedMs, revision, doc)
    },
    read(id) {
      const row = read.get(id)
      return row && replayOf(row)
    },
    list({ accountId, after: { createdMs, id } = { createdMs: MAX_TIME_MS, id: '' }, limit }) {
      const rows =
        accountId === undefined
          ? list.all(createdMs, id, limit)
          : listOfAccount.all(accountId, createdMs, id, limit)
      return rows.map(replayOf)
    },
    unfinished: (limit) => unfinished.all(limit).map(replayOf),
    replace({ id, accountId = null, state, createdMs, endedMs = null, revision, doc }) {
      return replace(accountId, state, createdMs, endedMs, revision, doc, id, revision - 1) > 0
    },
    prune: (beforeMs, limit) => prune(beforeMs, limit),
    erase(accountId, limit) {
      const count = erase(accountId, limit)
      if (count > 0) noteErased()
      return count
    },
  }
}

function replayOf({ accountId, endedMs, ...row }: ReplayRow): StoredReplay {
  return { ...row, ...(accountId !== null && { accountId }), ...(endedMs !== null && { endedMs }) }
}

/** Stores replay jobs, each as a JSON document. */
import type { ReplayState, ReplayStore, StoredReplay } from 'hookswitch/store'
import { removedOn } from './session.js'
import type { Deps } from './session-deps.js'
import { type ReplayRow, replayStatements } from './sql/replays.js'
import type { Statement } from './statement.js'

export function postgresReplays({ session, schema }: Pick<Deps, 'session' | 'schema'>): ReplayStore {
  const sql = replayStatements(schema)
  const removedBy = removedOn(session)
  const readBy = async (statement: Statement, values: readonly unknown[]) =>
    (await session.query<ReplayRow>(statement, values)).map(replayOf)

  return {
    async create(replay) {
      await session.query(sql.create, valuesOf(replay))
    },
    async read(id) {
      return (await readBy(sql.read, [id]))[0]
    },
    list({ accountId, after, limit }) {
      const from = [limit, after?.createdMs ?? Number.POSITIVE_INFINITY, after?.id ?? '']
      return accountId === undefined
        ? readBy(sql.listAll, from)
        : readBy(sql.listOfAccount, [...from, accountId])
    },
    unfinished: (limit) => readBy(sql.unfinished, [limit]),
    async replace(replay) {
      return (await session.query(sql.replace, valuesOf(replay))).length > 0
    },
    prune: (beforeMs, limit) => removedBy(sql.prune, [beforeMs, limit]),
    erase: (accountId, limit) => removedBy(sql.erase, [accountId, limit]),
  }
}

/** The values of `replayStatements.create` and `replace`. */
function valuesOf({ id, accountId, state, createdMs, endedMs, revision, doc }: StoredReplay): unknown[] {
  return [id, accountId ?? null, state, createdMs, endedMs ?? null, revision, doc]
}

function replayOf({ id, accountId, state, createdMs, endedMs, revision, doc }: ReplayRow): StoredReplay {
  return {
    id,
    ...(accountId !== null && { accountId }),
    state: state as ReplayState,
    createdMs,
    ...(endedMs !== null && { endedMs }),
    revision,
    doc,
  }
}

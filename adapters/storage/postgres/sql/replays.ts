import type { Statement } from '../statement.js'

export interface ReplayRow {
  readonly id: string
  readonly accountId: string | null
  readonly state: string
  readonly createdMs: number
  readonly endedMs: number | null
  readonly revision: number
  readonly doc: string
}

const COLUMNS = `id, account_id as "accountId", state, created_ms as "createdMs", ended_ms as "endedMs", revision, doc`

export const replayStatements = (s: string) => {
  /** Newest first, behind the time `$2` and the id `$3`; at most `$1`. */
  const list = (name: string, condition: string): Statement => ({
    name,
    text: `select ${COLUMNS} from ${s}.replay where (created_ms, id) < ($2, $3) ${condition}
      order by created_ms desc, id desc limit $1`,
  })
  const remove = (rows: string) => `with gone as (
      delete from ${s}.replay where id = any (array(${rows})) returning 1
    ) select count(*) as removed from gone`
  return {
    create: {
      name: 'replay_create',
      text: `insert into ${s}.replay (id, account_id, state, created_ms, ended_ms, revision, doc)
        values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`,
    },
    read: { name: 'replay_read', text: `select ${COLUMNS} from ${s}.replay where id = $1` },
    listAll: list('replay_list', ''),
    listOfAccount: list('replay_list_account', 'and account_id = $4'),
    unfinished: {
      name: 'replay_unfinished',
      text: `select ${COLUMNS} from ${s}.replay where state in ('running', 'paused') order by created_ms, id limit $1`,
    },
    /** Everything but the id, of a job whose revision is one less than `$6`. */
    replace: {
      name: 'replay_replace',
      text: `update ${s}.replay
        set account_id = $2, state = $3, created_ms = $4, ended_ms = $5, revision = $6::int, doc = $7
        where id = $1 and revision = $6::int - 1 returning 1`,
    },
    prune: {
      name: 'replay_prune',
      text: remove(
        `select id from ${s}.replay where ended_ms < $1 order by ended_ms limit $2 for update skip locked`,
      ),
    },
    erase: {
      name: 'replay_erase',
      text: remove(
        `select id from ${s}.replay where account_id = $1 order by created_ms, id limit $2 for update`,
      ),
    },
  } satisfies Record<string, Statement>
}

import type { Statement } from '../statement.js'

/** Keys of advisory locks with one number that sessions of this database hold: a `with` query. */
export const heldKeys = `held as materialized (
    select (classid::bigint << 32) | objid::bigint as key from pg_locks
    where locktype = 'advisory' and objsubid = 1 and granted
      and database = (select oid from pg_database where datname = current_database())
  )`

/** Whether the session that has stored its key in the row `k` is gone. Sessions of an earlier run of the server say nothing. */
export const isGone = `(k.server_start = pg_postmaster_start_time() and k.key not in (select key from held))`

/** Stores a key and the identity of a process for the nodes with the fences that `fences` selects, unless the key is null. */
export const storeKey = (s: string, fences: string, key: string, process: string) =>
  `insert into ${s}.node_session (fence, key, process, server_start)
    select f.fence, ${key}::bigint, ${process}::text, pg_postmaster_start_time()
    from (${fences}) f (fence) where ${key}::bigint is not null
    on conflict (fence) do update
      set key = excluded.key, process = excluded.process, server_start = excluded.server_start`

export const sessionKeyStatements = (s: string) =>
  ({
    /** Takes the lock on the key `$1` for this session. */
    take: { name: 'session_key_take', text: 'select pg_try_advisory_lock($1::bigint) as locked' },
    release: { name: 'session_key_release', text: 'select pg_advisory_unlock($1::bigint) as locked' },
    /** Stores the key `$2` of the nodes with the fences `$1`, whose process is `$3`; null: removes theirs. */
    store: {
      name: 'session_key_store',
      text: `with removed as (
          delete from ${s}.node_session where fence = any ($1::int[]) and $2::bigint is null
        )
        ${storeKey(s, `select fence from ${s}.node where fence = any ($1::int[])`, '$2', '$3')}`,
    },
  }) satisfies Record<string, Statement>

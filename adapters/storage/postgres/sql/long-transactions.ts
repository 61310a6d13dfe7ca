import type { Statement } from '../statement.js'

export interface OldestSnapshotRow {
  readonly pid: number
  readonly application: string
  readonly seconds: number
}

/** The session of this database with the oldest snapshot, if that is older than `$1` seconds. */
export const OLDEST_SNAPSHOT: Statement = {
  name: 'old_snapshots',
  text: `select pid, coalesce(application_name, '') as application,
      floor(extract(epoch from clock_timestamp() - xact_start))::float8 as seconds
    from pg_stat_activity
    where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()
      and backend_type = 'client backend' and xact_start < clock_timestamp() - make_interval(secs => $1)
    order by xact_start limit 1`,
}

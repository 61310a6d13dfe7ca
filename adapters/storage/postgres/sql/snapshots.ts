import type { Statement } from '../session.js'

export interface OldSnapshotRow {
  readonly pid: number
  readonly application: string
  readonly seconds: number
}

/** The session of this database that has held its snapshot longest, if longer than `$1` seconds. */
export const OLD_SNAPSHOTS: Statement = {
  name: 'old_snapshots',
  text: `select pid, coalesce(application_name, '') as application,
      floor(extract(epoch from clock_timestamp() - xact_start))::float8 as seconds
    from pg_stat_activity
    where datname = current_database() and backend_xmin is not null and pid <> pg_backend_pid()
      and backend_type = 'client backend' and xact_start < clock_timestamp() - make_interval(secs => $1)
    order by xact_start limit 1`,
}

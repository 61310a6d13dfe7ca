import type { Statement } from '../statement.js'

export const migrationStatements = (s: string) =>
  ({
    server: {
      name: 'server',
      text: `select current_setting('server_version_num')::int as version,
        current_setting('server_encoding') as encoding`,
    },
    lock: {
      name: 'migration_lock',
      text: `select pg_advisory_xact_lock(hashtextextended($1, 0)) is null as held`,
    },
    schema: { name: 'migration_schema', text: 'select 1 from pg_namespace where nspname = $1' },
    /** `ours`: the schema has our list of migrations. */
    found: {
      name: 'migration_found',
      text: `select coalesce(bool_or(c.relname = 'hookswitch_migration'), false) as ours, count(*) as tables
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')`,
    },
    createSchema: { name: '', text: `create schema ${s}` },
    createVersions: {
      name: '',
      text: `create table ${s}.hookswitch_migration (
        version integer primary key,
        applied_at timestamptz not null default clock_timestamp()
      )`,
    },
    version: {
      name: 'migration_version',
      text: `select coalesce(max(version), 0) as version from ${s}.hookswitch_migration`,
    },
    /** Nodes whose lease has not ended, in the store's time. */
    livingNodes: {
      name: '',
      text: `select count(*) as nodes from ${s}.node
        where alive_until_ms > extract(epoch from clock_timestamp()) * 1000
          + coalesce((select max(offset_ms) from ${s}.store_clock), 0)`,
    },
    record: { name: 'migration_record', text: `insert into ${s}.hookswitch_migration (version) values ($1)` },
    tables: {
      name: 'migration_tables',
      text: `select quote_ident(c.relname) as "table" from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind = 'r' order by 1`,
    },
  }) satisfies Record<string, Statement>

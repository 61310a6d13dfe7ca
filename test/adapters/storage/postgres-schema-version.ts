/** Schemas of earlier versions. */
import { MIGRATIONS } from '../../../adapters/storage/postgres/migrations.js'
import type { PgServer } from './pg-cluster.js'

/** Creates a schema as of this version. `rows`: SQL that fills it; the schema is in the search path. */
export async function createSchemaAt(
  server: PgServer,
  schema: string,
  version: number,
  rows: string,
): Promise<void> {
  const steps = MIGRATIONS.filter((migration) => migration.version <= version).map(
    (migration) =>
      `${migration.text(`"${schema}"`)}; insert into hookswitch_migration values (${migration.version});`,
  )
  await server.sql(`create schema "${schema}"; set search_path = "${schema}";
    create table hookswitch_migration (version integer primary key, applied_at timestamptz default now());
    ${steps.join('\n')}
    ${rows}`)
}

/** A value as an SQL literal. */
export const literal = (value: unknown): string =>
  `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`

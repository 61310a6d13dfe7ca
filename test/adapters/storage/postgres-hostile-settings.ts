/** Defaults of a database that change what statements mean, or whether they are carried out. */
import type { PgServer } from './pg-cluster.js'

export const HOSTILE_SETTINGS: Readonly<Record<string, string>> = {
  array_nulls: 'off',
  backslash_quote: 'on',
  bytea_output: 'escape',
  client_encoding: 'LATIN1',
  DateStyle: 'SQL, DMY',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '-15',
  IntervalStyle: 'sql_standard',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: 'nowhere',
  standard_conforming_strings: 'off',
  TimeZone: 'Asia/Kathmandu',
  transform_null_equals: 'on',
  xmloption: 'document',
}

/** Makes these the defaults of the database of this server, for connections that are opened from now on. */
export async function useHostileSettings(
  server: PgServer,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const [{ name }] = (await server.sql('select quote_ident(current_database()) as name')) as [
    { name: string },
  ]
  for (const [setting, value] of Object.entries(settings)) {
    await server.sql(`alter database ${name} set ${setting} = '${value}'`)
  }
}

/** The connection string of connections that have these defaults. */
export function withDefaults(url: string, settings: Readonly<Record<string, string>>): string {
  const options = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`,
  )
  const changed = new URL(url)
  changed.searchParams.set('options', options.join(' '))
  return changed.href
}

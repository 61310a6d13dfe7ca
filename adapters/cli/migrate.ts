/** `hookswitch migrate`: moves all data of a SQLite file into a PostgreSQL database. */

import { existsSync } from 'node:fs'
import { printableLine } from 'hookswitch/adapter'
import { auditedResult } from './audit-log.js'
import { problemWithFlag } from './open-store.js'
import { readFlags, wrongFlag } from './read-flags.js'
import { type Environment, readSecretVariable } from './secret-variables.js'
import type { ServeIo } from './serve.js'
import {
  type FileChoice,
  fileChoice,
  type PostgresChoice,
  postgresChoice,
  targetOf,
} from './store-options.js'

/** The flags of `hookswitch migrate`. */
export interface MigrateFlags {
  readonly from: FileChoice
  /** Absent with `--undo`. */
  readonly to?: PostgresChoice
}

/** @throws `InvalidOption`; its `field` is the flag as written */
export function parseMigrateFlags(argv: readonly string[], env: Environment): MigrateFlags {
  const { has, value } = readFlags('migrate', argv, [
    { name: 'undo' },
    { name: 'from', value: 'FILE' },
    { name: 'to', value: 'URL' },
    { name: 'schema', value: 'NAME' },
  ])
  const [path, to, schema] = [value('from'), value('to'), value('schema')]
  if (path === undefined) throw wrongFlag('--from', 'is required: the file to migrate')
  const from = fileChoice('--from', path)
  if (has('undo')) {
    if (to !== undefined || schema !== undefined) throw wrongFlag('--undo', 'takes only --from')
    return { from }
  }
  const given =
    to === undefined ? readSecretVariable(env, 'HOOKSWITCH_POSTGRES') : { name: '--to', value: to }
  if (given === undefined) {
    throw wrongFlag('--to', 'is required (or HOOKSWITCH_POSTGRES): the URL of the database')
  }
  return { from, to: postgresChoice(given.name, given.value, schema) }
}

/**
 * Migrates or undoes a migration, prints progress to `io.stderr` and one line of JSON to `io.stdout`.
 *
 * @param argv the flags, without program and command
 * @throws `InvalidOption`, `StoreUnavailable`, `StoreCorrupt`; the message is one sentence that begins with the flag
 */
export async function migrate(argv: readonly string[], io: ServeIo): Promise<void> {
  const { from, to } = parseMigrateFlags(argv, io.env)
  const report = (sentence: string) => io.stderr.write(`hookswitch: ${printableLine(sentence)}\n`)
  const print = (line: string) => io.stdout.write(line)
  if (to) await migrateFile(from, to, report, print)
  else await undo(from, report, print)
}

async function migrateFile(
  { path }: FileChoice,
  to: PostgresChoice,
  report: (sentence: string) => void,
  print: (line: string) => void,
): Promise<void> {
  const { connectionString, schema = 'hookswitch' } = to
  const { sqliteExportSource } = await import('hookswitch/sqlite')
  const { migrateToPostgres } = await import('hookswitch/postgres')
  const source = withFlag('--from', () => sqliteExportSource({ path }))
  const { name } = source
  try {
    const rows = await migrateToPostgres(source, { connectionString, schema }, progress(report))
    const key = `${name}.key`
    const secret = existsSync(key) ? `the contents of ${key}` : `the secret of ${name}`
    report(`${name} is no longer in use: its data is in the schema ${schema}`)
    report(
      `set HOOKSWITCH_SECRET of every node to ${secret}: without it API keys and signing secrets cannot be decrypted`,
    )
    print(auditedResult('migrate', { moved: true, from: name, to: { ...targetOf(to), schema }, rows }))
  } catch (thrown) {
    const isFileError = thrown instanceof Error && thrown.message.startsWith(name)
    throw problemWithFlag(isFileError ? '--from' : to.flag, thrown)
  } finally {
    source.close()
  }
}

async function undo(
  { path }: FileChoice,
  report: (sentence: string) => void,
  print: (line: string) => void,
): Promise<void> {
  const { undoMigration } = await import('hookswitch/sqlite')
  const database = withFlag('--from', () => undoMigration({ path }))
  if (database === undefined) report(`${path} was not migrated: nothing changed`)
  else report(`${path} is in use again: never start a node on ${database}, it would send the same deliveries`)
  const result = { undone: database !== undefined, from: path }
  print(database === undefined ? `${JSON.stringify(result)}\n` : auditedResult('undoMigration', result))
}

/** Rows between two lines of progress. */
const REPORT_EVERY = 50_000

/** Reports each kind of rows, and every 50,000 rows of a kind. */
function progress(report: (sentence: string) => void): (counts: Readonly<Record<string, number>>) => void {
  let before: readonly [kind: string, rows: number] = ['', 0]
  return (counts) => {
    const [kind, rows] = Object.entries(counts).at(-1)!
    const label = kind.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
    if (kind !== before[0]) report(`writing ${label}`)
    else if (Math.floor(rows / REPORT_EVERY) > Math.floor(before[1] / REPORT_EVERY))
      report(`${rows} ${label} written`)
    before = [kind, rows]
  }
}

/** Runs `work`; errors name the flag. */
function withFlag<Result>(flag: string, work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    throw problemWithFlag(flag, thrown)
  }
}

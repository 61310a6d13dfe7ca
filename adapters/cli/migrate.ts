/** `hookswitch migrate`: everything in a file goes into a PostgreSQL database, for good. */
import { existsSync } from 'node:fs'
import { problemUnder } from './open-store.js'
import { readFlags, wrongFlag } from './read-flags.js'
import type { ServeIo } from './serve.js'
import { type FileChoice, fileChoice, type PostgresChoice, placeOf, postgresChoice } from './store-choice.js'

/** What `hookswitch migrate` was asked for. */
export interface MigrateFlags {
  readonly from: FileChoice
  /** Absent: the file is brought back into use. */
  readonly to?: PostgresChoice
}

/** @throws `InvalidOption`; its `field` is the flag as it was written */
export function parseMigrateFlags(argv: readonly string[], env: ServeIo['env']): MigrateFlags {
  const { has, value } = readFlags('migrate', argv, {
    switches: ['undo'],
    lists: [],
    values: ['from', 'to', 'schema'],
  })
  const [path, to, schema] = [value('from'), value('to'), value('schema')]
  if (path === undefined) throw wrongFlag('--from', 'is needed: the file that is moved')
  const from = fileChoice('--from', path)
  if (has('undo')) {
    if (to !== undefined || schema !== undefined) throw wrongFlag('--undo', 'goes with --from alone')
    return { from }
  }
  const url = to ?? env.HOOKSWITCH_POSTGRES
  if (url === undefined) throw wrongFlag('--to', 'is needed, or HOOKSWITCH_POSTGRES: the URL of a database')
  return { from, to: postgresChoice(to === undefined ? 'HOOKSWITCH_POSTGRES' : '--to', url, schema) }
}

/**
 * Moves, tells of it on `io.stderr`, and prints one line of JSON to `io.stdout`.
 *
 * @param argv the flags, without program and command
 * @throws `InvalidOption`, `StoreUnavailable`, `StoreCorrupt`; the message is one sentence that begins with the flag
 */
export async function migrate(argv: readonly string[], io: ServeIo): Promise<void> {
  const { from, to } = parseMigrateFlags(argv, io.env)
  const say = (sentence: string) => io.stderr.write(`hookswitch: ${sentence}\n`)
  const print = (line: object) => io.stdout.write(`${JSON.stringify(line)}\n`)
  if (to) await move(from, to, say, print)
  else await undo(from, say, print)
}

async function move(
  { path }: FileChoice,
  to: PostgresChoice,
  say: (sentence: string) => void,
  print: (line: object) => void,
): Promise<void> {
  const { connectionString, schema = 'hookswitch' } = to
  const { sqliteSource } = await import('hookswitch/sqlite')
  const { moveToPostgres } = await import('hookswitch/postgres')
  const source = under('--from', () => sqliteSource({ path }))
  const { name } = source
  try {
    const rows = await moveToPostgres(source, { connectionString, schema }, progress(say))
    const key = `${name}.key`
    const secret = existsSync(key) ? `what is in ${key}` : `the one that ${name} was used with`
    say(`${name} is in use no more: its contents are in the schema ${schema}`)
    say(
      `give every node ${secret} as HOOKSWITCH_SECRET, without which no API key or signing secret can be read`,
    )
    print({ moved: true, from: name, to: { ...placeOf(to), schema }, rows })
  } catch (thrown) {
    const isOfFile = thrown instanceof Error && thrown.message.startsWith(name)
    throw problemUnder(isOfFile ? '--from' : to.flag, thrown)
  } finally {
    source.close()
  }
}

async function undo(
  { path }: FileChoice,
  say: (sentence: string) => void,
  print: (line: object) => void,
): Promise<void> {
  const { undoMove } = await import('hookswitch/sqlite')
  const was = under('--from', () => undoMove({ path }))
  if (was === undefined) say(`${path} was not moved: nothing is changed`)
  else say(`${path} is in use again: start no node on ${was} any more, which would send what is sent here`)
  print({ undone: was !== undefined, from: path })
}

/** Rows between two lines. */
const EACH = 50_000

/** A line for each kind of rows, and for each 50,000 of one. */
function progress(say: (sentence: string) => void): (counts: Readonly<Record<string, number>>) => void {
  let before: readonly [kind: string, rows: number] = ['', 0]
  return (counts) => {
    const [kind, rows] = Object.entries(counts).at(-1)!
    const words = kind.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
    if (kind !== before[0]) say(`writing ${words}`)
    else if (Math.floor(rows / EACH) > Math.floor(before[1] / EACH)) say(`${rows} ${words} are written`)
    before = [kind, rows]
  }
}

/** What a file says, under its flag. */
function under<Result>(flag: string, work: () => Result): Result {
  try {
    return work()
  } catch (thrown) {
    throw problemUnder(flag, thrown)
  }
}

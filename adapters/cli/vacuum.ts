/** `hookswitch vacuum`: gives the free space inside a SQLite file back to the disk. */

import { printableLine } from 'hookswitch/adapter'
import { problemWithFlag } from './open-store.js'
import { readFlags, wrongFlag } from './read-flags.js'
import { type Environment, readSecretVariable } from './secret-variables.js'
import type { ServeIo } from './serve.js'
import { DEFAULT_PATH, type FileChoice, fileChoice } from './store-options.js'

const NOT_POSTGRES =
  'is a database of PostgreSQL, whose autovacuum reuses the space of removed rows: this command is for SQLite files'

/** @throws `InvalidOption`; its `field` is the flag as written */
export function parseVacuumFlags(argv: readonly string[], env: Environment): FileChoice {
  const { value } = readFlags('vacuum', argv, [{ name: 'data', value: 'FILE' }], {
    refusals: { postgres: NOT_POSTGRES },
  })
  const data = value('data')
  const postgres = data === undefined ? readSecretVariable(env, 'HOOKSWITCH_POSTGRES') : undefined
  if (postgres) throw wrongFlag(postgres.name, NOT_POSTGRES)
  return fileChoice('--data', data ?? DEFAULT_PATH)
}

/** Time between two lines of progress. */
const REPORT_INTERVAL_MS = 5_000

/**
 * Prints progress to `io.stderr` and one line of JSON to `io.stdout`.
 *
 * @param argv the flags, without program and command
 * @throws `InvalidOption`, `StoreUnavailable`, `StoreCorrupt`; the message is one sentence that begins with the flag
 */
export async function vacuum(argv: readonly string[], io: ServeIo): Promise<void> {
  const { path } = parseVacuumFlags(argv, io.env)
  const report = (sentence: string) => io.stderr.write(`hookswitch: ${printableLine(sentence)}\n`)
  const { vacuumDatabase } = await import('hookswitch/sqlite')
  let reportedMs = performance.now()
  const { bytesBefore, bytes, freeBytes } = await vacuumDatabase({ path }, (progress) => {
    if (performance.now() - reportedMs < REPORT_INTERVAL_MS) return
    reportedMs = performance.now()
    report(`${path}: ${inMebibytes(progress.bytes)}, of which ${inMebibytes(progress.freeBytes)} are free`)
  }).catch((thrown: unknown) => {
    throw problemWithFlag('--data', thrown)
  })
  report(`${path} had ${inMebibytes(bytesBefore)} and has ${inMebibytes(bytes)}`)
  io.stdout.write(`${JSON.stringify({ vacuumed: true, path, bytesBefore, bytes, freeBytes })}\n`)
}

const inMebibytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

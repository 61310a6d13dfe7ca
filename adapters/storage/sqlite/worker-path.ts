/** Finds the built files of this package at run time, in ESM and CommonJS. */
import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HookswitchError } from 'hookswitch/store'

/**
 * Path of the built file that contains this module. The same source is built as ESM and as CommonJS; `import.meta` is a
 * syntax error in CommonJS, and `__filename` does not exist in ESM. V8's stack trace API works in both
 * (https://v8.dev/docs/stack-trace-api).
 */
export const MODULE_PATH: string = typeof __filename === 'string' ? __filename : callSitePath()

function callSitePath(): string {
  const { prepareStackTrace, stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 1
    Error.prepareStackTrace = (_, [site]) => site?.getFileName()
    const file = String(new Error().stack)
    return file.startsWith('file:') ? fileURLToPath(file) : file
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    Error.prepareStackTrace = prepareStackTrace
  }
}

/**
 * Path of the built worker: CommonJS, which Node loads from any folder.
 *
 * @throws HookswitchError `InvalidOption` (field `inThread`) when a bundler has omitted it
 */
export function workerPath(): string {
  const file = join(dirname(MODULE_PATH), 'sqlite-worker.cjs')
  if (existsSync(file)) return file
  const sentence = `${basename(file)} is not beside ${MODULE_PATH}: exclude hookswitch from the bundle, or set inThread`
  throw new HookswitchError('InvalidOption', sentence, { field: 'inThread' })
}

import { existsSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { HookswitchError } from 'hookswitch/store'
import { HERE } from './here.js'

/**
 * The built file of the store's thread, in the format of the file that asks.
 *
 * @throws HookswitchError `InvalidOption` when a bundler left it behind
 */
export function workerFile(): string {
  const file = join(dirname(HERE), `sqlite-worker${extname(HERE)}`)
  if (existsSync(file)) return file
  const sentence = `${basename(file)} is not beside ${HERE}: leave hookswitch out of the bundle, or set inThread`
  throw new HookswitchError('InvalidOption', sentence, { field: 'inThread' })
}

// @ts-check
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * One small fault: a text that stands once in a file, and what stands there instead.
 *
 * @typedef {object} Mutant
 * @property {string} what is wrong then, in words
 * @property {string} file of the project
 * @property {string} find
 * @property {string} replace
 * @property {readonly string[]} tests files of tests, one of which must fail
 */

/**
 * Breaks a copy of the project; what is given back mends it.
 *
 * @param {string} root of the copy
 * @param {Mutant} mutant
 */
export function applyMutant(root, { file, find, replace }) {
  const path = join(root, file)
  const whole = readFileSync(path, 'utf8')
  const parts = whole.split(find)
  if (parts.length !== 2)
    throw new Error(`${file} has ${parts.length - 1} times what is to be replaced: ${find}`)
  writeFileSync(path, parts.join(replace))
  return () => writeFileSync(path, whole)
}

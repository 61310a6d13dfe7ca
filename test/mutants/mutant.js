// @ts-check
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * One seeded fault: a text that occurs once in a file, and its replacement.
 *
 * @typedef {object} Mutant
 * @property {string} what the fault in words
 * @property {string} file path in the project
 * @property {string} find
 * @property {string} replace
 * @property {readonly string[]} tests test files, at least one of which must fail
 */

/**
 * Seeds the fault in a copy of the project and returns a function that removes it.
 *
 * @param {string} root folder of the copy
 * @param {Mutant} mutant
 */
export function applyMutant(root, { file, find, replace }) {
  const path = join(root, file)
  const whole = readFileSync(path, 'utf8')
  const parts = whole.split(find)
  if (parts.length !== 2) throw new Error(`${file} contains ${parts.length - 1} times: ${find}`)
  writeFileSync(path, parts.join(replace))
  return () => writeFileSync(path, whole)
}

// @ts-check
/** Temporary copies of the project in which faults are seeded; node_modules is shared by a link. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PARTS = [
  'src',
  'adapters',
  'test',
  'examples',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  // Some tests build the package of the copy.
  'tsup.config.ts',
  'docs/receivers',
]

/** @param {number} count */
export function makeCopies(count) {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-mutants-'))
  const copies = Array.from({ length: count }, (_, index) => {
    const copy = join(folder, String(index))
    for (const part of PARTS) cpSync(join(ROOT, part), join(copy, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    return copy
  })
  return { copies, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A built page for tests of the service, small enough to compare whole. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const SCRIPT = `console.log(${JSON.stringify('a script '.repeat(50))})\n`

/** Returns a folder as the build writes it. */
export function builtPage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-page-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><html lang="en"><head><!-- settings --><title>x</title></head>',
  )
  writeFileSync(join(folder, 'assets', 'index-Ab12.js'), SCRIPT)
  writeFileSync(join(folder, 'assets', 'index-Cd34.css'), 'body{}')
  writeFileSync(join(folder, 'assets', 'notes.txt'), 'not part of the page')
  return folder
}

/**
 * Builds the package once before the tests that use it by its public names: the examples, the command line and the
 * checks of the package itself. A run of named test files that use only the sources builds nothing.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = ['src', 'adapters', 'docs/receivers/verify.md', 'package.json', 'tsup.config.ts']
const FOLDERS_USING_THE_PACKAGE = [
  'test/examples',
  'test/adapters/cli/bin',
  'test/adapters/portal/browser',
  'test/adapters/portal/budget',
  'test/adapters/storage/sqlite-built',
  'test/crash',
  'test/deploy',
  'test/fuzz',
  'test/guard',
  'test/live/live-program',
  'test/simulator',
  'test/soak',
  'test/golden',
  'test/stepper',
  'test/fsync',
]

export default async function setup(): Promise<void> {
  const named = process.argv
    .slice(2)
    .filter((argument) => /(^|\/)test\b/.test(argument) || argument.endsWith('.ts'))
  const usesPackage = (name: string) =>
    FOLDERS_USING_THE_PACKAGE.some((folder) => name.includes(folder) || folder.startsWith(name))
  if (named.length > 0 && !named.some(usesPackage)) return
  const dist = join(root, 'dist')
  // `npm run build:run` builds no CommonJS.
  const isCurrent = (entry: string) => existsSync(entry) && statSync(entry).mtimeMs > newestOf(SOURCES)
  if (['index.js', 'index.cjs'].every((entry) => isCurrent(join(dist, entry)))) return

  // Builds elsewhere and renames, so that a concurrent run never sees an incomplete package.
  const temporary = join(root, `.dist-${process.pid}`)
  const tsup = join(root, 'node_modules', 'tsup', 'dist', 'cli-default.js')
  await promisify(execFile)(process.execPath, [tsup, '--silent', '--no-dts', '--out-dir', temporary], {
    cwd: root,
  })
  rmSync(dist, { recursive: true, force: true })
  renameSync(temporary, dist)
}

function newestOf(names: readonly string[]): number {
  const times = names.map((name) => {
    const path = join(root, name)
    const stat = statSync(path)
    if (!stat.isDirectory()) return stat.mtimeMs
    const entries = readdirSync(path, { recursive: true, encoding: 'utf8' })
    return Math.max(stat.mtimeMs, ...entries.map((entry) => statSync(join(path, entry)).mtimeMs))
  })
  return Math.max(...times)
}

// @ts-check
/**
 * Bundles the program of a node into one file, with compiled code. A node lives for half a second; loading the two
 * hundred files of the package and its dependencies took another quarter of a second.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/**
 * Builds it for the current process, and removes it when the process exits.
 *
 * @returns {Promise<readonly [start: string, program: string]>} arguments of Node, before those of the program
 */
export async function buildNodeProgram() {
  // Inside the project, where the SQLite driver is found: it is a native module and is not bundled.
  const outDir = path(`node_modules/.crash-${process.pid}`)
  process.once('exit', () => rmSync(outDir, { recursive: true, force: true }))
  await build({
    config: false,
    entry: { node: path('test/crash/node.js'), 'sqlite-worker': path('dist/sqlite-worker.cjs') },
    outDir,
    outExtension: () => ({ js: '.cjs' }),
    format: ['cjs'],
    platform: 'node',
    splitting: false,
    silent: true,
    noExternal: [/.*/],
    external: ['@photostructure/sqlite', 'pg-native'],
    // Resolves the package to its build; the project's own settings would resolve it to the sources.
    esbuildOptions(options) {
      delete options.tsconfig
      options.tsconfigRaw = {}
    },
  })
  const start = path('test/crash/node-start.cjs')
  const program = `${outDir}/node.cjs`
  for (const kind of ['sqlite', 'postgres']) {
    const child = spawn(process.execPath, [start, program, 'compile', kind], {
      stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`the program of a node could not be compiled: exit code ${code}`)
  }
  return [start, program]
}

// @ts-check
/**
 * The program of a node in one file, and that compiled. A node lives for half a second; reading the two hundred files
 * of the package and of what it depends on took it another quarter.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/**
 * Made anew by every process that starts nodes, and removed with it.
 *
 * @returns {Promise<readonly [start: string, program: string]>} arguments of Node, before those of the program
 */
export async function makeNodeProgram() {
  // Inside the project, where the SQLite driver is found: it is machine code and stays outside.
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
    // The package as it was built, not its sources, to which the project's own settings lead.
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
    if (code !== 0) throw new Error(`the program of a node could not be compiled: it ended with ${code}`)
  }
  return [start, program]
}

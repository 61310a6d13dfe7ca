// @ts-check
/**
 * Uses the package as its readers do: `npm run projects -- [--only express] [--tarball FILE] [--keep]`.
 *
 * Installs the packed package in a copy of each project of examples/projects, builds and starts it, and goes the way of a
 * customer (try-project.js). Then compiles the programs of the documents with each kind of module resolution
 * (documents.js), beside the packages of those projects; not with `--only`. `--tarball` takes a file of `npm pack` instead
 * of packing `dist`; `--keep` keeps the folders.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { exitWithMessage, readRunFlags } from '../support/run-flags.js'
import { compileDocuments } from './documents.js'
import { tryProject } from './try-project.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROJECTS = join(ROOT, 'examples', 'projects')
/** Where the projects have the API (before `/v1`), and the page for customers. */
const PATHS = {
  express: { api: '/telephony' },
  fastify: { api: '/telephony' },
  hono: { api: '/telephony' },
  nestjs: { api: '/telephony' },
  nextjs: { api: '', page: '/portal' },
}
/**
 * No script of a package runs. The projects name exact versions and have no lock files: what their packages need in turn is
 * what a reader gets on the same day.
 */
const INSTALL = [
  'install',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
  '--prefer-offline',
]
/** Files that a reader's own installation or build leaves in a project. */
const LEFT_BEHIND = ['node_modules', 'dist', '.next', 'next-env.d.ts', 'package-lock.json']
/** Projects at a time, because each keeps a core busy. */
const LANES = 2

const values = readRunFlags({
  only: { type: 'string' },
  tarball: { type: 'string' },
  keep: { type: 'boolean', default: false },
})

/** @typedef {keyof typeof PATHS} Name */
const names = /** @type {Name[]} */ (
  (await readdir(PROJECTS, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
)
const unknown = names.find((name) => !(name in PATHS))
if (unknown !== undefined) exitWithMessage(`test/projects/run.js does not know the project ${unknown}`)
if (values.only !== undefined && !names.includes(/** @type {Name} */ (values.only)))
  exitWithMessage(`--only takes one of ${names.join(', ')}`)

const folder = await mkdtemp(join(tmpdir(), 'hookswitch-projects-'))
const tarball = values.tarball === undefined ? await pack() : resolve(values.tarball)
let failures = 0
// The largest come first, so that none of them runs alone at the end.
const waiting = names.filter((name) => values.only === undefined || name === values.only).reverse()
await Promise.all(Array.from({ length: LANES }, lane))
if (values.only === undefined && failures === 0)
  await step('documents', () => compileDocuments({ folder, tarball, names }))
if (values.keep) console.log(`kept in ${folder}`)
else await rm(folder, { recursive: true, force: true })
process.exitCode = failures === 0 ? 0 : 1

async function pack() {
  const argv = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]
  const { stdout } = await promisify(execFile)('npm', argv, { cwd: ROOT })
  return join(folder, stdout.trim())
}

async function lane() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
    await step(name, runProject(name))
}

/**
 * Prints what became of a step, with the seconds that it took.
 *
 * @param {string} name
 * @param {() => Promise<string>} work returns what it did
 */
async function step(name, work) {
  const startMs = performance.now()
  try {
    const done = await work()
    console.log(`${name}: ${done} (${((performance.now() - startMs) / 1_000).toFixed(1)} s)`)
  } catch (error) {
    failures += 1
    const {
      stdout = '',
      stderr = '',
      message,
    } = /** @type {Error & { stdout?: string, stderr?: string }} */ (error)
    console.error(`${name}: FAILED: ${message}\n${stdout}${stderr}`)
  }
}

/** @param {Name} name */
function runProject(name) {
  return async () => {
    const project = join(folder, name)
    await cp(join(PROJECTS, name), project, {
      recursive: true,
      filter: (source) => !LEFT_BEHIND.includes(basename(source)),
    })
    const startMs = performance.now()
    await npm(project, [...INSTALL, tarball])
    const builtMs = performance.now()
    await npm(project, ['run', 'build'])
    const startedMs = performance.now()
    const { scripts } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'))
    await tryProject({ folder: project, command: scripts.start, paths: PATHS[name] })
    const times = [builtMs - startMs, startedMs - builtMs, performance.now() - startedMs]
    const [installed, built, tried] = times.map((ms) => (ms / 1_000).toFixed(1))
    return `installed in ${installed} s, built in ${built} s, delivered and stopped in ${tried} s`
  }
}

/**
 * @param {string} cwd
 * @param {readonly string[]} argv
 */
function npm(cwd, argv) {
  // The program may run below npm, which passes its own settings on as variables.
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) && name !== 'NODE_ENV')
  const env = { ...Object.fromEntries(own), NEXT_TELEMETRY_DISABLED: '1' }
  return promisify(execFile)('npm', argv, { cwd, env, maxBuffer: 16_777_216 })
}

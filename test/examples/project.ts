/** A project that has hookswitch installed, as that of a reader, and programs that run in it. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './pages.js'

export interface RunResult {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

export interface Project {
  readonly folder: string
  /** Makes an empty folder inside the project. */
  subfolder(name: string): Promise<string>
  remove(): Promise<void>
}

/** Stands in for `@hono/node-server`: sends one request to the app, as a client at that address, and prints the status. */
const HONO_SERVER = `export function serve({ fetch, port }) {
  const env = { incoming: { socket: { remoteAddress: '192.0.2.1' } } }
  const request = new Request(\`http://127.0.0.1:\${port}/telephony/v1/webhooks\`)
  globalThis.pending = Promise.resolve(fetch(request, env)).then(({ status }) => console.log('answered', status))
  return { close() {} }
}
`
const HONO_CONNINFO = `export function getConnInfo({ env }) {
  console.log('asked by', env.incoming.socket.remoteAddress)
  return { remote: { address: env.incoming.socket.remoteAddress } }
}
`

/** Makes the project below node_modules, so that its programs find the development dependencies too. */
export async function createProject(): Promise<Project> {
  const parent = join(ROOT, 'node_modules', '.docs')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'project-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(ROOT, join(folder, 'node_modules', 'hookswitch'))
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}')
  const hono = join(folder, 'node_modules', '@hono', 'node-server')
  await mkdir(hono, { recursive: true })
  await writeFile(join(hono, 'index.js'), HONO_SERVER)
  await writeFile(join(hono, 'conninfo.js'), HONO_CONNINFO)
  const entries = { '.': './index.js', './conninfo': './conninfo.js' }
  await writeFile(join(hono, 'package.json'), JSON.stringify({ type: 'module', exports: entries }))
  return {
    folder,
    async subfolder(name) {
      const path = join(folder, name)
      await mkdir(path)
      return path
    },
    remove: () => rm(folder, { recursive: true }),
  }
}

/** The environment of a reader's terminal: without what a test runner or this machine says to its children. */
export function readerEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { VITEST: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, HOOKSWITCH_SECRET: ____, ...env } = process.env
  return { ...env, ...more }
}

/** A program that has not ended after this time hangs: beside forty busy processes, one second of work takes 172 s. */
export const HANGS_AFTER_MS = 600_000

/** Runs a program to its end. @param timeoutMs after this time it hangs, and is killed. Default 150,000 */
export function run(
  file: string,
  argv: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = readerEnvironment(),
  timeoutMs = 150_000,
): Promise<RunResult> {
  return new Promise((resolve) => {
    execFile(
      file,
      [...argv],
      { cwd, env, timeout: timeoutMs, maxBuffer: 16_777_216 },
      (error, stdout, stderr) => resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}

/** Runs tasks, at most two at a time; each result is a promise, in the order of the tasks. */
export function inPairs<Result>(tasks: readonly (() => Promise<Result>)[]): readonly Promise<Result>[] {
  const lanes: [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()]
  return tasks.map((task, index) => {
    const lane = (index % 2) as 0 | 1
    const result = lanes[lane].then(task)
    lanes[lane] = result.catch(() => {})
    return result
  })
}

/**
 * Starts senders, receivers and load generators as separate processes, so that none slows another down. The parent
 * sends them requests as messages.
 */
import { fork } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder for CPU profiles. */
export const PROFILES = fileURLToPath(new URL('../../node_modules/.bench/profiles', import.meta.url))

/** Node options for a process that holds a million objects in memory: some gigabytes. */
export const LARGE_HEAP = ['--max-old-space-size=16384']

/** Longest time that a process may take to clean up. */
const CLEAN_UP_MS = 10_000

/** Renames the profiles that Node wrote for a process: one for each thread, named by process and thread id. */
function renameProfiles(pid, name) {
  for (const file of readdirSync(PROFILES)) {
    const [, process, thread] = /^CPU\.\d+\.\d+\.(\d+)\.(\d+)\.\d+\.cpuprofile$/.exec(file) ?? []
    if (Number(process) !== pid) continue
    const newName = thread === '0' ? name : `${name}.thread-${thread}`
    renameSync(join(PROFILES, file), join(PROFILES, `${newName}.cpuprofile`))
  }
}

/**
 * Starts a process.
 *
 * @param {string} name of a file in `children/`, without `.js`
 * @param {{ nodeOptions?: readonly string[], profile?: string | false }} options `profile`: name of the
 *   CPU profiles that are written when it ends
 */
export function startProcess(name, { nodeOptions = [], profile = false } = {}) {
  if (profile) mkdirSync(PROFILES, { recursive: true })
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${PROFILES}`] : []
  const path = fileURLToPath(new URL(`./children/${name}.js`, import.meta.url))
  const child = fork(path, [], { execArgv: [...nodeOptions, ...profiling] })
  const pendingRequests = new Map()
  let lastId = 0
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = pendingRequests.get(id)
    pendingRequests.delete(id)
    if (error === undefined) resolve(result)
    else reject(new Error(`${name}: ${error}`))
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.once('exit', (code, signal) => {
    for (const { reject } of pendingRequests.values()) reject(new Error(`${name} ended: ${code ?? signal}`))
  })
  return {
    /** Calls a handler in the process and returns its result. */
    request: (method, input) =>
      new Promise((resolve, reject) => {
        lastId += 1
        pendingRequests.set(lastId, { resolve, reject })
        // Fails here if the process has ended already.
        child.send({ id: lastId, method, input }, (error) => error && reject(error))
      }),
    /** Lets the process clean up, and waits until it has ended. */
    async stop() {
      if (child.connected) child.disconnect()
      await ended
      if (profile) renameProfiles(child.pid, `${profile}-${name}`)
    },
    /** Ends it as a crash would, without cleaning up. */
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/**
 * Handles the parent's requests in a child process, which ends when its parent does.
 *
 * @param {Record<string, (input: any) => unknown>} handlers by method
 * @param {() => unknown} cleanUp runs before the process ends
 */
export function handleRequests(handlers, cleanUp = () => {}) {
  process.on('message', async ({ id, method, input }) => {
    try {
      process.send({ id, result: await handlers[method](input) })
    } catch (thrown) {
      process.send({ id, error: thrown instanceof Error ? thrown.stack : String(thrown) })
    }
  })
  process.on('disconnect', async () => {
    setTimeout(() => process.exit(1), CLEAN_UP_MS).unref()
    try {
      await cleanUp()
    } catch (thrown) {
      console.error(thrown)
    }
    process.exit()
  })
}

/**
 * Microseconds of the clock that all processes of a machine share (`CLOCK_MONOTONIC` on Linux); `performance.now()`
 * counts from the start of each process instead. `measureLatency` checks that the clock is shared.
 */
export const sharedMicros = () => Number(process.hrtime.bigint() / 1000n)

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs some work and returns its duration and the CPU time of this process in it, both in ms. */
export async function measureTime(work) {
  const before = process.cpuUsage()
  const started = performance.now()
  await work()
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(before)
  return { ms, cpuMs: (user + system) / 1000 }
}

/** Processes of their own for whoever sends, receives or loads: asked in messages, so that none disturbs another. */
import { fork } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where profiles go. */
export const PROFILES = fileURLToPath(new URL('../../node_modules/.bench/profiles', import.meta.url))

/** Options for a process that keeps a million of something in memory: some gigabytes. */
export const ROOM = ['--max-old-space-size=16384']

/** Longest time that a process may take to tidy up. */
const END_MS = 10_000

/** Node names profiles by process and thread, since each thread writes one; we by what they did. */
function nameProfiles(pid, name) {
  for (const file of readdirSync(PROFILES)) {
    const [, process, thread] = /^CPU\.\d+\.\d+\.(\d+)\.(\d+)\.\d+\.cpuprofile$/.exec(file) ?? []
    if (Number(process) !== pid) continue
    const named = thread === '0' ? name : `${name}.thread-${thread}`
    renameSync(join(PROFILES, file), join(PROFILES, `${named}.cpuprofile`))
  }
}

/**
 * Starts a process.
 *
 * @param {string} name file in `children/`, without `.js`
 * @param {{ nodeOptions?: readonly string[], profile?: string | false }} options `profile`: writes CPU profiles under
 *   this name when it ends
 */
export function startProcess(name, { nodeOptions = [], profile = false } = {}) {
  if (profile) mkdirSync(PROFILES, { recursive: true })
  const profiling = profile ? ['--cpu-prof', `--cpu-prof-dir=${PROFILES}`] : []
  const path = fileURLToPath(new URL(`./children/${name}.js`, import.meta.url))
  const child = fork(path, [], { execArgv: [...nodeOptions, ...profiling] })
  const waiting = new Map()
  let asked = 0
  child.on('message', ({ id, result, problem }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (problem === undefined) resolve(result)
    else reject(new Error(`${name}: ${problem}`))
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} ended: ${code ?? signal}`))
  })
  return {
    ask: (verb, input) =>
      new Promise((resolve, reject) => {
        asked += 1
        waiting.set(asked, { resolve, reject })
        // One that has ended already says so here.
        child.send({ id: asked, verb, input }, (error) => error && reject(error))
      }),
    /** Lets it tidy up, and end. */
    async stop() {
      if (child.connected) child.disconnect()
      await ended
      if (profile) nameProfiles(child.pid, `${profile}-${name}`)
    },
    /** As a crash ends it. */
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/**
 * The other side: answers what the parent asks, and ends with it.
 *
 * @param {Record<string, (input: any) => unknown>} verbs
 * @param {() => unknown} tidyUp
 */
export function answerParent(verbs, tidyUp = () => {}) {
  process.on('message', async ({ id, verb, input }) => {
    try {
      process.send({ id, result: await verbs[verb](input) })
    } catch (thrown) {
      process.send({ id, problem: thrown instanceof Error ? thrown.stack : String(thrown) })
    }
  })
  process.on('disconnect', async () => {
    setTimeout(() => process.exit(1), END_MS).unref()
    try {
      await tidyUp()
    } catch (thrown) {
      console.error(thrown)
    }
    process.exit()
  })
}

/**
 * Microseconds of the clock that all processes of a machine share (`CLOCK_MONOTONIC` on Linux); `performance.now()`
 * counts from each process's own start. `measureLatency` checks that it does.
 */
export const sharedMicros = () => Number(process.hrtime.bigint() / 1000n)

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Runs some work; how long it took, and how much of the processor this process used meanwhile. */
export async function timed(work) {
  const before = process.cpuUsage()
  const started = performance.now()
  await work()
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(before)
  return { ms, cpuMs: (user + system) / 1000 }
}

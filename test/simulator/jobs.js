// @ts-check
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const JOB = fileURLToPath(new URL('job.js', import.meta.url))

/**
 * Runs seeds in several processes; each gets the next seed when it is done. Ends the running ones when `took` returns
 * false.
 *
 * @param {object} how
 * @param {readonly string[]} how.flags command-line flags for every job
 * @param {number} how.jobs number of processes, at most `runs`
 * @param {number} how.runs
 * @param {(index: number) => string} how.seedOf
 * @param {(outcome: import('./run-seed.js').Outcome) => boolean} how.took returns whether to continue
 * @throws {Error} when a job ends by itself
 */
export async function inJobs({ flags, jobs, runs, seedOf, took }) {
  let next = 0
  const children = Array.from({ length: jobs }, () => fork(JOB, flags))

  let stop = () => {}
  /** @type {Promise<void>} */
  const stopped = new Promise((resolve) => {
    stop = resolve
  })

  /** @param {import('node:child_process').ChildProcess} child */
  async function work(child) {
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a job of the simulator ended with ${signal ?? code}`)
    })
    while (next < runs) {
      child.send(seedOf(next))
      next += 1
      const [outcome] = await Promise.race([once(child, 'message'), ended])
      if (!took(outcome)) return stop()
    }
  }

  try {
    await Promise.race([stopped, Promise.all(children.map(work))])
  } finally {
    for (const child of children) child.kill()
  }
}

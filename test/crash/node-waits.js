// @ts-check
/** Waits for a node to start, to become idle and to end. What does not happen in time is recorded as a failure. */
import { DRAIN_MS, sleep } from './load.js'

/** Timeout of each wait, ms: enough for a slow machine. */
const TIMEOUT_MS = 30_000
/** A node with pending deliveries sends something within this time, ms: less than a lease, for which nothing waits. */
const STALL_MS = 15_000
const POLL_MS = 20

/**
 * @typedef {import('./history.js').History} History
 * @typedef {import('./nodes.js').NodeProcess} NodeProcess
 */

/**
 * @template Result
 * @param {number} ms
 * @param {Promise<Result>} work
 * @returns {Promise<Result | undefined>} undefined: it took longer
 */
async function withTimeout(ms, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  const result = await Promise.race([work, timeout])
  clearTimeout(timer)
  return /** @type {Result | undefined} */ (result)
}

/** Waits for a node to start. Returns whether it has. @param {History} history @param {NodeProcess} node */
export async function waitForStart(history, node) {
  const failed = node.waitFor('failed').then((reason) => ({ reason: reason ?? 'it ended' }))
  const outcome = await withTimeout(TIMEOUT_MS, Promise.race([node.waitFor('started'), failed]))
  if (outcome === true) return true
  const reason = outcome?.reason ?? `it had not started after ${TIMEOUT_MS / 1000} s`
  history.failures.push({ node: node.id, reason })
  return false
}

/**
 * Waits until a condition holds; a timeout is recorded as a failure of the node.
 *
 * @param {History} history
 * @param {NodeProcess} node
 * @param {string} problem
 * @param {() => boolean | Promise<boolean>} isDone
 */
export async function waitUntil(history, node, problem, isDone) {
  const deadline = performance.now() + TIMEOUT_MS
  // After a failure the run is over: waiting would add no information.
  while (history.failures.length === 0 && !(await isDone())) {
    if (performance.now() > deadline) history.failures.push({ node: node.id, reason: problem })
    await sleep(POLL_MS)
  }
}

/** Terminates a node; kills it if it does not exit in time. @param {History} history @param {NodeProcess} node */
export async function terminateNode(history, node) {
  const stop = await withTimeout(DRAIN_MS + TIMEOUT_MS, node.terminate())
  if (stop) return stop
  history.failures.push({ node: node.id, reason: 'it did not exit after SIGTERM' })
  return node.kill()
}

/**
 * Waits until a node is idle: everything is published, all deliveries have ended, and undelivered ones were replayed.
 *
 * @param {History} history
 * @param {NodeProcess} node
 */
export async function waitUntilIdle(history, node) {
  node.send('finish', {})
  for (let seen = -1; ; ) {
    const undelivered = await withTimeout(STALL_MS, node.waitFor('finished'))
    if (undelivered) return void history.undelivered.push(...undelivered)
    if (seen === history.requests.length) break
    seen = history.requests.length
  }
  const what = `node ${node.id} has deliveries or events left and makes no progress`
  history.notIdle = { node: node.id, what }
}

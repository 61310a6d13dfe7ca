// @ts-check
/** What a parent waits for in the life of a node, and what it notes when that does not come. */
import { DRAIN_MS, sleep } from './load.js'

/** Milliseconds that whatever is waited for may take, on however slow a machine. */
const PATIENCE_MS = 30_000
/** Milliseconds in which something is sent while anything waits: less than a lease, which a node that ended gave back. */
const STANDSTILL_MS = 20_000
const LOOK_EVERY_MS = 20

/**
 * @typedef {import('./ledger.js').Ledger} Ledger
 * @typedef {import('./nodes.js').Node} Node
 */

/**
 * @template Result
 * @param {number} ms
 * @param {Promise<Result>} work
 * @returns {Promise<Result | undefined>} undefined: it took longer
 */
async function within(ms, work) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  const result = await Promise.race([work, late])
  clearTimeout(timer)
  return /** @type {Result | undefined} */ (result)
}

/** Waits until a node has started: whether it has. @param {Ledger} ledger @param {Node} node */
export async function isUp(ledger, node) {
  const failed = node.told('failed').then((reason) => ({ reason: reason ?? 'it ended' }))
  const outcome = await within(PATIENCE_MS, Promise.race([node.told('up'), failed]))
  if (outcome === true) return true
  const reason = outcome?.reason ?? `it had not started after ${PATIENCE_MS / 1000} s`
  ledger.failures.push({ node: node.id, reason })
  return false
}

/**
 * Waits until something is as it should be; what never comes to be so is noted.
 *
 * @param {Ledger} ledger
 * @param {Node} node
 * @param {string} problem
 * @param {() => boolean} isDone
 */
export async function until(ledger, node, problem, isDone) {
  const limit = performance.now() + PATIENCE_MS
  // What failed is judged: nothing more is to be learnt.
  while (ledger.failures.length === 0 && !isDone()) {
    if (performance.now() > limit) ledger.failures.push({ node: node.id, reason: problem })
    await sleep(LOOK_EVERY_MS)
  }
}

/** Asks a node to end; one that does not is killed. @param {Ledger} ledger @param {Node} node */
export async function endNode(ledger, node) {
  const end = await within(DRAIN_MS + PATIENCE_MS, node.terminate())
  if (end) return end
  ledger.failures.push({ node: node.id, reason: 'it was asked to end and did not' })
  return node.kill()
}

/**
 * Waits until a node has nothing more to do: all is published, and has ended; what was given up was sent again.
 *
 * @param {Ledger} ledger
 * @param {Node} node
 */
export async function rest(ledger, node) {
  node.tell('finish', {})
  for (let seen = -1; ; ) {
    const givenUp = await within(STANDSTILL_MS, node.told('finished'))
    if (givenUp) return void ledger.givenUp.push(...givenUp)
    if (seen === ledger.sights.length) break
    seen = ledger.sights.length
  }
  const what = `node ${node.id} has something to send, or to publish, and stands still`
  ledger.restless = { node: node.id, what }
}

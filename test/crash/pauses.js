// @ts-check
/**
 * Two to four nodes, of which all but one are paused (SIGSTOP) at random: for less than their lease, or until the others have
 * taken over, and then resumed (SIGCONT) or killed. Only what the start rows of a paused node name may be sent twice.
 */
import { seededRandom } from 'hookswitch/testkit'
import { createFastNodes } from './fast-nodes.js'
import { sleep } from './load.js'
import { terminateNode } from './node-waits.js'
import { watchStarts } from './start-rows.js'

/** Less than a lease, ms. */
const SHORT_PAUSE = { min: 100, max: 1_500 }
/** Pauses and resumptions of one round follow each other within this time, ms. */
const SPREAD_MS = 400

/** @typedef {import('./nodes.js').NodeProcess} NodeProcess */

/**
 * @param {object} options
 * @param {string} options.seed
 * @param {number} options.rounds
 * @param {number} options.nodes
 * @param {import('./test-store.js').TestStore} options.store
 */
export async function runPauses({ seed, rounds, nodes: count, store }) {
  const random = seededRandom(seed)
  const fast = await createFastNodes({ seed, store })
  const { history, progress, startNode } = fast
  const counts = { 'paused briefly': 0, 'paused, taken over': 0, 'killed while paused': 0 }

  /** @type {NodeProcess[]} */
  const nodes = []
  for (let part = 0; part < count; part += 1) nodes.push(await startNode(part))
  const starts = await watchStarts(history, store.location())

  for (let round = 0; round < rounds && history.failures.length === 0; round += 1) {
    const since = await fast.waitUntilAllDeliver(nodes)
    const staying = random.pick(nodes)
    const candidates = nodes.filter((node) => node !== staying)
    const chosen = candidates.filter(() => random.chance(0.7))
    const pausing = chosen.length > 0 ? chosen : [random.pick(candidates)]
    const running = nodes.filter((node) => !pausing.includes(node))
    const webhooks = fast.webhooksServedBy(pausing, since)
    const isShort = random.chance(0.3)
    /** @type {Map<NodeProcess, () => void>} */
    const resumes = new Map()
    for (const node of pausing) {
      await sleep(random.integer(0, SPREAD_MS))
      resumes.set(node, node.pause())
    }
    if (isShort) await sleep(random.integer(SHORT_PAUSE.min, SHORT_PAUSE.max))
    else
      await fast.waitUntilServed([staying, ...running], webhooks, 'the paused nodes were not taken over from')
    counts[isShort ? 'paused briefly' : 'paused, taken over'] += pausing.length
    for (const [node, resume] of resumes) {
      await sleep(random.integer(0, SPREAD_MS))
      if (isShort || random.chance(0.75)) {
        resume()
        continue
      }
      counts['killed while paused'] += 1
      await node.kill()
      progress.cycleEnded()
      nodes[nodes.indexOf(node)] = await startNode(nodes.indexOf(node))
    }
  }

  const [last, ...others] = /** @type {[NodeProcess, ...NodeProcess[]]} */ (nodes)
  for (const node of others) await terminateNode(history, node)
  await fast.finish(last, () => starts.end())
  return { history, counts: { ...counts, 'starts named': history.named?.size ?? 0 } }
}

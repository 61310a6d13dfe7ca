// @ts-check
/**
 * Two to four nodes, of which all but one are paused (SIGSTOP) at random: for less than their lease, or until the others have
 * taken over, and then resumed (SIGCONT) or killed. Only what the start rows of a paused node name may be sent twice. The
 * clocks of the nodes run ten times as fast: a lease expires after 3 s.
 */
import { seededRandom } from 'hookswitch/testkit'
import { waitUntilEmpty } from './empty-store.js'
import { History } from './history.js'
import { sleep } from './load.js'
import { terminateNode, waitForStart, waitUntil, waitUntilIdle } from './node-waits.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'
import { watchStarts } from './start-rows.js'

/** Enough for every shard to have webhooks. */
const ACCOUNTS = 40
const SLOTS = 8
const SPEED = 10
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
  const history = new History()
  // A node that is paused inside a transaction holds its locks until the server ends the transaction.
  history.expectedRefusals.add('StoreUnavailable')
  const receiver = await startReceiver(seed, history)
  const progress = createProgress(history, { slots: SLOTS, accounts: ACCOUNTS })
  const counts = { 'paused briefly': 0, 'paused, taken over': 0, 'killed while paused': 0 }
  let spawned = 0

  /** @param {number} part */
  async function startNode(part) {
    spawned += 1
    const node = spawnNode(history, spawned, store.kind)
    const setUp = spawned === 1 ? { setUp: { port: receiver.port, accounts: ACCOUNTS } } : {}
    await node.waitFor('ready')
    node.send('start', {
      location: { ...store.location(), speed: SPEED },
      accounts: ACCOUNTS,
      slots: progress.slots(node.id, part),
      republish: [],
      events: 1_000_000,
      pauseMs: 25,
      ...setUp,
    })
    await waitForStart(history, node)
    return node
  }

  /** The webhooks to which these nodes have sent requests, beginning with the request at index `since`. @param {readonly NodeProcess[]} from @param {number} since */
  function webhooksServedBy(from, since) {
    const ids = new Set(from.map(({ id }) => id))
    return new Set(
      history.requests.slice(since).flatMap(({ node, webhook }) => (ids.has(node) ? webhook : [])),
    )
  }

  /** @type {NodeProcess[]} */
  const nodes = []
  for (let part = 0; part < count; part += 1) nodes.push(await startNode(part))
  const starts = await watchStarts(history, store.location())

  for (let round = 0; round < rounds && history.failures.length === 0; round += 1) {
    let since = history.requests.length
    for (const node of nodes)
      await waitUntil(
        history,
        node,
        'it was given nothing to deliver',
        () => webhooksServedBy([node], since).size > 0,
      )
    const staying = random.pick(nodes)
    const candidates = nodes.filter((node) => node !== staying)
    const chosen = candidates.filter(() => random.chance(0.7))
    const pausing = chosen.length > 0 ? chosen : [random.pick(candidates)]
    const running = nodes.filter((node) => !pausing.includes(node))
    const webhooks = webhooksServedBy(pausing, since)
    const isShort = random.chance(0.3)
    /** @type {Map<NodeProcess, () => void>} */
    const resumes = new Map()
    for (const node of pausing) {
      await sleep(random.integer(0, SPREAD_MS))
      resumes.set(node, node.pause())
    }
    since = history.requests.length
    if (isShort) await sleep(random.integer(SHORT_PAUSE.min, SHORT_PAUSE.max))
    else
      await waitUntil(history, staying, 'the paused nodes were not taken over from', () => {
        const served = webhooksServedBy(running, since)
        return [...webhooks].every((webhook) => served.has(webhook))
      })
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
  await waitUntilIdle(history, last)
  const location = store.location()
  if (location.kind === 'postgres') await waitUntilEmpty(history, last, location)
  await starts.end()
  await terminateNode(history, last)
  receiver.close()
  return { history, counts: { ...counts, 'starts named': history.named?.size ?? 0 } }
}

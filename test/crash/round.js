// @ts-check
/** One round: a store, a receiver, and a number of cycles in which nodes run and are stopped; then the store becomes idle. */
import { seededRandom } from 'hookswitch/testkit'
import { History } from './history.js'
import { sleep } from './load.js'
import { terminateNode, waitForStart, waitUntilIdle } from './node-waits.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

const ACCOUNTS = 3
const SLOTS = 24

/**
 * A node that is stopped at work lives for a random number of acknowledgements and milliseconds up to these, whichever
 * comes first. Most nodes are short-lived, with cold code and little work done; few run at full speed.
 */
const LIFETIMES = {
  short: { acknowledged: 400, ms: 450 },
  long: { acknowledged: 8000, ms: 3000 },
}
/** Every n-th node is long-lived. */
const LONG_EVERY = 14

/** How nodes end, with weights. */
const ENDINGS = {
  'killed at work': 50,
  'killed after its start': 12,
  'killed while it started': 13,
  terminated: 15,
  'killed while it terminated': 10,
}
/** Probability of a second node beside the first, if the store can be shared. */
const SECOND_NODE = 0.25

/**
 * @typedef {keyof typeof ENDINGS} Ending
 * @typedef {typeof LIFETIMES.short} Lifetime
 * @typedef {import('./nodes.js').NodeProcess} NodeProcess
 */

/**
 * @param {object} options
 * @param {string} options.seed
 * @param {number} options.cycles
 * @param {import('./test-store.js').TestStore} options.store
 */
export async function runRound({ seed, cycles, store }) {
  const random = seededRandom(seed)
  const history = new History()
  const receiver = await startReceiver(seed, history)
  const progress = createProgress(history, { slots: SLOTS, accounts: ACCOUNTS })
  /** @type {Map<Ending, number>} */
  const endings = new Map()
  const setUp = { port: receiver.port, accounts: ACCOUNTS }
  let nodes = 0
  /** Spawns the process of a later node, which loads its code while an earlier node works. */
  const spawnNext = () => {
    nodes += 1
    return spawnNode(history, nodes, store.kind)
  }

  /**
   * @param {NodeProcess} node
   * @param {object} plan
   * @param {number} plan.part distinguishes nodes that run at the same time: selects the slots
   * @param {number} plan.events
   * @param {number} plan.pauseMs
   */
  async function start(node, { part, events, pauseMs }) {
    await node.waitFor('ready')
    node.send('start', {
      location: store.location(),
      accounts: ACCOUNTS,
      slots: events > 0 ? progress.slots(node.id, part) : [],
      republish: part === 0 ? progress.republish(random) : [],
      events,
      pauseMs,
      ...(node.id === 1 || !store.isDurable ? { setUp } : {}),
    })
  }

  /** @param {NodeProcess} node @param {Ending} ending @param {Lifetime} lifetime */
  async function endNode(node, ending, lifetime) {
    // A random stream per node: two nodes that run at once draw in no defined order.
    const stream = random.stream(`node ${node.id}`)
    const sleepRandom = (/** @type {number} */ min, /** @type {number} */ max) =>
      sleep(stream.integer(min, max))
    // The first node creates accounts and webhooks, which the others need.
    if (ending === 'killed while it started' && node.id > 1) {
      await sleepRandom(0, 90)
      return node.kill()
    }
    await waitForStart(history, node)
    if (ending === 'killed after its start') await sleepRandom(0, 40)
    else
      await Promise.race([
        node.waitForAcks(stream.integer(1, lifetime.acknowledged)),
        sleepRandom(lifetime.ms / 10, lifetime.ms),
      ])
    if (ending === 'terminated') return terminateNode(history, node)
    if (ending === 'killed while it terminated') {
      void node.terminate()
      await sleepRandom(0, 60)
    }
    return node.kill()
  }

  let next = spawnNext()
  let second = store.isShared ? spawnNext() : undefined
  for (let cycle = 0; cycle < cycles && history.failures.length === 0; cycle += 1) {
    const node = next
    const ending = random.weighted(ENDINGS)
    endings.set(ending, (endings.get(ending) ?? 0) + 1)
    const pauseMs = random.pick([0, 2, 5])
    const lifetime = cycle % LONG_EVERY === LONG_EVERY - 1 ? LIFETIMES.long : LIFETIMES.short
    // Some nodes have published everything before they end, and then only deliver.
    const events = random.chance(0.25) ? random.integer(40, 150) : 2 * lifetime.acknowledged
    await start(node, { part: 0, events, pauseMs })
    next = spawnNext()
    const ended = [endNode(node, ending, lifetime)]
    if (second && cycle > 0 && random.chance(SECOND_NODE)) {
      const other = second
      // Some only deliver.
      const few = random.chance(0.3) ? 0 : random.integer(40, 120)
      await start(other, { part: 1, events: few, pauseMs })
      second = spawnNext()
      ended.push(endNode(other, random.weighted(ENDINGS), LIFETIMES.short))
    }
    await Promise.all(ended)
    progress.cycleEnded()
  }

  // The last node publishes the unacknowledged events again, delivers everything, and is terminated.
  await start(next, { part: 0, events: 0, pauseMs: 0 })
  if (await waitForStart(history, next)) await waitUntilIdle(history, next)
  await terminateNode(history, next)
  await second?.dismiss()
  receiver.close()
  return { history, endings }
}

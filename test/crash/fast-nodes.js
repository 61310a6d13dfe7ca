// @ts-check
/** Nodes on one store, whose clocks, and the store's, run ten times as fast: a lease expires after 3 s. */
import { waitUntilEmpty } from './empty-store.js'
import { History } from './history.js'
import { terminateNode, waitForStart, waitUntil, waitUntilIdle } from './node-waits.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

/** Enough for every shard to have webhooks: a joining node first gets shards without deliveries in flight. */
const ACCOUNTS = 40
const SLOTS = 8
const SPEED = 10

/** @typedef {import('./nodes.js').NodeProcess} NodeProcess */

/**
 * @param {object} options
 * @param {string} options.seed
 * @param {import('./test-store.js').TestStore} options.store
 */
export async function createFastNodes({ seed, store }) {
  const history = new History()
  // A node that is paused inside a transaction holds its locks until the server ends the transaction.
  history.expectedRefusals.add('StoreUnavailable')
  const receiver = await startReceiver(seed, history)
  const progress = createProgress(history, { slots: SLOTS, accounts: ACCOUNTS })
  let spawned = 0

  /** The webhooks to which these nodes have sent requests, beginning with the request at index `since`. @param {readonly NodeProcess[]} from @param {number} since */
  function webhooksServedBy(from, since) {
    const ids = new Set(from.map(({ id }) => id))
    return new Set(
      history.requests.slice(since).flatMap(({ node, webhook }) => (ids.has(node) ? webhook : [])),
    )
  }

  return {
    history,
    progress,
    webhooksServedBy,

    /** @param {number} part */
    async startNode(part) {
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
    },

    /** Waits until each node has delivered. Returns the index of the first request that was waited for. @param {readonly NodeProcess[]} nodes */
    async waitUntilAllDeliver(nodes) {
      const since = history.requests.length
      for (const node of nodes) {
        const hasDelivered = () => webhooksServedBy([node], since).size > 0
        await waitUntil(history, node, 'it was given nothing to deliver', hasDelivered)
      }
      return since
    },

    /** Waits until these nodes deliver to all of these webhooks. @param {readonly NodeProcess[]} nodes @param {ReadonlySet<string>} webhooks @param {string} problem */
    async waitUntilServed([first, ...others], webhooks, problem) {
      const since = history.requests.length
      await waitUntil(history, /** @type {NodeProcess} */ (first), problem, () => {
        const served = webhooksServedBy([/** @type {NodeProcess} */ (first), ...others], since)
        return [...webhooks].every((webhook) => served.has(webhook))
      })
    },

    /** Ends the last node when nothing is left to do. @param {NodeProcess} last @param {() => Promise<unknown>} [beforeEnd] */
    async finish(last, beforeEnd) {
      await waitUntilIdle(history, last)
      const location = store.location()
      if (location.kind === 'postgres') await waitUntilEmpty(history, last, location)
      await beforeEnd?.()
      await terminateNode(history, last)
      receiver.close()
    },
  }
}

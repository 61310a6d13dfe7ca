// @ts-check
/**
 * Takeovers between two nodes: one is paused for longer than its lease (SIGSTOP), or killed, and the other takes over its
 * shards. Their clocks, and the store's, run ten times as fast: a lease expires after 3 s.
 */
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

/**
 * @typedef {import('./nodes.js').NodeProcess} NodeProcess
 *
 * @param {object} options
 * @param {string} options.seed
 * @param {number} options.times
 * @param {import('./test-store.js').TestStore} options.store
 */
export async function runTakeovers({ seed, times, store }) {
  const history = new History()
  // A node that is paused inside a transaction holds its locks until the server ends the transaction.
  history.expectedRefusals.add('StoreUnavailable')
  const receiver = await startReceiver(seed, history)
  const progress = createProgress(history, { slots: SLOTS, accounts: ACCOUNTS })
  let nodes = 0

  /** @param {number} part */
  async function startNode(part) {
    nodes += 1
    const node = spawnNode(history, nodes, store.kind)
    const setUp = nodes === 1 ? { setUp: { port: receiver.port, accounts: ACCOUNTS } } : {}
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

  /**
   * The webhooks to which a node has sent requests, beginning with the request at index `since`.
   *
   * @param {NodeProcess} node
   * @param {number} since
   */
  const webhooksServedBy = (node, since) =>
    new Set(
      history.requests.slice(since).flatMap((request) => (request.node === node.id ? request.webhook : [])),
    )

  /**
   * Waits until both nodes deliver, makes one fail, and waits until the other delivers to its webhooks too.
   *
   * @param {NodeProcess} failing
   * @param {NodeProcess} other
   * @param {() => unknown} fail
   */
  async function takeOver(failing, other, fail) {
    let since = history.requests.length
    for (const node of [failing, other]) {
      await waitUntil(
        history,
        node,
        'it was given nothing to deliver',
        () => webhooksServedBy(node, since).size > 0,
      )
    }
    const webhooks = webhooksServedBy(failing, since)
    fail()
    since = history.requests.length
    await waitUntil(history, other, `it did not take over from node ${failing.id}`, () => {
      const served = webhooksServedBy(other, since)
      return [...webhooks].every((webhook) => served.has(webhook))
    })
  }

  let first = await startNode(0)
  let second = await startNode(1)
  for (let time = 0; time < times && history.failures.length === 0; time += 1) {
    let resume = () => {}
    await takeOver(second, first, () => {
      resume = second.pause()
    })
    resume()
    await takeOver(first, second, () => void first.kill())
    await first.exited
    progress.cycleEnded()
    first = second
    second = await startNode(time % 2)
  }
  await terminateNode(history, first)
  await waitUntilIdle(history, second)
  const location = store.location()
  if (location.kind === 'postgres') await waitUntilEmpty(history, second, location)
  await terminateNode(history, second)
  receiver.close()
  return { history }
}

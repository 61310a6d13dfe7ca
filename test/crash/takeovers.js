// @ts-check
/**
 * Nodes that take over from each other: one stands still for longer than its lease (SIGSTOP), or is killed, while the
 * other works on. Their time, and the store's, goes ten times as fast: a lease ends after 3 s.
 */
import { Ledger } from './ledger.js'
import { endNode, isUp, rest, until } from './node-course.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

/** Enough for every shard to have webhooks: a node that joins gets first those where nothing is under way. */
const ACCOUNTS = 40
const SLOTS = 8
const SPEED = 10

/**
 * @typedef {import('./nodes.js').Node} Node
 *
 * @param {object} how
 * @param {string} how.seed
 * @param {number} how.times
 * @param {import('./places.js').Place} how.place
 */
export async function runTakeovers({ seed, times, place }) {
  const ledger = new Ledger()
  // A node that stands still in the middle of a transaction holds its locks until the server ends that.
  ledger.excused.add('StoreUnavailable')
  const receiver = await startReceiver(seed, ledger)
  const progress = createProgress(ledger, { slots: SLOTS, accounts: ACCOUNTS })
  let nodes = 0

  /** @param {number} part */
  async function begin(part) {
    nodes += 1
    const node = spawnNode(ledger, nodes, place.kind)
    const setUp = nodes === 1 ? { setUp: { port: receiver.port, accounts: ACCOUNTS } } : {}
    await node.told('ready')
    node.tell('start', {
      where: { ...place.where(), speed: SPEED },
      accounts: ACCOUNTS,
      slots: progress.slots(node.id, part),
      again: [],
      events: 1_000_000,
      restMs: 25,
      ...setUp,
    })
    await isUp(ledger, node)
    return node
  }

  /** Webhooks that a node has sent to, since so many requests had been seen. @param {Node} node @param {number} since */
  const servedBy = (node, since) =>
    new Set(ledger.sights.slice(since).flatMap((sight) => (sight.node === node.id ? sight.webhook : [])))

  /**
   * Once both have something to do, one of them falls out: the other does its work too.
   *
   * @param {Node} gone
   * @param {Node} other
   * @param {() => unknown} fallOut
   */
  async function takesOver(gone, other, fallOut) {
    let since = ledger.sights.length
    for (const node of [gone, other]) {
      await until(ledger, node, 'it was given nothing to deliver', () => servedBy(node, since).size > 0)
    }
    const its = servedBy(gone, since)
    fallOut()
    since = ledger.sights.length
    await until(ledger, other, `it did not take over from node ${gone.id}`, () => {
      const served = servedBy(other, since)
      return [...its].every((webhook) => served.has(webhook))
    })
  }

  let first = await begin(0)
  let second = await begin(1)
  for (let time = 0; time < times && ledger.failures.length === 0; time += 1) {
    let goOn = () => {}
    await takesOver(second, first, () => {
      goOn = second.pause()
    })
    goOn()
    await takesOver(first, second, () => void first.kill())
    await first.gone
    progress.cycleEnded()
    first = second
    second = await begin(time % 2)
  }
  await endNode(ledger, first)
  await rest(ledger, second)
  await endNode(ledger, second)
  receiver.close()
  return { ledger }
}

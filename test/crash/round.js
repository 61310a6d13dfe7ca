// @ts-check
/** One round: a store, a receiver, and so many cycles of nodes that end in one way or another; then rest. */
import { seededRandom } from 'hookswitch/testkit'
import { Ledger } from './ledger.js'
import { sleep } from './load.js'
import { endNode, isUp, rest } from './node-course.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'

const ACCOUNTS = 3
const SLOTS = 24

/**
 * A node that is to end at work does so after so many acknowledgements and so many milliseconds, drawn up to these,
 * whichever comes first. Most are young, their code cold and their work hardly begun; few are in full swing.
 */
const LIVES = {
  young: { acknowledged: 400, ms: 450 },
  old: { acknowledged: 8000, ms: 3000 },
}
/** Of so many one grows old. */
const OLD_EVERY = 14

/** How nodes end, and how often. */
const ENDS = {
  'killed at work': 50,
  'killed when it began': 12,
  'killed while it started': 13,
  'asked to end': 15,
  'killed while it ended': 10,
}
/** How often a second node works beside the first, where the store is shared. */
const BESIDE = 0.25

/**
 * @typedef {keyof typeof ENDS} Ending
 * @typedef {typeof LIVES.young} Life
 * @typedef {import('./nodes.js').Node} Node
 */

/**
 * @param {object} how
 * @param {string} how.seed
 * @param {number} how.cycles
 * @param {import('./places.js').Place} how.place where the store is
 */
export async function runRound({ seed, cycles, place }) {
  const random = seededRandom(seed)
  const ledger = new Ledger()
  const receiver = await startReceiver(seed, ledger)
  const progress = createProgress(ledger, { slots: SLOTS, accounts: ACCOUNTS })
  /** @type {Map<Ending, number>} */
  const endings = new Map()
  const setUp = { port: receiver.port, accounts: ACCOUNTS }
  let nodes = 0
  /** A process that is ready when its turn comes: while it loads its code, the one before it works. */
  const spare = () => {
    nodes += 1
    return spawnNode(ledger, nodes, place.kind)
  }

  /**
   * @param {Node} node
   * @param {object} plan
   * @param {number} plan.part of the nodes that run at the same time: which slots are its own
   * @param {number} plan.events
   * @param {number} plan.restMs
   */
  async function start(node, { part, events, restMs }) {
    await node.told('ready')
    node.tell('start', {
      where: place.where(),
      accounts: ACCOUNTS,
      slots: events > 0 ? progress.slots(node.id, part) : [],
      again: part === 0 ? progress.again(random) : [],
      events,
      restMs,
      ...(node.id === 1 || !place.isKept ? { setUp } : {}),
    })
  }

  /** @param {Node} node @param {Ending} ending @param {Life} life */
  async function endAs(node, ending, life) {
    // A stream for each: two that run at once draw in no certain order.
    const own = random.stream(`node ${node.id}`)
    const some = (/** @type {number} */ least, /** @type {number} */ most) => sleep(own.integer(least, most))
    // The first one makes accounts and webhooks, without which the others had nothing to do.
    if (ending === 'killed while it started' && node.id > 1) {
      await some(0, 90)
      return node.kill()
    }
    await isUp(ledger, node)
    if (ending === 'killed when it began') await some(0, 40)
    else
      await Promise.race([node.acknowledged(own.integer(1, life.acknowledged)), some(life.ms / 10, life.ms)])
    if (ending === 'asked to end') return endNode(ledger, node)
    if (ending === 'killed while it ended') {
      void node.terminate()
      await some(0, 60)
    }
    return node.kill()
  }

  let next = spare()
  let beside = place.isShared ? spare() : undefined
  for (let cycle = 0; cycle < cycles && ledger.failures.length === 0; cycle += 1) {
    const node = next
    const ending = random.weighted(ENDS)
    endings.set(ending, (endings.get(ending) ?? 0) + 1)
    const restMs = random.pick([0, 2, 5])
    const life = cycle % OLD_EVERY === OLD_EVERY - 1 ? LIVES.old : LIVES.young
    // Some have nothing left to publish when they end, and only deliver.
    const events = random.chance(0.25) ? random.integer(40, 150) : 2 * life.acknowledged
    await start(node, { part: 0, events, restMs })
    next = spare()
    const ended = [endAs(node, ending, life)]
    if (beside && cycle > 0 && random.chance(BESIDE)) {
      const other = beside
      // Some deliver only.
      const few = random.chance(0.3) ? 0 : random.integer(40, 120)
      await start(other, { part: 1, events: few, restMs })
      beside = spare()
      ended.push(endAs(other, random.weighted(ENDS), LIVES.young))
    }
    const done = await Promise.all(ended)
    if (done.some(({ how }) => how === 'killed')) place.leaseIsOver()
    progress.cycleEnded()
  }

  // The last one publishes what nobody was told of, delivers all, and ends in good order.
  await start(next, { part: 0, events: 0, restMs: 0 })
  if (await isUp(ledger, next)) await rest(ledger, next)
  await endNode(ledger, next)
  await beside?.dismiss()
  receiver.close()
  return { ledger, endings }
}

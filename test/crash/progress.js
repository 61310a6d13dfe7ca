// @ts-check
/** The state of the publishers between nodes: where each call continues, and which events are published again. */
import { accountName, callName, hasKey } from './load.js'

/** Acknowledged events that each node publishes again on purpose. */
const ACKNOWLEDGED_AGAIN = 4
/** They are chosen among this many of the latest acknowledged events. */
const LATEST = 200

/**
 * @param {import('./history.js').History} history
 * @param {{ readonly slots: number, readonly accounts: number }} options
 */
export function createProgress(history, options) {
  /** The call of each slot, and the index of its next event. @type {Map<number, import('./load.js').EventPosition>} */
  const slots = new Map()
  /** Events with a key and without an acknowledgement. @type {Map<string, import('./load.js').EventPosition>} */
  const unacknowledged = new Map()
  let publishesSeen = 0
  let acksSeen = 0

  return {
    /** Takes in the history of a cycle. */
    cycleEnded() {
      for (const { call, index, node } of history.publishes.slice(publishesSeen)) {
        if (hasKey(index)) unacknowledged.set(`${call}#${index}`, { call, index })
        const slot = Number(/\.slot-(\d+)\./.exec(call)?.[1])
        const current = slots.get(slot)
        if (current?.call === call) slots.set(slot, { call, index: Math.max(current.index, index + 1) })
        // Otherwise it is a new call of this node, or an earlier one that was published again.
        else if (call.includes(`.node-${node}.`)) slots.set(slot, { call, index: index + 1 })
      }
      for (const { call, index } of history.acks.slice(acksSeen)) unacknowledged.delete(`${call}#${index}`)
      publishesSeen = history.publishes.length
      acksSeen = history.acks.length
    },
    /**
     * The calls that a node continues.
     *
     * @param {number} node
     * @param {number} part 0, 1: distinguishes nodes that run at the same time
     */
    slots(node, part) {
      return Array.from({ length: options.slots }, (_, number) => {
        const slot = part * options.slots + number
        const first = { call: callName(accountName(slot % options.accounts), node, slot, -1), index: 0 }
        return { slot, ...(slots.get(slot) ?? first) }
      })
    },
    /** The events that a node publishes again. @param {import('hookswitch/testkit').SeededRandom} random */
    republish(random) {
      const latest = history.acks.slice(-LATEST).filter(({ index }) => hasKey(index))
      const acknowledged =
        latest.length === 0 ? [] : Array.from({ length: ACKNOWLEDGED_AGAIN }, () => random.pick(latest))
      return [...unacknowledged.values(), ...acknowledged].map(({ call, index }) => ({ call, index }))
    },
  }
}

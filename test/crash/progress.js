// @ts-check
/** Where publishers stand: which call goes on where, and which events are to be published again. */
import { accountName, callName, hasKey } from './load.js'

/** Events that are published again although their first time was acknowledged, at most so many by each node. */
const CERTAIN_AGAIN = 4
/** The latest acknowledged ones to choose from. */
const LATEST = 200

/**
 * @param {import('./ledger.js').Ledger} ledger
 * @param {{ readonly slots: number, readonly accounts: number }} how
 */
export function createProgress(ledger, how) {
  /** The call of each slot, and what its next event is. @type {Map<number, import('./load.js').Place>} */
  const slots = new Map()
  /** Events with a key that nobody was told of. @type {Map<string, import('./load.js').Place>} */
  const uncertain = new Map()
  let triesSeen = 0
  let acksSeen = 0

  return {
    /** After a cycle: takes in what it brought. */
    cycleEnded() {
      for (const { call, index, node } of ledger.tries.slice(triesSeen)) {
        if (hasKey(index)) uncertain.set(`${call}#${index}`, { call, index })
        const slot = Number(/\.slot-(\d+)\./.exec(call)?.[1])
        const at = slots.get(slot)
        if (at?.call === call) slots.set(slot, { call, index: Math.max(at.index, index + 1) })
        // Else it is a new call of this node, or one of long ago that was published again.
        else if (call.includes(`.node-${node}.`)) slots.set(slot, { call, index: index + 1 })
      }
      for (const { call, index } of ledger.acks.slice(acksSeen)) uncertain.delete(`${call}#${index}`)
      triesSeen = ledger.tries.length
      acksSeen = ledger.acks.length
    },
    /**
     * Calls for a node to go on with.
     *
     * @param {number} node
     * @param {number} part 0, 1: of the nodes that run at the same time
     */
    slots(node, part) {
      return Array.from({ length: how.slots }, (_, number) => {
        const slot = part * how.slots + number
        const first = { call: callName(accountName(slot % how.accounts), node, slot, -1), index: 0 }
        return { slot, ...(slots.get(slot) ?? first) }
      })
    },
    /** @param {import('hookswitch/testkit').SeededRandom} random */
    again(random) {
      const latest = ledger.acks.slice(-LATEST).filter(({ index }) => hasKey(index))
      const certain =
        latest.length === 0 ? [] : Array.from({ length: CERTAIN_AGAIN }, () => random.pick(latest))
      return [...uncertain.values(), ...certain].map(({ call, index }) => ({ call, index }))
    },
  }
}

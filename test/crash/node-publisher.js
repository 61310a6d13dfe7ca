// @ts-check
/** Publishes the events of many calls at once, each call's one after the other, and tells of every one. */
import { accountName, callName, EVENTS_OF_A_CALL, eventAt, sleep } from './load.js'

/** @typedef {(...line: readonly unknown[]) => void} Say */

const REST_AFTER_REFUSAL_MS = 20

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {number} node
 * @param {import('./nodes.js').Plan} plan
 * @param {Say} say
 */
export function createPublisher(hs, node, plan, say) {
  let left = plan.events
  let isStopped = false
  /** @type {Promise<unknown> | undefined} */
  let running

  /** @param {import('./load.js').Place} place */
  async function publish({ call, index }) {
    say('try', call, index)
    try {
      const { eventId, sequence, duplicate } = await hs.publish(eventAt({ call, index }))
      say('ack', call, index, eventId, sequence, duplicate)
    } catch (thrown) {
      const { code = String(thrown) } = /** @type {{ code?: string }} */ (thrown)
      say('no', call, index, code)
      // A node that closes takes nothing any more.
      if (code === 'Closing') isStopped = true
      else await sleep(REST_AFTER_REFUSAL_MS)
    }
  }

  /**
   * One call after the other, the first where a former node left it.
   *
   * @param {import('./load.js').Place & { readonly slot: number }} from
   */
  async function publishCalls({ slot, call, index }) {
    // Some calls tell several events at once: their order is that in which they were accepted.
    const width = slot % 4 === 3 ? 2 : 1
    for (let number = 0; !isStopped && left > 0; ) {
      const group = Math.min(width, EVENTS_OF_A_CALL - index)
      left -= group
      await Promise.all(Array.from({ length: group }, (_, more) => publish({ call, index: index + more })))
      index += group
      if (index >= EVENTS_OF_A_CALL) {
        call = callName(accountName((slot + number) % plan.accounts), node, slot, number)
        number += 1
        index = 0
      }
      if (plan.restMs > 0) await sleep(plan.restMs)
    }
  }

  return {
    /** Publishes until all of the plan is, or `done` is called. */
    run() {
      running = Promise.all([...plan.again.map(publish), ...plan.slots.map(publishCalls)])
      return running
    },
    /** Resolves when all that is under way, and was to be published again, is. */
    async done() {
      isStopped = true
      await running
    },
  }
}

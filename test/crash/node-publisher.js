// @ts-check
/** Publishes the events of many calls concurrently, those of a call in order, and reports each publish. */
import { accountName, callName, EVENTS_PER_CALL, eventAt, sleep } from './load.js'

/** @typedef {(...line: readonly unknown[]) => void} Report */

const PAUSE_AFTER_REFUSAL_MS = 20

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {number} node
 * @param {import('./nodes.js').NodePlan} plan
 * @param {Report} report
 */
export function createPublisher(hs, node, plan, report) {
  let left = plan.events
  let isStopped = false
  /** @type {Promise<unknown> | undefined} */
  let running

  /** @param {import('./load.js').EventPosition} position */
  async function publish({ call, index }) {
    report('publish', call, index)
    try {
      const { eventId, sequence, duplicate } = await hs.publish(eventAt({ call, index }))
      report('ack', call, index, eventId, sequence, duplicate)
    } catch (thrown) {
      const { code = String(thrown) } = /** @type {{ code?: string }} */ (thrown)
      report('refusal', call, index, code)
      // A closing node accepts nothing more.
      if (code === 'Closing') isStopped = true
      else await sleep(PAUSE_AFTER_REFUSAL_MS)
    }
  }

  /**
   * Publishes one call after the other, beginning where an earlier node left off.
   *
   * @param {import('./load.js').EventPosition & { readonly slot: number }} from
   */
  async function publishCalls({ slot, call, index }) {
    // Some calls publish two events at a time: their order is the order of acceptance.
    const width = slot % 4 === 3 ? 2 : 1
    for (let number = 0; !isStopped && left > 0; ) {
      const group = Math.min(width, EVENTS_PER_CALL - index)
      left -= group
      await Promise.all(
        Array.from({ length: group }, (_, offset) => publish({ call, index: index + offset })),
      )
      index += group
      if (index >= EVENTS_PER_CALL) {
        call = callName(accountName((slot + number) % plan.accounts), node, slot, number)
        number += 1
        index = 0
      }
      if (plan.pauseMs > 0) await sleep(plan.pauseMs)
    }
  }

  return {
    /** Publishes everything in the plan, or until `stop` is called. */
    run() {
      running = Promise.all([...plan.republish.map(publish), ...plan.slots.map(publishCalls)])
      return running
    },
    /** Stops after the publishes that are in progress and those that repeat earlier ones. */
    async stop() {
      isStopped = true
      await running
    },
  }
}

// @ts-check
/** A small ledger in which all is well: three events of a call, two webhooks, a crash and what it repeated. */
import { Ledger } from './ledger.js'

/**
 * A request that was answered at once.
 *
 * @param {object} how
 * @param {string} how.webhook
 * @param {number} how.index
 * @param {number} how.at
 * @param {number} how.node
 * @param {number} [how.attempt]
 * @param {number} [how.call]
 * @returns {import('./ledger.js').Sight}
 */
export function sight({ webhook, index, at, node, attempt = 1, call = 0 }) {
  return {
    kind: 'sight',
    at,
    node,
    webhook: `account-0/${webhook}`,
    delivery: `${call}/${webhook}/${index}`,
    attempt,
    call: `account-0.node-1.slot-0.${call}`,
    index,
    event: `event-${call}-${index}`,
    sequence: index + 1,
    body: `the body of ${index}`,
    status: 200,
    doneAt: at + 10,
  }
}

/** Node 1 publishes three events; it is killed while it sends the second one to `a`, which node 2 repeats. */
export function goodLedger(call = 0) {
  const ledger = new Ledger()
  for (const index of [0, 1, 2]) {
    const place = { call: `account-0.node-1.slot-0.${call}`, index, node: 1 }
    const known = { event: `event-${call}-${index}`, sequence: index + 1, duplicate: false }
    ledger.tries.push({ ...place, kind: 'try', at: 100 * index })
    ledger.acks.push({ ...place, ...known, kind: 'ack', at: 100 * index + 50 })
  }
  ledger.sights.push(
    sight({ call, webhook: 'a', index: 0, at: 1000, node: 1 }),
    sight({ call, webhook: 'b', index: 0, at: 1001, node: 1 }),
    sight({ call, webhook: 'b', index: 1, at: 1200, node: 1 }),
    sight({ call, webhook: 'a', index: 1, at: 2000, node: 1 }),
    sight({ call, webhook: 'a', index: 1, at: 4000, node: 2, attempt: 3 }),
    sight({ call, webhook: 'b', index: 2, at: 4100, node: 2 }),
    sight({ call, webhook: 'a', index: 2, at: 4200, node: 2 }),
    sight({ call, webhook: 'a', index: 2, at: 4400, node: 2 }),
  )
  // The last one was cut by the receiver, and tried again.
  const cut = /** @type {import('./ledger.js').Sight} */ (ledger.sights.at(-2))
  cut.status = 0
  Object.assign(/** @type {import('./ledger.js').Sight} */ (ledger.sights.at(-1)), { attempt: 2 })
  ledger.ends.push({ kind: 'end', at: 3000, node: 1, how: 'killed', until: 3001 })
  return ledger
}

// @ts-check
/** A small valid history: three events of a call, two webhooks, a crash, and the request repeated because of it. */
import { History } from './history.js'

/**
 * A request that was answered after 10 µs.
 *
 * @param {object} options
 * @param {string} options.webhook
 * @param {number} options.index
 * @param {number} options.at
 * @param {number} options.node
 * @param {number} [options.attempt]
 * @param {number} [options.call]
 * @returns {import('./history.js').ReceivedRequest}
 */
export function receivedRequest({ webhook, index, at, node, attempt = 1, call = 0 }) {
  return {
    kind: 'request',
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

/** Node 1 publishes three events and is killed while it sends the second one to `a`; node 2 sends it again. */
export function validHistory(call = 0) {
  const history = new History()
  for (const index of [0, 1, 2]) {
    const position = { call: `account-0.node-1.slot-0.${call}`, index, node: 1 }
    const result = { event: `event-${call}-${index}`, sequence: index + 1, duplicate: false }
    history.publishes.push({ ...position, kind: 'publish', at: 100 * index })
    history.acks.push({ ...position, ...result, kind: 'ack', at: 100 * index + 50 })
  }
  history.requests.push(
    receivedRequest({ call, webhook: 'a', index: 0, at: 1000, node: 1 }),
    receivedRequest({ call, webhook: 'b', index: 0, at: 1001, node: 1 }),
    receivedRequest({ call, webhook: 'b', index: 1, at: 1200, node: 1 }),
    receivedRequest({ call, webhook: 'a', index: 1, at: 2000, node: 1 }),
    receivedRequest({ call, webhook: 'a', index: 1, at: 4000, node: 2, attempt: 3 }),
    receivedRequest({ call, webhook: 'b', index: 2, at: 4100, node: 2 }),
    receivedRequest({ call, webhook: 'a', index: 2, at: 4200, node: 2 }),
    receivedRequest({ call, webhook: 'a', index: 2, at: 4400, node: 2 }),
  )
  // The receiver reset the connection of the second last request; the last one is its retry.
  const reset = /** @type {import('./history.js').ReceivedRequest} */ (history.requests.at(-2))
  reset.status = 0
  Object.assign(/** @type {import('./history.js').ReceivedRequest} */ (history.requests.at(-1)), {
    attempt: 2,
  })
  history.stops.push({ kind: 'stop', at: 3000, node: 1, how: 'killed', until: 3001 })
  return history
}

// @ts-check
/**
 * Checks the history of a round against the promises of the service. Each rule yields violations: what is wrong, and which
 * call, webhook or node it concerns. Shares no code with the service.
 *
 * @typedef {object} Violation
 * @property {string} rule
 * @property {string} what one sentence
 * @property {string} [call]
 * @property {string} [webhook]
 * @property {number} [node]
 *
 * @typedef {import('./history.js').History} History
 * @typedef {import('./history.js').ReceivedRequest} ReceivedRequest
 * @typedef {import('./history.js').Ack} Ack
 * @typedef {import('./tracked-state.js').TrackedState} TrackedState
 */

import { accountOf, WEBHOOKS } from './load.js'
import { checkAttemptNumbers, checkDuplicates, checkNamedStarts, checkOverlaps } from './oracle-duplicates.js'
import { checkNodes, checkRefusals } from './oracle-nodes.js'
import { checkAcceptanceOrder, checkSendingOrder } from './oracle-order.js'
import { trackState } from './tracked-state.js'

/** @typedef {(state: TrackedState) => Iterable<Violation>} Rule */

const isSuccess = (/** @type {ReceivedRequest} */ { status }) => status >= 200 && status < 300

/** Every acknowledged event reaches every receiver; so does an unacknowledged one that reached any receiver. */
function* checkLoss(/** @type {TrackedState} */ { history, positionOf, succeeded, undelivered, acked }) {
  for (const [event, { call, index }] of positionOf) {
    if (history.failover?.lost.has(event)) continue
    for (const name of WEBHOOKS) {
      const webhook = `${accountOf(call)}/${name}`
      if (succeeded.has(`${webhook} ${event}`)) continue
      const end = undelivered.get(`${webhook} ${event}`)
      const why = end ? `ended as ${end.state} (${end.reason}), and so did its replay` : 'never did'
      const origin = acked.has(event) ? 'was acknowledged' : 'reached another receiver'
      const what = `event ${event} (${call}, ${index}) ${origin}, should have reached ${webhook}, and ${why}`
      yield { rule: 'lost', what, call, webhook }
    }
  }
}

/** A delivery ends undelivered only as quarantined, and only after three stops of nodes since it was published. */
function* checkUndelivered(/** @type {TrackedState} */ { history, positionOf, publishedAt }) {
  for (const { delivery, webhook, event, state, reason } of history.undelivered) {
    const { call = '', index = 0 } = positionOf.get(event) ?? {}
    const since = publishedAt.get(`${call}#${index}`) ?? 0
    const stops = history.stops.filter(({ how, at }) => how !== 'terminated' && at >= since)
    if (state === 'quarantined' && stops.length >= 3) continue
    yield {
      rule: 'undelivered',
      what: `${delivery} of ${event} to ${webhook} ended as ${state}: ${reason}`,
      call,
      webhook,
    }
  }
}

/** Every request is a delivery of an event that was published, to a webhook of its account. */
function* checkUnexpected(/** @type {TrackedState} */ { history, publishedAt }) {
  for (const { what } of history.unexpected)
    yield { rule: 'unexpected', what: `a request is not a delivery: ${what}` }
  for (const { call, index, webhook, event } of history.requests) {
    const what = `event ${event} (${call}, ${index}) reached ${webhook}`
    if (!publishedAt.has(`${call}#${index}`))
      yield { rule: 'unexpected', what: `${what}, but was never published`, call, webhook }
    if (!webhook.startsWith(`${accountOf(call)}/`)) {
      yield { rule: 'unexpected', what: `${what}, which belongs to another account`, call, webhook }
    }
  }
}

/** What is published once, or again with its key, is one event with one sequence number for publishers and receivers. */
function* checkIdentity(/** @type {TrackedState} */ { history, events }) {
  for (const [position, all] of events) {
    const call = position.slice(0, position.indexOf('#'))
    if (all.size > 1)
      yield {
        rule: 'identity',
        what: `${position} became ${all.size} events: ${[...all].join(', ')}`,
        call,
      }
  }
  /** @type {Map<string, number>} */
  const sequences = new Map()
  for (const { event, sequence, call } of [...history.acks, ...history.requests]) {
    const before = sequences.get(event) ?? sequence
    sequences.set(event, before)
    if (before === sequence) continue
    yield {
      rule: 'identity',
      what: `event ${event} has number ${before} of its call, and number ${sequence}`,
      call,
    }
  }
}

/** All requests of a delivery have the same body; an event has one delivery per webhook. */
function* checkBodies(/** @type {TrackedState} */ { deliveries, replays }) {
  /** @type {Map<string, string>} */
  const deliveryOf = new Map()
  for (const [delivery, [first, ...more]] of deliveries) {
    if (!first) continue
    const { call, webhook, event } = first
    const other = more.find(({ body }) => body !== first.body)
    if (other)
      yield { rule: 'changed', what: `${delivery}: ${first.body} became ${other.body}`, call, webhook }
    if (replays.has(delivery)) continue
    const earlier = deliveryOf.get(`${webhook} ${event}`) ?? delivery
    deliveryOf.set(`${webhook} ${event}`, earlier)
    if (earlier === delivery) continue
    yield {
      rule: 'identity',
      what: `event ${event} was sent to ${webhook} as ${earlier} and as ${delivery}`,
      call,
      webhook,
    }
  }
}

/**
 * The nodes count the pending deliveries that the standby of a failover never got: at least those that were never sent and whose
 * owner has accepted them itself and stays their owner, and none that had succeeded. (What another node accepted a moment before
 * is not known to the owner yet, and what is in flight is not counted. Where the standby may not know of a hand-over, no number is
 * certain.)
 */
function* checkCountedLosses(/** @type {TrackedState} */ state) {
  if (!state.history.failover) return
  const counted = state.history.countedLosses.reduce((sum, { lost }) => sum + lost, 0)
  const { certain, possible } = countLost(state)
  if (counted >= certain && counted <= possible) return
  const what = `${counted} deliveries were counted as lost, although ${certain} certainly were, and ${possible} may be`
  yield { rule: 'uncounted', what }
}

/** @param {TrackedState} state */
function countLost({ history, positionOf, succeeded }) {
  const { at = 0, lost = new Set(), knowsHandOver = false } = history.failover ?? {}
  const early = history.requests.filter((request) => request.at <= at)
  const keyOf = (/** @type {ReceivedRequest} */ { webhook, event }) => `${webhook} ${event}`
  // Also after it, when a start was committed just before: a node does not send what the new server does not have.
  const sent = new Set(history.requests.map(keyOf))
  const arrived = new Set(early.filter((request) => isSuccess(request) && request.doneAt <= at).map(keyOf))
  /** The node that served a webhook last. */
  const owners = new Map(early.map(({ webhook, node }) => [webhook, node]))
  // With a new lease, or a new owner, the shard is loaded from a server that does not have what it lost.
  const fenced = new Set(
    history.leases
      .filter(({ node }, index) => history.leases.findIndex((lease) => lease.node === node) < index)
      .map(({ node }) => node),
  )
  const moved = new Set(
    history.requests
      .filter((request) => request.at > at && request.node !== owners.get(request.webhook))
      .map((request) => request.webhook),
  )
  const publishers = new Map(history.acks.map(({ event, node }) => [event, node]))
  const count = { certain: 0, possible: 0, never: 0 }
  for (const event of lost) {
    const account = accountOf(positionOf.get(event)?.call ?? '')
    for (const name of WEBHOOKS) {
      const webhook = `${account}/${name}`
      const key = `${webhook} ${event}`
      if (!succeeded.has(key)) count.never += 1
      if (!arrived.has(key)) count.possible += 1
      const owner = owners.get(webhook)
      const isOwn =
        knowsHandOver && owner === publishers.get(event) && !fenced.has(owner ?? 0) && !moved.has(webhook)
      if (isOwn && !sent.has(key)) count.certain += 1
    }
  }
  return count
}

/** @type {readonly Rule[]} */
const RULES = [
  checkNodes,
  checkRefusals,
  checkLoss,
  checkUndelivered,
  checkUnexpected,
  checkIdentity,
  checkBodies,
  checkAcceptanceOrder,
  checkSendingOrder,
  checkOverlaps,
  checkAttemptNumbers,
  checkDuplicates,
  checkNamedStarts,
  checkCountedLosses,
]

/** @param {History} history */
export function checkHistory(history) {
  const state = trackState(history)
  const violations = RULES.flatMap((rule) => [...rule(state)])
  const duplicates = [...state.deliveries.values()].reduce(
    (sum, requests) => sum + Math.max(0, requests.filter(isSuccess).length - 1),
    0,
  )
  return {
    violations,
    counts: {
      acknowledged: state.acked.size,
      unacknowledged: [...state.positionOf.keys()].filter((event) => !state.acked.has(event)).length,
      requests: history.requests.length,
      deliveries: state.deliveries.size,
      duplicates,
      ...(history.failover && {
        'events lost by the standby': history.failover.lost.size,
        'deliveries lost by it': countLost(state).never,
        'counted as lost by nodes': history.countedLosses.reduce((sum, { lost }) => sum + lost, 0),
        'counted as returned by nodes': history.countedLosses.reduce(
          (sum, { returned }) => sum + returned,
          0,
        ),
      }),
      'undelivered, replayed': history.undelivered.length,
      'published again': history.acks.filter(({ duplicate }) => duplicate).length,
    },
  }
}

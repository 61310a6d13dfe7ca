// @ts-check
/** Rules about repeated requests: each repetition is explained by a crash, and a crash explains only so many. */
import { ATTEMPT_MS, DRAIN_MS, IN_FLIGHT_PER_ENDPOINT } from './load.js'

/**
 * Microseconds after which a terminated node may have aborted its requests: half of the drain time, because clocks and
 * reports are delayed.
 */
const ABORTED_AFTER = (DRAIN_MS * 1000) / 2
/** Microseconds by which the close of a connection may be seen after the next request on another connection. */
const CLOSE_DELAY = 100_000

/**
 * @typedef {import('./tracked-state.js').TrackedState} TrackedState
 * @typedef {import('./history.js').ReceivedRequest} ReceivedRequest
 * @typedef {import('./history.js').NodeStop} NodeStop
 * @typedef {import('./oracle.js').Violation} Violation
 */

/**
 * Finds the stop of a node that explains why a successfully answered request was repeated: the node that had sent it was
 * killed or paused before it could record the response. A terminated node records responses until its drain time is over
 * and it aborts the rest. (The last requests of a dead node may arrive shortly after its death.)
 *
 * @param {readonly NodeStop[]} stops of the node that sent `first`
 * @param {ReceivedRequest} first
 * @param {ReceivedRequest} next
 */
function findExplanation(stops, first, next) {
  return stops.find(({ how, at, until }) => {
    if (at > next.at) return false
    if (how === 'killed') return true
    if (how === 'paused') return first.at <= until
    return first.doneAt >= at + ABORTED_AFTER
  })
}

/**
 * The last pause of a node before its request. A node that was paused between its claim and its request sends the request
 * when it resumes, even if another node has taken the delivery over by then.
 *
 * @param {Map<number, NodeStop[]>} stopsByNode
 * @param {ReceivedRequest} request
 */
const findEarlierPause = (stopsByNode, { node, at }) =>
  stopsByNode.get(node)?.findLast((stop) => stop.how === 'paused' && stop.until <= at)

/**
 * Whether the node did not wait for the answer any more: a request that is sent once more on a new connection has the deadline of
 * the first one.
 *
 * @param {readonly ReceivedRequest[]} requests of one delivery
 * @param {ReceivedRequest} answered one of them
 */
function isAfterDeadline(requests, { node, attempt, doneAt }) {
  const begun = requests.find((request) => request.node === node && request.attempt === attempt)
  return begun !== undefined && doneAt - begun.at > ATTEMPT_MS * 1000
}

/** @param {TrackedState} state @returns {Map<number, NodeStop[]>} */
function groupStopsByNode({ history }) {
  /** @type {Map<number, NodeStop[]>} */
  const stopsByNode = new Map()
  for (const stop of history.stops) stopsByNode.set(stop.node, [...(stopsByNode.get(stop.node) ?? []), stop])
  return stopsByNode
}

/**
 * A successfully answered request is repeated only if its node was killed or paused in between. One such stop explains at
 * most as many repetitions per webhook as the node had requests in flight.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkDuplicates(state) {
  const stopsByNode = groupStopsByNode(state)
  /** Number of repetitions that each stop explains, by webhook. @type {Map<NodeStop, Map<string, number>>} */
  const explained = new Map()
  for (const [delivery, requests] of state.deliveries) {
    for (const [at, first] of requests.entries()) {
      const next = requests[at + 1]
      if (!next || first.status < 200 || first.status >= 300 || state.hasReturned(first)) continue
      if (isAfterDeadline(requests, first)) continue
      const { call, webhook } = first
      // A node that was paused before this request sent it when the next owner had taken the delivery over, which a later
      // attempt or the start of the paused node shows. The next owner did not know of the success.
      const isLate =
        requests.slice(0, at).some(({ attempt }) => attempt > first.attempt) ||
        state.history.named?.has(`${webhook} ${first.event}`)
      const stop =
        findExplanation(stopsByNode.get(first.node) ?? [], first, next) ??
        findEarlierPause(stopsByNode, next) ??
        (isLate ? findEarlierPause(stopsByNode, first) : undefined)
      if (!stop) {
        const what = `${delivery} to ${webhook} was answered with ${first.status} and sent again, although its node had not died`
        yield { rule: 'duplicate', what, call, webhook }
        continue
      }
      const counts = explained.get(stop) ?? new Map()
      explained.set(stop, counts.set(webhook, (counts.get(webhook) ?? 0) + 1))
    }
  }
  for (const [{ node }, counts] of explained) {
    for (const [webhook, count] of counts) {
      if (count <= IN_FLIGHT_PER_ENDPOINT) continue
      const what = `${count} deliveries to ${webhook} were repeated after node ${node} died, which had at most ${IN_FLIGHT_PER_ENDPOINT} in flight`
      yield { rule: 'duplicate', what, webhook }
    }
  }
}

/**
 * A delivery has at most one request in flight, unless the node of the first one is dead or paused.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkOverlaps(state) {
  const stopsByNode = groupStopsByNode(state)
  for (const [delivery, requests] of state.deliveries) {
    for (const [at, first] of requests.entries()) {
      const next = requests[at + 1]
      if (!next || first.doneAt <= next.at + CLOSE_DELAY) continue
      const isExplained = (stopsByNode.get(first.node) ?? []).some(
        (stop) => stop.how !== 'terminated' && stop.at <= next.at,
      )
      if (isExplained || findEarlierPause(stopsByNode, next)) continue
      const { call, webhook } = first
      const what = `${delivery} was sent to ${webhook} while another request of it was in flight`
      yield { rule: 'duplicate', what, call, webhook }
    }
  }
}

/**
 * Each attempt number of a delivery is sent once. Only a node that was paused may repeat the number of another node, and a node
 * sends a request once more whose connection was closed without an answer.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkAttemptNumbers(state) {
  const stopsByNode = groupStopsByNode(state)
  for (const [delivery, requests] of state.deliveries) {
    for (const [at, request] of requests.entries()) {
      const { attempt, webhook, call } = request
      const next = requests[at + 1]
      if (!next || next.attempt > attempt) continue
      const isClosed = request.status === 0 && request.node === next.node && next.attempt === attempt
      if (isClosed && requests[at - 1]?.attempt !== attempt) continue
      if (state.hasReturned(request) || findEarlierPause(stopsByNode, next)) continue
      const what = `${delivery} was sent to ${webhook} as attempt ${attempt}, then as attempt ${next.attempt}`
      yield { rule: 'attempts', what, call, webhook }
    }
  }
}

/**
 * What is sent again after a success is named by a start of a node that did not run, where the starts were read.
 *
 * @param {TrackedState} state
 * @returns {Iterable<Violation>}
 */
export function* checkNamedStarts({ history, deliveries, replays }) {
  const { named } = history
  if (!named) return
  for (const [delivery, requests] of deliveries) {
    const success = requests.findIndex(({ status }) => status >= 200 && status < 300)
    const first = requests[success]
    if (!first || success === requests.length - 1 || replays.has(delivery)) continue
    const { webhook, event, call } = first
    if (named.has(`${webhook} ${event}`) || isAfterDeadline(requests, first)) continue
    const what = `${delivery} was sent to ${webhook} again after a success, and no start of a stopped node names it`
    yield { rule: 'unnamed', what, call, webhook }
  }
}

// @ts-check
/** The rules of repetition: every request that was not needed has a crash that explains it, and no crash explains many. */
import { DRAIN_MS, IN_FLIGHT_PER_ENDPOINT } from './load.js'

/** Microseconds after which a node that was asked to end may have cut its requests: half, since clocks and news lag. */
const CUT_FROM = (DRAIN_MS * 1000) / 2
/** Microseconds by which the news of a connection's end may be later than the next request, on another connection. */
const LATE_NEWS = 100_000

/**
 * @typedef {import('./book.js').Book} Book
 * @typedef {import('./ledger.js').Sight} Sight
 * @typedef {import('./ledger.js').End} End
 * @typedef {import('./oracle.js').Finding} Finding
 */

/**
 * The end of a node that explains why a request was repeated although it was answered with a success: the node that
 * had sent it was killed, or stood still, before it could write down the answer. One that was asked to end writes
 * down what it is answered, until it has waited long enough and cuts the rest. (A dead node's last requests may arrive
 * a little after its death.)
 *
 * @param {readonly End[]} ends of the node that sent `first`
 * @param {Sight} first
 * @param {Sight} next
 */
function excuse(ends, first, next) {
  return ends.find(({ how, at, until }) => {
    if (at > next.at) return false
    if (how === 'killed') return true
    if (how === 'paused') return first.at <= until
    return first.doneAt >= at + CUT_FROM
  })
}

/**
 * A node that was stopped between its claim and its request sends when it goes on, whoever has sent by then.
 *
 * @param {Map<number, End[]>} byNode
 * @param {Sight} sight
 */
const pauseBefore = (byNode, { node, at }) =>
  byNode.get(node)?.find((end) => end.how === 'paused' && end.until <= at)

/** @param {Book} book @returns {Map<number, End[]>} the ends of each node */
function endsByNode({ ledger }) {
  /** @type {Map<number, End[]>} */
  const byNode = new Map()
  for (const end of ledger.ends) byNode.set(end.node, [...(byNode.get(end.node) ?? []), end])
  return byNode
}

/**
 * What was answered with a success is sent again only where its node was killed, or stood still, in between; and for
 * one webhook not more of it than the node had in flight.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* duplicates(book) {
  const byNode = endsByNode(book)
  /** How much each end has explained. @type {Map<End, Map<string, number>>} */
  const charged = new Map()
  for (const [delivery, sights] of book.deliveries) {
    for (const [at, first] of sights.entries()) {
      const next = sights[at + 1]
      if (!next || first.status < 200 || first.status >= 300) continue
      const { call, webhook } = first
      const end = excuse(byNode.get(first.node) ?? [], first, next) ?? pauseBefore(byNode, next)
      if (!end) {
        const what = `${delivery} to ${webhook} was answered ${first.status} and sent again, and its node had not died`
        yield { rule: 'duplicate', what, call, webhook }
        continue
      }
      const counts = charged.get(end) ?? new Map()
      charged.set(end, counts.set(webhook, (counts.get(webhook) ?? 0) + 1))
    }
  }
  for (const [{ node }, counts] of charged) {
    for (const [webhook, count] of counts) {
      if (count <= IN_FLIGHT_PER_ENDPOINT) continue
      const what = `${count} deliveries to ${webhook} were repeated after node ${node} died, which had ${IN_FLIGHT_PER_ENDPOINT} in flight at most`
      yield { rule: 'duplicate', what, webhook }
    }
  }
}

/**
 * A delivery is not sent while a request of it is under way: unless its node is dead, or stands still.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* overlaps(book) {
  const byNode = endsByNode(book)
  for (const [delivery, sights] of book.deliveries) {
    for (const [at, first] of sights.entries()) {
      const next = sights[at + 1]
      if (!next || first.doneAt <= next.at + LATE_NEWS) continue
      const isExcused = (byNode.get(first.node) ?? []).some((end) => end.how !== 'asked' && end.at <= next.at)
      if (isExcused || pauseBefore(byNode, next)) continue
      const { call, webhook } = first
      const what = `${delivery} was sent to ${webhook} while a request of it was under way`
      yield { rule: 'duplicate', what, call, webhook }
    }
  }
}

/**
 * Attempts are numbered; each number is sent once. Only a node that stood still may send one that another has sent.
 *
 * @param {Book} book
 * @returns {Iterable<Finding>}
 */
export function* repeatedAttempts(book) {
  const byNode = endsByNode(book)
  for (const [delivery, sights] of book.deliveries) {
    for (const [at, { attempt, webhook, call }] of sights.entries()) {
      const next = sights[at + 1]
      if (!next || next.attempt > attempt || pauseBefore(byNode, next)) continue
      const what = `${delivery} was sent to ${webhook} as attempt ${attempt}, then as attempt ${next.attempt}`
      yield { rule: 'attempts', what, call, webhook }
    }
  }
}

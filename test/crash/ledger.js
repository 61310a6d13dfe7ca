// @ts-check
/**
 * What was seen from outside, in the order in which it was seen: what publishers said, what the receivers got, how
 * nodes ended. All that the oracle knows; times are microseconds of the machine's monotonic clock.
 *
 * @typedef {import('./load.js').Place} Place
 *
 * @typedef {Place & { readonly kind: 'try', readonly at: number, readonly node: number }} Try a publish began
 *
 * @typedef {Place & {
 *   readonly kind: 'ack', readonly at: number, readonly node: number,
 *   readonly event: string, readonly sequence: number, readonly duplicate: boolean,
 * }} Ack a publish resolved: from here on the event is kept
 *
 * @typedef {Place & { readonly kind: 'no', readonly at: number, readonly node: number, readonly code: string }} Refusal
 *
 * @typedef {Place & {
 *   readonly kind: 'sight', readonly at: number, readonly node: number,
 *   readonly webhook: string, readonly delivery: string, readonly attempt: number,
 *   readonly event: string, readonly sequence: number, readonly body: string,
 *   status: number, doneAt: number,
 * }} Sight a request arrived. `status`: what it was answered, 0 while it is not; `doneAt`: answered, or its connection
 *   gone, Infinity before
 *
 * @typedef {object} End how a node ended, or was stopped for a while
 * @property {'end'} kind
 * @property {number} at when it was told
 * @property {number} node
 * @property {'killed' | 'asked' | 'paused'} how
 * @property {number} until when it was gone, or went on; Infinity before
 * @property {number | null} [code] exit code of one that was asked to end
 *
 * @typedef {object} GivenUp a delivery that ended in another way than delivered, as the API tells it
 * @property {string} delivery
 * @property {string} webhook
 * @property {string} event
 * @property {string} state
 * @property {string} reason
 * @property {string} [replay] the delivery that repeats it
 */

export class Ledger {
  /** @type {Try[]} */
  tries = []
  /** @type {Ack[]} */
  acks = []
  /** @type {Refusal[]} */
  refusals = []
  /** @type {Sight[]} */
  sights = []
  /** Requests that are none of ours. @type {{ at: number, what: string }[]} */
  strange = []
  /** @type {End[]} */
  ends = []
  /** @type {GivenUp[]} */
  givenUp = []
  /** Nodes that could not start, or did not go on. @type {{ node: number, reason: string }[]} */
  failures = []
  /** Codes of refusals that are meant to come. @type {Set<string>} */
  excused = new Set()
  /** Why the last node did not come to rest, if it did not. @type {{ node: number, what: string } | undefined} */
  restless
  /** The last lines of each node's log. @type {Map<number, string[]>} */
  logs = new Map()
}

// @ts-check
/**
 * The history of a run as seen from outside: what publishers reported, which requests the receivers got, how nodes
 * ended. It is the oracle's only input. Times are microseconds of the machine's monotonic clock.
 *
 * @typedef {import('./load.js').EventPosition} EventPosition
 *
 * @typedef {EventPosition & { readonly kind: 'publish', readonly at: number, readonly node: number }} Publish a publish
 *   was started
 *
 * @typedef {EventPosition & {
 *   readonly kind: 'ack', readonly at: number, readonly node: number,
 *   readonly event: string, readonly sequence: number, readonly duplicate: boolean,
 * }} Ack a publish resolved: from here on the event is durable
 *
 * @typedef {EventPosition & {
 *   readonly kind: 'refusal', readonly at: number, readonly node: number, readonly code: string,
 * }} Refusal a publish rejected
 *
 * @typedef {EventPosition & {
 *   readonly kind: 'request', readonly at: number, readonly node: number,
 *   readonly webhook: string, readonly delivery: string, readonly attempt: number,
 *   readonly event: string, readonly sequence: number, readonly body: string,
 *   status: number, doneAt: number,
 * }} ReceivedRequest a request arrived. `status`: of the response, 0 before it; `doneAt`: when it was answered or its
 *   connection was closed, Infinity before
 *
 * @typedef {object} NodeStop a node was ended or paused
 * @property {'stop'} kind
 * @property {number} at when the signal was sent
 * @property {number} node
 * @property {'killed' | 'terminated' | 'paused'} how
 * @property {number} until when it had exited, or was resumed; Infinity before
 * @property {number | null} [code] exit code of a terminated node
 *
 * @typedef {object} Undelivered a delivery that ended in another state than delivered, as the API reports it
 * @property {string} delivery
 * @property {string} webhook
 * @property {string} event
 * @property {string} state
 * @property {string} reason
 * @property {string} [replay] the delivery that replays it
 */

export class History {
  /** @type {Publish[]} */
  publishes = []
  /** @type {Ack[]} */
  acks = []
  /** @type {Refusal[]} */
  refusals = []
  /** @type {ReceivedRequest[]} */
  requests = []
  /** Requests that are not deliveries. @type {{ at: number, what: string }[]} */
  unexpected = []
  /** @type {NodeStop[]} */
  stops = []
  /** @type {Undelivered[]} */
  undelivered = []
  /** Leases that nodes got. @type {{ node: number, fence: number }[]} */
  leases = []
  /**
   * `webhook event` of each start that the store had of a node that did not run: only these may be sent again after a success.
   * Undefined: they were not read. @type {ReadonlySet<string> | undefined}
   */
  named
  /**
   * A failover: a moment after the primary was killed and before the nodes reach the standby, `webhook event` of what waited in
   * the standby when it was promoted, events that it never got, and whether it certainly knows which node owns which shard.
   * @type {{
   *   at: number, waiting: ReadonlySet<string>, lost: ReadonlySet<string>, knowsHandOver: boolean,
   * } | undefined}
   */
  failover
  /** Pending deliveries that nodes said the store had lost, and that it had again. @type {{ node: number, lost: number, returned: number }[]} */
  countedLosses = []
  /** Nodes that did not start, or made no progress. @type {{ node: number, reason: string }[]} */
  failures = []
  /** Error codes of refusals that are expected. @type {Set<string>} */
  expectedRefusals = new Set()
  /** Set if the last node did not become idle. @type {{ node: number, what: string } | undefined} */
  notIdle
  /** The last log lines of each node. @type {Map<number, string[]>} */
  logs = new Map()
}

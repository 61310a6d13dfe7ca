// @ts-check
/** Indexes of a history, for the rules of the oracle. */

/**
 * @typedef {import('./history.js').History} History
 * @typedef {import('./history.js').ReceivedRequest} ReceivedRequest
 * @typedef {ReturnType<typeof trackState>} TrackedState
 */

/** @param {History} history */
export function trackState(history) {
  const { publishes, acks, requests } = history
  /** Requests of each delivery, in order of arrival. @type {Map<string, ReceivedRequest[]>} */
  const deliveries = new Map()
  /** Event ids of each position in a call: there should be one. @type {Map<string, Set<string>>} */
  const events = new Map()
  /** @type {Map<string, import('./load.js').EventPosition>} */
  const positionOf = new Map()
  /** `webhook event` pairs that were answered with a success, in any delivery. @type {Set<string>} */
  const succeeded = new Set()

  /** When each position was first published. @type {Map<string, number>} */
  const publishedAt = new Map()
  for (const { call, index, at } of publishes) getOrCreate(publishedAt, `${call}#${index}`, () => at)

  for (const { call, index, event } of [...acks, ...requests]) {
    getOrCreate(events, `${call}#${index}`, () => new Set()).add(event)
    positionOf.set(event, { call, index })
  }
  for (const request of requests) {
    getOrCreate(deliveries, request.delivery, () => /** @type {ReceivedRequest[]} */ ([])).push(request)
    if (request.status >= 200 && request.status < 300) succeeded.add(`${request.webhook} ${request.event}`)
  }
  const { failover } = history
  /** Calls of lost events, and of deliveries that a standby had again: their numbers and their order are undone. */
  const disturbed = new Set()
  for (const { call, event, webhook, at } of requests) {
    if (!failover || at > failover.at) continue
    if (failover.lost.has(event) || failover.waiting.has(`${webhook} ${event}`)) disturbed.add(call)
  }
  for (const { call, event } of acks) if (failover?.lost.has(event)) disturbed.add(call)
  return {
    history,
    disturbed,
    /** Whether a standby had a delivery again after a request of it. @param {ReceivedRequest} request */
    hasReturned: ({ webhook, event, at }) =>
      failover !== undefined && at <= failover.at && failover.waiting.has(`${webhook} ${event}`),
    deliveries,
    events,
    positionOf,
    succeeded,
    publishedAt,
    acked: new Set(acks.map(({ event }) => event)),
    undelivered: new Map(history.undelivered.map((entry) => [`${entry.webhook} ${entry.event}`, entry])),
    replays: new Set(history.undelivered.map(({ replay }) => replay)),
  }
}

/**
 * @template Key, Value
 * @param {Map<Key, Value>} map
 * @param {Key} key
 * @param {() => Value} create
 * @returns {Value} the stored value, created if there was none
 */
export function getOrCreate(map, key, create) {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const created = create()
  map.set(key, created)
  return created
}

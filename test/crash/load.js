// @ts-check
/** What is published and how receivers answer: pure functions of names and numbers, the same in every process. */

/** @typedef {{ readonly call: string, readonly index: number }} EventPosition an event's index in its call: 0, 1, … */

const HOOKS = /** @type {const} */ (['channel_create', 'channel_answer', 'channel_bridge', 'channel_destroy'])

export const EVENTS_PER_CALL = 8
/** Requests in flight per webhook: the upper bound of duplicates that a crash may cause. */
export const IN_FLIGHT_PER_ENDPOINT = 10
/** How long a terminated node waits for its requests in flight, ms. */
export const DRAIN_MS = 500
/** Timeout of an attempt, ms; receivers that answer are much faster. */
export const ATTEMPT_MS = 1000
/** The webhooks of each account. */
export const WEBHOOKS = /** @type {const} */ (['a', 'b'])

/** @param {number} number 0, 1, … */
export const accountName = (number) => `account-${number}`

/** @param {string} call */
export const accountOf = (call) => call.slice(0, call.indexOf('.'))

/**
 * @param {string} account
 * @param {number} node
 * @param {number} slot
 * @param {number} number 0, 1, … of this node's slot
 */
export const callName = (account, node, slot, number) => `${account}.node-${node}.slot-${slot}.${number}`

/** Every third event of a call has an idempotency key: it is published again if no acknowledgement was seen. */
export const hasKey = (/** @type {number} */ index) => index % 3 === 0

/**
 * @param {EventPosition} position
 * @returns {import('hookswitch').ChannelEvent}
 */
export function eventAt({ call, index }) {
  const event = {
    hook: /** @type {import('hookswitch').ChannelEvent['hook']} */ (HOOKS[index % HOOKS.length]),
    accountId: accountOf(call),
    callId: call,
    from: '+12025550123@carrier.example',
    to: '1001@pbx.example',
    customChannelVars: { index },
  }
  return hasKey(index) ? { ...event, idempotencyKey: `${call}#${index}` } : event
}

/** @typedef {'ok' | 'slow' | 'error' | 'reset' | 'silence'} ReceiverAnswer */

/**
 * How a receiver answers a request. Only the first requests of a delivery fail, so that no retry budget is exhausted.
 *
 * @param {string} seed
 * @param {string} webhook
 * @param {EventPosition} position
 * @param {number} earlierRequests earlier requests of this delivery
 * @returns {ReceiverAnswer}
 */
export function answerTo(seed, webhook, { call, index }, earlierRequests) {
  const random = hashFraction(`${seed} ${webhook} ${call} ${index} ${earlierRequests}`)
  if (earlierRequests === 0) {
    if (random < 0.86) return 'ok'
    if (random < 0.91) return 'slow'
    if (random < 0.96) return 'error'
    return random < 0.985 ? 'reset' : 'silence'
  }
  if (earlierRequests > 1 || random < 0.9) return 'ok'
  return random < 0.97 ? 'error' : 'slow'
}

/**
 * Hashes a text to a number in [0, 1): FNV-1a (32 bits) followed by the finalizer of MurmurHash3 (public domain), because
 * FNV-1a alone maps texts that differ only at the end to close numbers.
 *
 * @param {string} text
 */
export function hashFraction(text) {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** Microseconds of the clock that all processes of a machine share (`CLOCK_MONOTONIC` on Linux). */
export const nowMicros = () => Number(process.hrtime.bigint() / 1000n)

/** @param {number} ms @returns {Promise<void>} */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

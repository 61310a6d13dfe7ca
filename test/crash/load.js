// @ts-check
/** What is published, and how receivers answer: functions of names and numbers, the same in every process. */

/** @typedef {{ readonly call: string, readonly index: number }} Place an event's place in its call: 0, 1, … */

const HOOKS = /** @type {const} */ (['channel_create', 'channel_answer', 'channel_bridge', 'channel_destroy'])

export const EVENTS_OF_A_CALL = 8
/** Requests in flight to one webhook: what one crash may send twice at most. */
export const IN_FLIGHT_PER_ENDPOINT = 10
/** Milliseconds that a node takes for its requests in flight when it is told to end. */
export const DRAIN_MS = 500
/** Milliseconds of one attempt; receivers that answer at all do so well before. */
export const ATTEMPT_MS = 1000
/** Webhooks of each account. */
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

/** Of the events of a call every third has an idempotency key: it is published again when nobody was told of it. */
export const hasKey = (/** @type {number} */ index) => index % 3 === 0

/**
 * @param {Place} place
 * @returns {import('hookswitch').ChannelEvent}
 */
export function eventAt({ call, index }) {
  const event = {
    hook: /** @type {string} */ (HOOKS[index % HOOKS.length]),
    accountId: accountOf(call),
    callId: call,
    from: '+12025550123@carrier.example',
    to: '1001@pbx.example',
    customChannelVars: { index },
  }
  return hasKey(index) ? { ...event, idempotencyKey: `${call}#${index}` } : event
}

/** @typedef {'ok' | 'slow' | 'error' | 'reset' | 'silence'} Answer */

/**
 * How a receiver answers, whoever asks and whenever: trouble comes with the first sights, so that no budget of
 * retries is spent.
 *
 * @param {string} seed
 * @param {string} webhook
 * @param {Place} place
 * @param {number} sight 0: this delivery was not seen before
 * @returns {Answer}
 */
export function answerTo(seed, webhook, { call, index }, sight) {
  const roll = share(`${seed} ${webhook} ${call} ${index} ${sight}`)
  if (sight === 0) {
    if (roll < 0.86) return 'ok'
    if (roll < 0.91) return 'slow'
    if (roll < 0.96) return 'error'
    return roll < 0.985 ? 'reset' : 'silence'
  }
  if (sight > 1 || roll < 0.9) return 'ok'
  return roll < 0.97 ? 'error' : 'slow'
}

/**
 * A number in [0, 1) that a text leads to: FNV-1a, 32 bits, stirred (the end of MurmurHash3, public domain), since
 * texts that differ at their end alone would lead to neighbours.
 *
 * @param {string} text
 */
export function share(text) {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** Microseconds of the clock that all processes of a machine share (`CLOCK_MONOTONIC` on Linux). */
export const micros = () => Number(process.hrtime.bigint() / 1000n)

/** @param {number} ms @returns {Promise<void>} */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

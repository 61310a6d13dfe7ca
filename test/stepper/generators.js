// @ts-check
/** Draws the webhooks, events, deliveries and settlements of a run from its seed. */

/**
 * @typedef {import('./nodes.js').RunContext} RunContext
 * @typedef {import('hookswitch/store').Delivery} Delivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 */

const ACCOUNT = 'account'

/** @param {import('hookswitch/testkit').SeededRandom} random @returns {import('hookswitch/store').Webhook} */
export function newWebhook(random) {
  const id = Buffer.from(random.bytes(16)).toString('hex')
  return {
    id,
    accountId: 'account',
    settings: {
      name: id,
      uri: 'https://receiver.example.com/',
      hook: 'channel_create',
      httpVerb: 'post',
      retries: 2,
      format: 'json',
      enabled: true,
      includeSubaccounts: false,
      includeInternalLegs: true,
      ordering: 'call',
    },
    secrets: [],
    createdMs: 0,
    modifiedMs: 0,
    enabledMs: 0,
    revision: 1,
    epoch: 1,
  }
}

/** An event of one of the run's calls. @param {RunContext} context */
export function newEvent({ random, id, now, calls }) {
  const eventId = id('event')
  const bodies = [{ head: '{"sequence":', tail: '}' }]
  const callId = random.pick(calls)
  const common = { accountId: ACCOUNT, callId, hook: 'channel_create', numbered: true }
  return { id: eventId, ...common, timestampMs: now(), bodies }
}

/** @param {RunContext} context @param {ReturnType<typeof newEvent>} event */
export function newDeliveries(
  { random, webhooks, id },
  { id: eventId, accountId, callId, hook, timestampMs },
) {
  const drawn = webhooks.filter(() => random.chance(0.6))
  const targets = drawn.length > 0 ? drawn : [random.pick(webhooks)]
  return targets.map((webhook) => ({
    id: id('delivery'),
    accountId,
    webhookId: webhook.id,
    eventId,
    eventAccountId: accountId,
    callId,
    hook,
    eventTimestampMs: timestampMs,
    variant: 0,
    encoding: /** @type {const} */ ('json'),
    httpVerb: /** @type {const} */ ('post'),
    lane: `${accountId}/${callId}`,
    epoch: webhook.epoch,
  }))
}

/**
 * A settlement that changes the state only.
 *
 * @param {string} owner @param {Delivery} delivery @param {'waiting' | 'in_flight'} state
 * @param {{ state: import('hookswitch/store').DeliveryState, dueMs?: number }} next
 * @returns {Settlement}
 */
export function toState(owner, { id, webhookId, fence, attempts, tries, interruptions }, state, next) {
  const counts = { attempts, tries, interruptions }
  return { owner, deliveryId: id, webhookId, expect: { state, fence }, next: { ...counts, ...next } }
}

/** @param {RunContext} context @param {string} owner @param {Delivery} delivery @returns {Settlement} */
export function settlementOf({ random, now, isPlain }, owner, delivery) {
  const { epoch, attempts } = delivery
  const result = isPlain
    ? 'delivered'
    : random.weighted({ delivered: 4, recovered: 2, failed: 3, exhausted: 1, gone: 1 })
  if (result === 'delivered') return toState(owner, delivery, 'in_flight', { state: 'delivered' })
  if (result === 'recovered')
    return {
      ...toState(owner, delivery, 'in_flight', { state: 'delivered' }),
      endpoint: { epoch, health: null },
    }
  const endpoint = { epoch, health: { failuresInRow: attempts + 1 } }
  if (result === 'failed') {
    const next = { state: /** @type {const} */ ('waiting'), dueMs: now() + random.integer(0, 5) }
    return { ...toState(owner, { ...delivery, attempts: attempts + 1 }, 'in_flight', next), endpoint }
  }
  const ended = toState(owner, delivery, 'in_flight', { state: 'exhausted' })
  if (result === 'exhausted') return { ...ended, endpoint }
  return { ...ended, endpoint: { ...endpoint, disable: { reason: 'gone', atMs: now() } } }
}

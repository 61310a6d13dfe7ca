// @ts-check
/** Draws the webhooks, events, deliveries and settlements of a run from its seed. */

/**
 * @typedef {import('./nodes.js').RunContext} RunContext
 * @typedef {import('./node-queue.js').Entry} Entry
 * @typedef {import('hookswitch/store').NewEvent} NewEvent
 * @typedef {import('hookswitch/store').NewDelivery} NewDelivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 */

export const ACCOUNT = 'account'
/** The call that is erased: its numbers begin again. */
export const ERASED_CALL = 'e'

/** @param {import('hookswitch/testkit').SeededRandom} random @returns {import('hookswitch/store').Webhook} */
export function newWebhook(random) {
  const id = Buffer.from(random.bytes(16)).toString('hex')
  return {
    id,
    accountId: ACCOUNT,
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

/**
 * An event of one of the run's calls, with a delivery for some of the webhooks.
 *
 * @param {RunContext} context @param {number} position
 * @returns {{ event: NewEvent, deliveries: NewDelivery[] }}
 */
export function newEvent({ random, eventPrefix, now, calls, webhooks }, position) {
  const prefix = eventPrefix()
  const callId = random.pick(calls)
  const event = {
    id: `${prefix}00000000`,
    position,
    accountId: ACCOUNT,
    callId,
    hook: 'channel_create',
    numbered: true,
    timestampMs: now(),
    bodies: [{ head: '{"sequence":', tail: '}' }],
  }
  const drawn = webhooks.filter(() => random.chance(0.6))
  const targets = drawn.length > 0 ? drawn : [random.pick(webhooks)]
  const deliveries = targets.map((webhook, index) => ({
    id: `${prefix}${String(index + 1).padStart(8, '0')}`,
    position,
    accountId: ACCOUNT,
    webhookId: webhook.id,
    eventId: event.id,
    eventAccountId: ACCOUNT,
    callId,
    hook: event.hook,
    eventTimestampMs: event.timestampMs,
    variant: 0,
    encoding: /** @type {const} */ ('json'),
    httpVerb: /** @type {const} */ ('post'),
    lane: `${ACCOUNT}/${callId}`,
    epoch: webhook.epoch,
  }))
  return { event, deliveries }
}

/**
 * The result of an attempt.
 *
 * @param {RunContext} context @param {Entry} entry @returns {Settlement}
 */
export function settlementOf(context, entry) {
  const { random, now, isPlain } = context
  const { epoch, attempts } = entry
  const result = isPlain
    ? 'delivered'
    : random.weighted({ delivered: 4, recovered: 2, failed: 3, exhausted: 1, gone: 1 })
  if (result === 'delivered') return attempted(context, entry, 'delivered')
  if (result === 'recovered')
    return { ...attempted(context, entry, 'delivered'), endpoint: { epoch, health: null } }
  const endpoint = { epoch, health: { failuresInRow: attempts + 1 } }
  if (result === 'failed')
    return { ...attempted(context, entry, 'waiting', now() + random.integer(0, 5)), endpoint }
  const ended = attempted(context, entry, 'exhausted')
  if (result === 'exhausted') return { ...ended, endpoint }
  return { ...ended, endpoint: { ...endpoint, disable: { reason: 'gone', atMs: now() } } }
}

/**
 * A settlement of an attempt, with its record.
 *
 * @param {RunContext} context @param {Entry} entry @param {'waiting' | 'delivered' | 'exhausted'} state
 * @param {number} [dueMs] @returns {Settlement}
 */
export function attempted({ id, now, deliveryId }, entry, state, dueMs) {
  const { webhookId, position, attempts } = entry
  const delivery = deliveryId(entry)
  const attempt = attempts + 1
  return {
    deliveryId: delivery,
    webhookId,
    position,
    expect: { attempts },
    next: {
      state,
      attempts: attempt,
      tries: attempt,
      interruptions: 0,
      ...(dueMs !== undefined && { dueMs }),
    },
    record: {
      id: id('attempt'),
      accountId: ACCOUNT,
      webhookId,
      hook: 'channel_create',
      eventId: `${delivery.slice(0, 24)}00000000`,
      deliveryId: delivery,
      uri: 'https://receiver.example.com/',
      method: 'post',
      attempt,
      retriesLeft: 2,
      result: state === 'delivered' ? 'success' : 'failure',
      durationMs: 1,
      atMs: now(),
    },
  }
}

/**
 * Cancels a delivery that was never sent in its present state.
 *
 * @param {RunContext} context @param {Entry} entry @returns {Settlement}
 */
export function cancelled({ deliveryId }, entry) {
  const { webhookId, position, attempts } = entry
  return {
    deliveryId: deliveryId(entry),
    webhookId,
    position,
    expect: { attempts },
    next: { state: 'cancelled', attempts, tries: attempts, interruptions: 0, reason: 'cancelled' },
  }
}

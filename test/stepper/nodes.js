// @ts-check
/** The nodes of a run: each has several actors, which run concurrently and do one operation at a time. */
import { shardOf } from 'hookswitch/store'
import { newDeliveries, newEvent, settlementOf, toState } from './generators.js'

/**
 * @typedef {import('hookswitch/store').Store} Store
 * @typedef {import('hookswitch/store').Webhook} Webhook
 * @typedef {import('hookswitch/store').Delivery} Delivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 * @typedef {import('hookswitch/testkit').SeededRandom} SeededRandom
 *
 * @typedef {object} RunContext
 * @property {SeededRandom} random
 * @property {ReturnType<typeof import('./model.js').createModel>} model
 * @property {Webhook[]} webhooks as last written
 * @property {() => number} now store time, ms
 * @property {() => number} step
 * @property {(actor: string) => number} last the step at which a statement of this actor was last sent
 * @property {readonly string[]} calls
 * @property {boolean} isLight one event at a time, so that lanes are often empty
 * @property {boolean} isPlain every attempt is delivered
 * @property {number} maxPending
 * @property {(kind: string) => string} id
 *
 * @typedef {object} Actor
 * @property {string} name
 * @property {() => boolean} canBegin
 * @property {() => Promise<void>} begin
 */

export const LEASE_MS = 30_000
/** How many operations each actor of a node does. */
const OPERATIONS = { accept: 6, claim: 15, settle: 15, recover: 4, edit: 3, lease: 5 }
/** Actors that are not in every run: combinations of few are frequent then. */
export const RARE_ACTIONS = ['recover', 'edit', 'lease']

/** A store writes one group of settlements at a time, and the first caller's context runs it: one of these at a time. */
const SETTLERS = new Set(['settle', 'recover'])

/** @param {SeededRandom} random */
export const drawExcluded = (random) => RARE_ACTIONS.filter(() => random.chance(0.3))

/** @param {RunContext} context @param {string} name @param {Store} store @param {readonly string[]} excluded actors it does not have */
export function createNode(context, name, { deliveries, webhooks: webhookStore }, excluded) {
  const { random, model, webhooks, now, step } = context
  /** Its claims, and since when it has them. @type {Map<string, { delivery: Delivery, since: number }>} */
  const inFlight = new Map()

  async function accept() {
    const max = context.isLight ? 1 : 2
    const acceptances = Array.from({ length: random.integer(1, max) }, () => {
      const events = Array.from({ length: random.integer(1, max) }, () => newEvent(context))
      const rows = events.map((event) => newDeliveries(context, event))
      return { events, deliveries: rows.flat(), maxPending: context.maxPending }
    })
    const began = step()
    await Promise.all(
      acceptances.map(async (acceptance) => {
        model.accepting(acceptance.deliveries)
        const accepted = await deliveries.accept(acceptance, now()).catch((thrown) => {
          if (thrown.code !== 'QueueFull' || context.maxPending > 1000) throw thrown
          return []
        })
        const sequences = new Map(accepted.map((event) => [event.id, event.sequence]))
        if (accepted.length > 0) model.accepted(acceptance.deliveries, sequences, { began, ended: step() })
      }),
    )
  }

  async function claim() {
    const endpoints = webhooks.map((webhook) => ({ webhookId: webhook.id, slots: random.integer(0, 3) }))
    const began = step()
    const { claims } = await deliveries.claim({ owner: name, endpoints, limit: 6, now: now() })
    const span = { began, ended: step(), last: context.last(`${name} claim`) }
    const claimed = claims.map(({ delivery }) => delivery)
    model.claimed(name, claimed, span, shardOf)
    for (const delivery of claimed) inFlight.set(delivery.id, { delivery, since: began })
  }

  /** @param {string} actor @param {readonly { settlement: Settlement, since: number }[]} chosen */
  async function settleAll(actor, chosen) {
    const began = step()
    const results = await deliveries.settle(
      chosen.map(({ settlement }) => settlement),
      now(),
    )
    const span = { began, ended: step(), last: context.last(`${name} ${actor}`) }
    for (const [index, { settlement, since }] of chosen.entries())
      model.settled(name, settlement, results[index]?.kind === 'settled', span, since, shardOf)
  }

  /** Settles in two calls, which the store commits in one transaction. */
  async function settle() {
    const chosen = [...inFlight.values()].filter(() => random.chance(0.7))
    for (const { delivery } of chosen) inFlight.delete(delivery.id)
    const settlements = chosen.map(({ delivery, since }) => ({
      settlement: settlementOf(context, name, delivery),
      since,
    }))
    await Promise.all([
      settleAll('settle', settlements.slice(0, 1)),
      settleAll('settle', settlements.slice(1)),
    ])
  }

  /** Settles stale deliveries and orphans. */
  async function recover() {
    /** @param {() => Promise<readonly Delivery[]>} read @param {(delivery: Delivery) => Settlement} settlement */
    const settleEach = async (read, settlement) => {
      const since = step()
      const found = await read()
      const chosen = found.map((delivery) => ({ settlement: settlement(delivery), since }))
      await settleAll('recover', chosen)
    }
    await settleEach(
      () => deliveries.stale(name, 9),
      (delivery) => toState(name, delivery, 'waiting', { state: 'cancelled' }),
    )
    const waiting = { state: /** @type {const} */ ('waiting'), dueMs: now() }
    await settleEach(
      () => deliveries.orphans(name, 9),
      (delivery) => toState(name, delivery, 'in_flight', waiting),
    )
  }

  /** Enables or disables a webhook. */
  async function edit() {
    const index = random.integer(0, webhooks.length - 1)
    const webhook = /** @type {Webhook} */ (webhooks[index])
    const { settings, revision, epoch } = webhook
    const next = {
      ...webhook,
      settings: { ...settings, enabled: !settings.enabled },
      revision: revision + 1,
      epoch: settings.enabled ? epoch + 1 : epoch,
    }
    // On a conflict with another node or a settlement, the next edit starts from the stored row.
    if (await webhookStore.replace(next, revision)) webhooks[index] = next
    else webhooks[index] = (await deliveries.webhookOf(webhook.id)) ?? webhook
  }

  async function lease() {
    if (random.chance(0.6)) return own()
    model.mayLoseShards(name, step())
    await deliveries.release(name)
    model.mayLoseShards(name, step())
  }

  async function own() {
    model.requestsShards(name, step())
    const { shards } = await deliveries.renew(name, LEASE_MS)
    model.gotShards(name, shards, step())
  }

  let isSettling = false
  const left = { ...OPERATIONS }
  for (const action of excluded) left[/** @type {keyof typeof OPERATIONS} */ (action)] = 0
  const actions = { accept, claim, settle, recover, edit, lease }
  /** @type {Actor[]} */
  const actors = Object.entries(actions).map(([key, run]) => {
    const action = /** @type {keyof typeof OPERATIONS} */ (key)
    return {
      name: `${name} ${action}`,
      canBegin: () =>
        left[action] > 0 &&
        (action !== 'settle' || inFlight.size > 0) &&
        (action !== 'claim' || model.hasWaiting()) &&
        !(SETTLERS.has(action) && isSettling),
      async begin() {
        left[action] -= 1
        if (!SETTLERS.has(action)) return run()
        isSettling = true
        await run().finally(() => {
          isSettling = false
        })
      },
    }
  })

  return {
    name,
    actors,
    own,
    /** Delivers everything that is left, as the only node. */
    async drain() {
      inFlight.clear()
      await recover()
      const endpoints = webhooks.map((webhook) => ({ webhookId: webhook.id, slots: 100 }))
      const began = step()
      const { claims } = await deliveries.claim({ owner: name, endpoints, limit: 1000, now: now() })
      const claimed = claims.map(({ delivery }) => delivery)
      model.claimed(name, claimed, { began, ended: step() }, shardOf)
      const settlements = claimed.map((delivery) =>
        toState(name, delivery, 'in_flight', { state: 'delivered' }),
      )
      await settleAll(
        'settle',
        settlements.map((settlement) => ({ settlement, since: began })),
      )
    },
  }
}

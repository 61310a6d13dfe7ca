// @ts-check
/** What nodes do with one store: each actor one thing after the other, all of them at once. */
import { shardOf } from 'hookswitch/store'
import { newDeliveries, newEvent, settlementOf, toState } from './made.js'

/**
 * @typedef {import('hookswitch/store').Store} Store
 * @typedef {import('hookswitch/store').Webhook} Webhook
 * @typedef {import('hookswitch/store').Delivery} Delivery
 * @typedef {import('hookswitch/store').Settlement} Settlement
 * @typedef {import('hookswitch/testkit').SeededRandom} SeededRandom
 *
 * @typedef {object} World
 * @property {SeededRandom} random
 * @property {ReturnType<typeof import('./model.js').createModel>} model
 * @property {Webhook[]} webhooks as they were written last
 * @property {() => number} now store time, ms
 * @property {() => number} step
 * @property {(actor: string) => number} last when a statement of this actor went to the server last
 * @property {readonly string[]} calls
 * @property {boolean} isLight one event at a time: lanes are often empty
 * @property {boolean} isPlain every attempt is delivered
 * @property {number} maxPending
 * @property {(kind: string) => string} id
 *
 * @typedef {object} Actor
 * @property {string} name
 * @property {() => boolean} mayBegin
 * @property {() => Promise<void>} begin
 */

export const LEASE_MS = 30_000
/** How often each actor of a node does its thing. */
const TIMES = { accept: 6, claim: 15, settle: 15, tend: 4, edit: 3, lease: 5 }
/** Not in every run: what is rare meets more often where little else happens. */
export const RARE = ['tend', 'edit', 'lease']

/** A store writes one group of settlements at a time, and the next one in the name of whoever asked first. */
const SETTLERS = new Set(['settle', 'tend'])

/** @param {SeededRandom} random */
export const someRare = (random) => RARE.filter(() => random.chance(0.3))

/** @param {World} world @param {string} name @param {Store} store @param {readonly string[]} without what it does not do */
export function createNode(world, name, { deliveries: doors, webhooks: webhookDoors }, without) {
  const { random, model, webhooks, now, step } = world
  /** What it has claimed, and when. @type {Map<string, { delivery: Delivery, since: number }>} */
  const flying = new Map()

  async function accept() {
    const most = world.isLight ? 1 : 2
    const calls = Array.from({ length: random.integer(1, most) }, () => {
      const events = Array.from({ length: random.integer(1, most) }, () => newEvent(world))
      const wanted = events.map((event) => newDeliveries(world, event))
      return { events, deliveries: wanted.flat(), maxPending: world.maxPending }
    })
    const began = step()
    await Promise.all(
      calls.map(async (acceptance) => {
        model.asks(acceptance.deliveries)
        const told = await doors.accept(acceptance, now()).catch((thrown) => {
          if (thrown.code !== 'QueueFull' || world.maxPending > 1000) throw thrown
          return []
        })
        const sequences = new Map(told.map((event) => [event.id, event.sequence]))
        if (told.length > 0) model.accepted(acceptance.deliveries, sequences, { began, ended: step() })
      }),
    )
  }

  async function claim() {
    const endpoints = webhooks.map((webhook) => ({ webhookId: webhook.id, room: random.integer(0, 3) }))
    const began = step()
    const { claims } = await doors.claim({ owner: name, endpoints, limit: 6, now: now() })
    const span = { began, ended: step(), last: world.last(`${name} claim`) }
    const taken = claims.map(({ delivery }) => delivery)
    model.claimed(name, taken, span, shardOf)
    for (const delivery of taken) flying.set(delivery.id, { delivery, since: began })
  }

  /** @param {string} actor @param {readonly { settlement: Settlement, since: number }[]} chosen */
  async function settleAll(actor, chosen) {
    const began = step()
    const settled = await doors.settle(
      chosen.map(({ settlement }) => settlement),
      now(),
    )
    const span = { began, ended: step(), last: world.last(`${name} ${actor}`) }
    for (const [index, { settlement, since }] of chosen.entries())
      model.settles(name, settlement, settled[index]?.kind === 'settled', span, since, shardOf)
  }

  /** In two calls, which the store makes one transaction of. */
  async function settle() {
    const chosen = [...flying.values()].filter(() => random.chance(0.7))
    for (const { delivery } of chosen) flying.delete(delivery.id)
    const settlements = chosen.map(({ delivery, since }) => ({
      settlement: settlementOf(world, name, delivery),
      since,
    }))
    await Promise.all([
      settleAll('settle', settlements.slice(0, 1)),
      settleAll('settle', settlements.slice(1)),
    ])
  }

  /** What dead nodes and withdrawn webhooks left behind. */
  async function tend() {
    /** @param {() => Promise<readonly Delivery[]>} read @param {(delivery: Delivery) => Settlement} settlement */
    const each = async (read, settlement) => {
      const since = step()
      const found = await read()
      const chosen = found.map((delivery) => ({ settlement: settlement(delivery), since }))
      await settleAll('tend', chosen)
    }
    await each(
      () => doors.stale(name, 9),
      (delivery) => toState(name, delivery, 'waiting', { state: 'cancelled' }),
    )
    const waits = { state: /** @type {const} */ ('waiting'), dueMs: now() }
    await each(
      () => doors.orphans(name, 9),
      (delivery) => toState(name, delivery, 'in_flight', waits),
    )
  }

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
    // Another node, or a settlement, may have been quicker: then the next one begins with what is there.
    if (await webhookDoors.replace(next, revision)) webhooks[index] = next
    else webhooks[index] = (await doors.webhookOf(webhook.id)) ?? webhook
  }

  async function lease() {
    if (random.chance(0.6)) return own()
    model.mayLose(name, step())
    await doors.release(name)
    model.mayLose(name, step())
  }

  async function own() {
    model.asksForShards(name, step())
    const { shards } = await doors.renew(name, LEASE_MS)
    model.owns(name, shards, step())
  }

  let isSettling = false
  const left = { ...TIMES }
  for (const kind of without) left[/** @type {keyof typeof TIMES} */ (kind)] = 0
  const doings = { accept, claim, settle, tend, edit, lease }
  /** @type {Actor[]} */
  const actors = Object.entries(doings).map(([doing, begin]) => {
    const kind = /** @type {keyof typeof TIMES} */ (doing)
    return {
      name: `${name} ${doing}`,
      mayBegin: () =>
        left[kind] > 0 &&
        (kind !== 'settle' || flying.size > 0) &&
        (kind !== 'claim' || model.waits()) &&
        !(SETTLERS.has(kind) && isSettling),
      async begin() {
        left[kind] -= 1
        if (!SETTLERS.has(kind)) return begin()
        isSettling = true
        await begin().finally(() => {
          isSettling = false
        })
      },
    }
  })

  return {
    name,
    actors,
    own,
    /** Does all that is left, as the only node. */
    async drain() {
      flying.clear()
      await tend()
      const endpoints = webhooks.map((webhook) => ({ webhookId: webhook.id, room: 100 }))
      const began = step()
      const { claims } = await doors.claim({ owner: name, endpoints, limit: 1000, now: now() })
      const taken = claims.map(({ delivery }) => delivery)
      model.claimed(name, taken, { began, ended: step() }, shardOf)
      const settlements = taken.map((delivery) =>
        toState(name, delivery, 'in_flight', { state: 'delivered' }),
      )
      await settleAll(
        'settle',
        settlements.map((settlement) => ({ settlement, since: began })),
      )
    },
  }
}

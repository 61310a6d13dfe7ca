// @ts-check
/** The nodes of a run: each has several actors, which run concurrently and do one operation at a time. */
import { createPositions, shardOf } from 'hookswitch/store'
import { ACCOUNT, attempted, cancelled, ERASED_CALL, newEvent, settlementOf } from './generators.js'
import { createQueue, nameOf } from './node-queue.js'

/**
 * @typedef {import('hookswitch/store').Store} Store
 * @typedef {import('hookswitch/store').Webhook} Webhook
 * @typedef {import('hookswitch/store').Acceptance} Acceptance
 * @typedef {import('hookswitch/store').Group} Group
 * @typedef {import('hookswitch/store').NodeLease} NodeLease
 * @typedef {import('hookswitch/store').Settlement} Settlement
 * @typedef {import('hookswitch/testkit').SeededRandom} SeededRandom
 * @typedef {import('./node-queue.js').Entry} Entry
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
 * @property {number} repeats probability that a group is committed again
 * @property {boolean} isPlain every attempt is delivered
 * @property {(kind: string) => string} id
 * @property {() => string} eventPrefix the first 24 digits of a new event's id
 * @property {(key: import('hookswitch/store').DeliveryKey) => string} deliveryId
 *
 * @typedef {object} Actor
 * @property {string} name
 * @property {() => boolean} canBegin
 * @property {() => Promise<void>} begin
 */

export const LEASE_MS = 30_000
/** How many operations each actor of a node does. */
const OPERATIONS = { queue: 30, lease: 10, edit: 4, erase: 1 }
/** Actors that are not in every run: combinations of few are frequent then. */
export const RARE_ACTIONS = ['lease', 'edit', 'erase']
/** Commits of one group, while others change what it concerns. */
const MAX_COMMITS = 20

/** @param {SeededRandom} random */
export const drawExcluded = (random) => RARE_ACTIONS.filter(() => random.chance(0.3))

/** @param {RunContext} context @param {string} name @param {Store} store @param {readonly string[]} excluded actors it does not have */
export function createNode(context, name, { deliveries, webhooks: webhookStore }, excluded) {
  const { random, model, webhooks, now, step } = context
  const queue = createQueue()
  /** @type {NodeLease | undefined} */
  let lease
  let positions = createPositions(0)
  /** Unknown before the first load of a lease. @type {number | undefined} */
  let version
  let lastKey = 0
  /** In another order of calls deliveries may come first: it polls before it starts anything. */
  let mustPoll = false
  let isReleasing = false
  let isQueueBusy = false
  /** Shards that it has to load. @type {Set<number>} */
  const unloaded = new Set()
  /** What is in flight, by key of its start. @type {Map<number, Set<string>>} */
  const starts = new Map()

  function loseLease() {
    lease = undefined
    queue.clear()
    unloaded.clear()
    starts.clear()
    version = undefined
    mustPoll = false
    model.lostLease(name, step())
  }

  /** @param {NodeLease} granted */
  function applyLease(granted) {
    const isSame = lease !== undefined && lease.fence === granted.fence
    const had = isSame ? (lease?.shards ?? []) : []
    if (!isSame) {
      if (lease) loseLease()
      positions = createPositions(granted.node)
    }
    positions.raise(granted.position)
    for (const shard of granted.shards) if (!had.includes(shard)) unloaded.add(shard)
    lease = granted
  }

  /** @param {number} shard */
  const ownsShard = (shard) => lease?.shards.includes(shard) === true
  const finishedKeys = () => [...starts].filter(([, names]) => names.size === 0).map(([key]) => key)

  // Operations of the queue, one at a time

  const mustLoad = () => lease !== undefined && (unloaded.size > 0 || version === undefined)

  async function load() {
    const held = lease
    if (!held) return
    const shards = [...unloaded]
    const since = step()
    /** @type {import('hookswitch/store').Start[]} */
    const interrupted = []
    let cursor
    for (let part = 0; part === 0 || cursor !== undefined; part += 1) {
      const loaded = await deliveries.load(held, shards, cursor)
      if (!loaded || lease?.fence !== held.fence) return loseLeaseOf(held)
      // Changes before a later load may concern the shards that it had.
      version ??= loaded.version
      queue.learn(loaded.webhooks)
      queue.add(loaded.waiting, since)
      interrupted.push(...loaded.interrupted)
      cursor = loaded.cursor
    }
    for (const shard of shards) unloaded.delete(shard)
    const ended = interrupted.flatMap((start) => {
      const entry = queue.entries.get(nameOf(start))
      return entry && !entry.isInFlight ? attempted(context, entry, 'waiting', now()) : []
    })
    if (ended.length > 0 && !(await commit({ ended }))) return
    await deliveries.completeTakeover(held, shards)
  }

  /** @param {NodeLease} held */
  function loseLeaseOf(held) {
    if (lease?.fence === held.fence) loseLease()
  }

  async function poll() {
    const held = lease
    if (!held) return
    const since = step()
    const polled = await deliveries.poll(held)
    if (!polled) return loseLeaseOf(held)
    queue.learn(polled.webhooks)
    queue.add(polled.waiting, since)
    mustPoll = false
    if (version === undefined || polled.version > version) await applyChanges()
  }

  async function applyChanges() {
    const held = lease
    if (!held || version === undefined) return
    const changes = await deliveries.changes(held, version)
    if (!changes) return loseLeaseOf(held)
    if (lease?.fence !== held.fence) return
    version = Math.max(version ?? 0, changes.version)
    queue.learn(changes.webhooks)
    for (const key of changes.removed) forget(nameOf(key))
    if (changes.mustReload) for (const shard of held.shards) unloaded.add(shard)
  }

  /** @param {string} entryName */
  function forget(entryName) {
    queue.entries.delete(entryName)
    for (const names of starts.values()) names.delete(entryName)
  }

  async function handOver() {
    const held = lease
    if (!held) return
    const busy = new Set(queue.inFlight().map(({ webhookId }) => shardOf(webhookId)))
    const given = held.leaving.filter((shard) => !busy.has(shard))
    if (given.length === 0) return
    await deliveries.handOver(held, given)
    if (lease?.fence !== held.fence) return
    queue.dropShards(given)
    for (const shard of given) unloaded.delete(shard)
    const without = (/** @type {readonly number[]} */ shards) =>
      shards.filter((shard) => !given.includes(shard))
    lease = { ...lease, shards: without(lease.shards), leaving: without(lease.leaving) }
  }

  /** @returns {Acceptance[]} */
  function drawAcceptances() {
    const max = context.isLight ? 1 : 2
    return Array.from({ length: random.integer(0, max) }, () => {
      const drawn = Array.from({ length: random.integer(1, max) }, () =>
        newEvent(context, positions.next(now())),
      )
      const rows = drawn.flatMap((draw) => draw.deliveries)
      return {
        events: drawn.map(({ event }) => event),
        deliveries: rows,
      }
    })
  }

  /** Accepts, settles and starts, whatever there is. @param {boolean} isDraining */
  async function commitAny(isDraining = false) {
    const accepted = isDraining ? [] : drawAcceptances()
    if (!lease) return void (await commit({ accepted }))
    const chosen = queue.inFlight().filter(() => isDraining || random.chance(0.7))
    const ended = chosen.map((entry) =>
      isDraining ? attempted(context, entry, 'delivered') : settlementOf(context, entry),
    )
    const unsent = queue.stale().filter(() => isDraining || random.chance(0.7))
    await commit({
      accepted,
      ended: [...ended, ...unsent.map((entry) => cancelled(context, entry))],
      starts: isDraining ? 1 : random.pick([0, 0.5, 1]),
    })
  }

  /** Heads that the group starts, and sometimes what it accepts. @param {readonly Acceptance[]} accepted @param {number} share */
  function drawStarts(accepted, share) {
    if (mustPoll || share === 0) return []
    const isStartable = (/** @type {{ webhookId: string }} */ { webhookId }) => {
      const shard = shardOf(webhookId)
      return ownsShard(shard) && !unloaded.has(shard) && !lease?.leaving.includes(shard)
    }
    const heads = queue.heads(now()).filter((entry) => isStartable(entry) && random.chance(share))
    const busyWebhooks = new Set([...queue.entries.values()].map(({ webhookId }) => webhookId))
    const first = accepted[0]?.deliveries.slice(0, 1) ?? []
    const fresh = first
      .filter((delivery) => isStartable(delivery) && !busyWebhooks.has(delivery.webhookId))
      .map(({ webhookId, position = 0, epoch }) => ({ webhookId, position, epoch, attempts: 0 }))
    return [...heads, ...fresh].map(({ webhookId, position, epoch, attempts }) => ({
      webhookId,
      position,
      epoch,
      attempt: attempts + 1,
    }))
  }

  /**
   * Commits a group, again after the changes that it must know first.
   *
   * @param {{ accepted?: readonly Acceptance[], ended?: readonly Settlement[], starts?: number }} parts
   * @returns {Promise<boolean>} whether it was written
   */
  async function commit({ accepted = [], ended = [], starts: share = 0 }) {
    for (const { deliveries: rows } of accepted) model.accepting(rows)
    const held = lease
    for (let round = 0; round < MAX_COMMITS; round += 1) {
      const began = step()
      const known = ended.filter((settlement) => queue.entries.has(nameOf(settlement)))
      const starting = held ? drawStarts(accepted, share) : []
      const finished = held ? finishedKeys() : []
      if (accepted.length + known.length + starting.length + finished.length === 0) return true
      if (starting.length > 0) lastKey += 1
      const key = lastKey
      /** @type {Group} */
      const group = {
        lease: held && { owner: held.owner, fence: held.fence },
        version: version ?? 0,
        now: now(),
        accepted,
        ended: known,
        ...(starting.length > 0 && { starting: { key, deliveries: starting } }),
        finished,
        // A number that changes is written once a second, by a statement of no actor.
        pending: 0,
        isRepeat: false,
      }
      let result = await deliveries.commit(group)
      let span = { began, ended: step(), last: context.last(`${name} queue`) }
      if (result.kind === 'committed' && random.chance(context.repeats)) {
        // As if the answer had been lost.
        const again = await deliveries.commit({ ...group, version: result.version, isRepeat: true })
        if (again.kind === 'committed') {
          model.repeated(result, again)
          result = again
          span = { began, ended: step(), last: context.last(`${name} queue`) }
        } else if (again.kind === 'fenced' && held) loseLeaseOf(held)
      }
      if (result.kind === 'fenced') {
        if (held) loseLeaseOf(held)
        return false
      }
      if (result.kind === 'outdated') {
        await applyChanges()
        if (!lease || lease.fence !== held?.fence) return false
        continue
      }
      const isCurrent = held !== undefined && lease?.fence === held.fence
      if (isCurrent) version = Math.max(version ?? 0, result.version)
      for (const finishedKey of finished) starts.delete(finishedKey)
      for (const [index, acceptance] of result.accepted.entries())
        applyAccepted(accepted[index], acceptance, span, isCurrent)
      for (const [index, settlement] of result.ended.entries())
        applyEnded(known[index], settlement, span, isCurrent)
      if (isCurrent) applyStarts(key, starting, result.notStarted, span)
      else
        for (const [index, start] of starting.entries())
          if (!result.notStarted.includes(index)) model.abandoned(start)
      return true
    }
    model.violations.push(`${name} committed a group ${MAX_COMMITS} times in vain`)
    return false
  }

  /**
   * @param {Acceptance | undefined} acceptance @param {import('hookswitch/store').AcceptanceResult} result
   * @param {import('./model.js').Span} span @param {boolean} isCurrent
   */
  function applyAccepted(acceptance, result, span, isCurrent) {
    if (!acceptance) return
    if (result.kind !== 'accepted') {
      model.violations.push(`${name} could not accept: ${result.error.message}`)
      return
    }
    const sequences = new Map(result.events.map(({ id, sequence }) => [id, sequence]))
    model.accepted(acceptance.deliveries, sequences, span)
    if (!isCurrent) return
    if (result.mayHaveGap) mustPoll = true
    for (const delivery of acceptance.deliveries) {
      if (ownsShard(shardOf(delivery.webhookId)))
        queue.accepted(delivery, sequences.get(delivery.eventId) ?? 0, span.began)
    }
  }

  /**
   * @param {Settlement | undefined} settlement @param {import('hookswitch/store').EndedResult} result
   * @param {import('./model.js').Span} span @param {boolean} isCurrent
   */
  function applyEnded(settlement, result, span, isCurrent) {
    if (!settlement) return
    const entryName = nameOf(settlement)
    const { next } = settlement
    model.settled(name, settlement, result.kind === 'settled', span)
    if (result.kind === 'settled' && result.disabled) {
      model.edited(result.disabled, span)
      queue.learn([result.disabled])
    }
    if (!isCurrent) return
    for (const names of starts.values()) names.delete(entryName)
    const entry = queue.entries.get(entryName)
    if (result.kind === 'fenced' || next.state !== 'waiting') queue.entries.delete(entryName)
    else if (entry) Object.assign(entry, { attempts: next.attempts, dueMs: next.dueMs, isInFlight: false })
  }

  /**
   * @param {number} key @param {readonly import('hookswitch/store').Start[]} starting
   * @param {readonly number[]} notStarted @param {import('./model.js').Span} span
   */
  function applyStarts(key, starting, notStarted, span) {
    if (starting.length === 0) return
    /** @type {Set<string>} */
    const names = new Set()
    starts.set(key, names)
    for (const [index, start] of starting.entries()) {
      const entry = queue.entries.get(nameOf(start))
      if (notStarted.includes(index)) model.notStarted(name, start, span, entry?.since)
      else if (entry && !mustPoll) {
        entry.isInFlight = true
        names.add(nameOf(start))
        model.sent(name, start, span)
      } else model.abandoned(start)
    }
  }

  async function queueOperation() {
    if (mustLoad()) return load()
    if (!lease) return commitAny()
    const isLeaving = lease.leaving.length > 0
    const operation = random.weighted({ commit: 7, poll: 2, changes: 1, handOver: isLeaving ? 6 : 0 })
    if (operation === 'poll') return poll()
    if (operation === 'changes') return applyChanges()
    return operation === 'handOver' ? handOver() : commitAny()
  }

  // Operations that run beside the queue

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
    const began = step()
    // On a conflict with another node or a settlement, the next edit starts from the stored row.
    if (await webhookStore.replace(next, revision)) {
      webhooks[index] = next
      model.edited(next, { began, ended: step() })
    } else webhooks[index] = (await deliveries.webhookOf(webhook.id)) ?? webhook
  }

  async function erase() {
    const began = step()
    while ((await deliveries.erase({ accountId: ACCOUNT, callIds: [ERASED_CALL] }, 3)) > 0);
    model.erased({ began, ended: step() })
  }

  async function renew() {
    const held = lease
    const granted = await deliveries.renew(name, LEASE_MS)
    // Another call may have lost the lease in between, which the next renewal grants again.
    if (lease?.fence === held?.fence) applyLease(granted)
  }

  async function leaseOperation() {
    if (random.chance(0.7) || isQueueBusy || !lease || queue.inFlight().length > 0) return renew()
    isReleasing = true
    const released = lease
    await deliveries.release(name).finally(() => {
      isReleasing = false
    })
    loseLeaseOf(released)
  }

  const left = { ...OPERATIONS }
  for (const action of excluded) left[/** @type {keyof typeof OPERATIONS} */ (action)] = 0
  const actions = { queue: queueOperation, lease: leaseOperation, edit, erase }
  /** @type {Actor[]} */
  const actors = Object.entries(actions).map(([key, run]) => {
    const action = /** @type {keyof typeof OPERATIONS} */ (key)
    return {
      name: `${name} ${action}`,
      canBegin: () => left[action] > 0 && !(action === 'queue' && isReleasing),
      async begin() {
        left[action] -= 1
        if (action !== 'queue') return run()
        isQueueBusy = true
        await run().finally(() => {
          isQueueBusy = false
        })
      },
    }
  })

  return {
    name,
    actors,
    renew,
    queue,
    shards: () => lease?.shards ?? [],
    /** Learns everything that it should know by now. */
    async catchUp() {
      await renew()
      while (mustLoad()) await load()
      await handOver()
      await poll()
      await applyChanges()
    },
    /** Delivers everything that is left, as the only node. */
    async drain() {
      while (mustLoad()) await load()
      await poll()
      await commitAny(true)
    },
    /** Its process ends. */
    kill: () => lease && loseLease(),
  }
}

// @ts-check
/**
 * Runs several nodes on one PostgreSQL schema, one statement at a time. A seed draws which node sends its next statement,
 * and `pg_blocking_pids` shows which ones wait for locks. So every interleaving of statements can occur, and recurs with
 * its seed.
 */
import { postgresStore } from 'hookswitch/postgres'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import pg from 'pg'
import { createGates } from './gates.js'
import { ERASED_CALL, newWebhook } from './generators.js'
import { createModel } from './model.js'
import { nameOf } from './node-queue.js'
import { createNode, drawExcluded, LEASE_MS, RARE_ACTIONS } from './nodes.js'
import { createQuiescence } from './quiescence.js'
import { statesQuery, truncateQuery, violationsQuery, waitingQuery } from './table-invariants.js'

const log = { debug() {}, info() {}, warn() {}, error() {} }
/** Statement timeout of the stores: longer than any statement stays at its gate. */
const STATEMENT_TIMEOUT_MS = 600_000
const MAX_STEPS = 5_000
const MAX_ROUNDS = 500

/**
 * @typedef {object} Stepped
 * @property {readonly string[]} violations
 * @property {ReadonlyMap<string, number>} counts
 * @property {readonly string[]} trace
 */

/**
 * @param {object} options
 * @param {string} options.url
 * @param {string} options.schema
 * @param {string} options.seed
 * @param {boolean} [options.isSmall] one webhook and one call, and every event is delivered: lanes fill and empty often
 * @param {import('./gates.js').FaultInjector} [options.faultInjector] changes statements between store and server
 * @returns {Promise<Stepped>}
 */
export async function stepThrough({
  url,
  schema,
  seed,
  isSmall = false,
  faultInjector = () => (query) => query,
}) {
  const random = seededRandom(seed)
  const clock = manualClock()
  const model = createModel()
  const gates = createGates(() => quiescence.changed())
  const control = new pg.Client({ connectionString: url })
  await control.connect()
  /** @type {Set<string>} */
  const busy = new Set()
  const quiescence = createQuiescence(/** @type {any} */ (control), gates, busy)
  /** @type {string[]} */
  const trace = []
  /** @type {Map<string, number>} */
  const counts = new Map()
  const count = (/** @type {string} */ name) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const violation = (/** @type {string} */ text) => model.violations.push(text)
  /** @type {Map<string, number>} */
  const last = new Map()
  let steps = 0
  let ids = 0

  const names = Array.from({ length: random.integer(2, 3) }, (_, index) => `n${index + 1}`)
  const opened = names.map((name) => {
    const pool = gates.pool(url, faultInjector)
    return { name, pool, store: postgresStore({ pool, schema, clock, answerWithinMs: STATEMENT_TIMEOUT_MS }) }
  })
  for (const { store } of opened) await store.open({ clock, log })
  await control.query(truncateQuery(schema))
  const webhooks = Array.from({ length: isSmall ? 1 : random.integer(1, 3) }, () => newWebhook(random))
  for (const webhook of webhooks) await opened[0]?.store.webhooks.insert(webhook)
  /** @type {import('./nodes.js').RunContext} */
  const context = {
    random,
    model,
    webhooks,
    now: () => clock.now(),
    step: () => steps,
    last: (actor) => last.get(actor) ?? steps,
    isLight: isSmall || random.chance(0.5),
    repeats: isSmall ? 0 : random.pick([0, 0.1, 0.5]),
    isPlain: isSmall || random.chance(0.4),
    calls: isSmall ? ['a'] : random.pick([['a'], ['a', 'b'], ['a', ERASED_CALL]]),
    id(kind) {
      ids += 1
      return `${kind}-${ids}`
    },
    eventPrefix() {
      ids += 1
      return ids.toString(16).padStart(24, '0')
    },
    deliveryId: model.deliveryId,
  }
  const excluded = isSmall ? RARE_ACTIONS : drawExcluded(random)
  const nodes = opened.map(({ name, store }) => createNode(context, name, store, excluded))
  // Three rounds: every node is known before any gets its final share.
  for (const node of [...nodes, ...nodes, ...nodes]) await node.catchUp()

  const actors = nodes.flatMap((node) => node.actors)
  // Weights of actors: in each run some are slow and some fast.
  const drawWeight = () => (isSmall ? 1 : random.pick([1, 1, 4, 16]))
  const actorWeights = new Map(actors.map(({ name }) => [name, drawWeight()]))

  /** @param {import('./nodes.js').Actor} actor */
  function begin({ name, begin }) {
    busy.add(name)
    gates
      .as(name, begin)
      .catch((thrown) => violation(`${name} was rejected: ${thrown.code ?? ''} ${thrown.message}`))
      .finally(() => {
        busy.delete(name)
        quiescence.changed()
      })
  }

  /** Sends one held statement, or begins an operation. Returns whether locks may be released; `undefined`: all done. */
  function stepOne() {
    const weights = /** @type {Record<string, number>} */ ({})
    for (const { name, canBegin } of actors)
      if (gates.held.has(name) || (!busy.has(name) && canBegin())) weights[name] = actorWeights.get(name) ?? 1
    if (Object.keys(weights).length === 0) return undefined
    const name = random.weighted(weights)
    const held = gates.held.get(name)
    last.set(name, steps)
    trace.push(`${String(steps).padStart(4)}  ${name}: ${held?.name ?? 'begins'}`)
    if (held) held.open()
    else begin(/** @type {import('./nodes.js').Actor} */ (actors.find((actor) => actor.name === name)))
    return held?.releasesLocks ?? false
  }

  /** Probability per step that all leases expire. */
  const expiry = isSmall ? 0 : random.pick([0, 0, 0.005, 0.03])

  async function checkTables() {
    const { rows } = await control.query(violationsQuery(schema))
    for (const row of rows) violation(`after step ${steps}: ${row.violation}`)
  }

  /** Advances time, usually a little, in some runs now and then until all leases have expired. */
  async function advanceTime() {
    if (random.chance(expiry)) {
      for (const { name } of nodes) model.lostLease(name, steps)
      await clock.advance(LEASE_MS + 1)
      trace.push('      every lease expires')
    } else if (random.chance(0.2)) await clock.advance(random.integer(1, 5))
  }

  async function runSteps() {
    while (steps < MAX_STEPS && model.violations.length === 0) {
      const releasesLocks = stepOne()
      if (releasesLocks === undefined) break
      const blocked = await quiescence.wait(releasesLocks)
      for (const [actor, by] of blocked) trace.push(`      ${actor} waits for ${by.join(', ')}`)
      if (blocked.size > 0) count('steps with a blocked actor')
      if (releasesLocks) await checkTables()
      await advanceTime()
      steps += 1
    }
    // After a violation statements may still be held.
    while (busy.size > 0) {
      for (const { open } of [...gates.held.values()]) open()
      await quiescence.wait(true)
    }
  }

  /** Every node learns what it missed. Then it has exactly what waits in its shards. */
  async function compareQueues() {
    for (const node of [...nodes, ...nodes]) await node.catchUp()
    for (const { name, queue } of nodes) {
      const { rows } = await control.query(waitingQuery(schema), [name])
      const missing = new Map(queue.entries)
      for (const { webhook: webhookId, position, attempts, epoch, revision } of rows) {
        const key = nameOf({ webhookId, position: Number(position) })
        const entry = missing.get(key)
        missing.delete(key)
        if (!entry) violation(`${name} does not know that ${key} waits`)
        else if (entry.attempts !== attempts) violation(`${name} has other attempts of ${key}`)
        else if (entry.epoch !== epoch) violation(`${name} has another epoch of ${key}`)
        if (entry && queue.webhooks.get(webhookId)?.revision !== Number(revision))
          violation(`${name} does not know that ${webhookId} was edited`)
      }
      for (const key of missing.keys()) violation(`${name} has ${key}, which is gone`)
    }
  }

  /** One node delivers everything that is left, then the final state is checked. */
  async function drainAndCheck() {
    last.clear()
    steps += 1
    const [first, ...others] = /** @type {[typeof nodes[0], ...typeof nodes]} */ (nodes)
    for (const { kill } of others) kill()
    first.kill()
    await clock.advance(LEASE_MS + 1)
    await first.renew()
    for (let round = 0; round < MAX_ROUNDS && (round === 0 || first.queue.entries.size > 0); round += 1) {
      steps += 1
      await clock.advance(10)
      await first.drain()
    }
    const left = first.queue.entries.size
    if (left > 0) violation(`${left} deliveries never end`)
    await checkTables()
    model.check(await statesIn(control, schema))
  }

  try {
    await runSteps()
    if (model.violations.length === 0) await compareQueues()
    if (model.violations.length === 0) await drainAndCheck()
  } finally {
    gates.end()
  }
  for (const { store, pool } of opened) {
    await store.close()
    await pool.end()
  }
  await control.end()
  counts.set('statements', steps)
  counts.set('deliveries', model.rows.size)
  for (const sqlState of gates.sqlStates) count(sqlState)
  return { violations: [...new Set(model.violations)], counts, trace }
}

/** @param {pg.Client} control @param {string} schema */
async function statesIn(control, schema) {
  const names = ['waiting', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']
  const { rows } = await control.query(statesQuery(schema))
  return new Map(rows.map(({ id, state }) => [String(id), names[state] ?? String(state)]))
}

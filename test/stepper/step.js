// @ts-check
/**
 * Nodes on one PostgreSQL schema, statement by statement: which of them goes on is drawn from a seed, and what waits for
 * a lock is seen from outside, so that every interleaving of statements may come, and comes again with its seed.
 */
import { postgresStore } from 'hookswitch/postgres'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import pg from 'pg'
import { createGates } from './gates.js'
import { newWebhook } from './made.js'
import { createModel } from './model.js'
import { createNode, LEASE_MS, RARE, someRare } from './nodes.js'
import { createRest } from './rest.js'
import { emptied, faultsIn } from './tables.js'

const log = { debug() {}, info() {}, warn() {}, error() {} }
/** No statement may take so long as somebody may leave it at its gate. */
const PATIENCE_MS = 600_000
const MOST_STEPS = 5_000
const MOST_ROUNDS = 60

/**
 * @typedef {object} Stepped
 * @property {readonly string[]} findings
 * @property {ReadonlyMap<string, number>} counts
 * @property {readonly string[]} story
 */

/**
 * @param {object} given
 * @param {string} given.url
 * @param {string} given.schema
 * @param {string} given.seed
 * @param {boolean} [given.isSmall] one webhook and one call, to which everything is delivered: lanes that fill and empty
 * @param {import('./gates.js').Doctor} [given.doctor] what somebody between store and server makes of statements
 * @returns {Promise<Stepped>}
 */
export async function stepThrough({ url, schema, seed, isSmall = false, doctor = () => (query) => query }) {
  const random = seededRandom(seed)
  const clock = manualClock()
  const model = createModel()
  const gates = createGates(() => resting.changed())
  const control = new pg.Client({ connectionString: url })
  await control.connect()
  /** @type {Set<string>} */
  const busy = new Set()
  const resting = createRest(/** @type {any} */ (control), gates, busy)
  /** @type {string[]} */
  const story = []
  /** @type {Map<string, number>} */
  const counts = new Map()
  const add = (/** @type {string} */ what) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const finding = (/** @type {string} */ what) => model.findings.push(what)
  /** @type {Map<string, number>} */
  const last = new Map()
  let steps = 0
  let made = 0

  const names = Array.from({ length: random.integer(2, 3) }, (_, index) => `n${index + 1}`)
  const opened = names.map((name) => {
    const pool = gates.pool(url, doctor)
    return { name, pool, store: postgresStore({ pool, schema, clock, answerWithinMs: PATIENCE_MS }) }
  })
  for (const { store } of opened) await store.open({ clock, log })
  await control.query(emptied(schema))
  const webhooks = Array.from({ length: isSmall ? 1 : random.integer(1, 3) }, () => newWebhook(random))
  for (const webhook of webhooks) await opened[0]?.store.webhooks.insert(webhook)
  /** @type {import('./nodes.js').World} */
  const world = {
    random,
    model,
    webhooks,
    now: () => clock.now(),
    step: () => steps,
    last: (actor) => last.get(actor) ?? steps,
    isLight: isSmall || random.chance(0.5),
    isPlain: isSmall || random.chance(0.4),
    calls: isSmall || random.chance(0.5) ? ['a'] : ['a', 'b'],
    maxPending: random.chance(0.2) ? 12 : 1_000_000,
    id(kind) {
      made += 1
      return `${kind}-${made}`
    },
  }
  const without = isSmall ? RARE : someRare(random)
  const nodes = opened.map(({ name, store }) => createNode(world, name, store, without))
  // Everybody is known before anybody's share is counted.
  for (const node of [...nodes, ...nodes, ...nodes]) await node.own()

  const actors = nodes.flatMap((node) => node.actors)
  // Some are slow in this run, and some quick.
  const paceOf = (/** @type {string} */ name) =>
    isSmall ? (name.endsWith('accept') ? 1 : 8) : random.pick([1, 1, 4, 16])
  const pace = new Map(actors.map(({ name }) => [name, paceOf(name)]))

  /** @param {import('./nodes.js').Actor} actor */
  function begin({ name, begin }) {
    busy.add(name)
    gates
      .as(name, begin)
      .catch((thrown) => finding(`${name} was refused: ${thrown.code ?? ''} ${thrown.message}`))
      .finally(() => {
        busy.delete(name)
        resting.changed()
      })
  }

  /** One that stood still goes on, or begins. Whether locks may be free then; `undefined`: all is done. */
  function goOn() {
    const weights = /** @type {Record<string, number>} */ ({})
    for (const { name, mayBegin } of actors)
      if (gates.held.has(name) || (!busy.has(name) && mayBegin())) weights[name] = pace.get(name) ?? 1
    if (Object.keys(weights).length === 0) return undefined
    const name = random.weighted(weights)
    const held = gates.held.get(name)
    story.push(`${String(steps).padStart(4)}  ${name}: ${held?.what ?? 'begins'}`)
    last.set(name, steps)
    if (held) held.open()
    else begin(/** @type {import('./nodes.js').Actor} */ (actors.find((actor) => actor.name === name)))
    return held?.frees ?? false
  }

  const leasesEnd = !isSmall && random.chance(0.4) ? random.integer(20, 200) : -1

  async function look() {
    const { rows } = await control.query(faultsIn(schema))
    for (const { fault } of rows) finding(`after step ${steps}: ${fault}`)
  }

  /** Time goes by, as a rule a little. */
  async function pass() {
    if (steps === leasesEnd) {
      for (const { name } of nodes) model.mayLose(name, steps)
      await clock.advance(LEASE_MS + 1)
      story.push('      every lease ends')
    } else if (random.chance(0.2)) await clock.advance(random.integer(1, 5))
  }

  async function walk() {
    while (steps < MOST_STEPS && model.findings.length === 0) {
      const frees = goOn()
      if (frees === undefined) break
      const blocked = await resting.rest(frees)
      for (const [actor, by] of blocked) story.push(`      ${actor} waits for ${by.join(', ')}`)
      if (blocked.size > 0) add('steps with somebody blocked')
      if (frees) await look()
      await pass()
      steps += 1
    }
    // What a finding left at the gates.
    while (busy.size > 0) {
      for (const { open } of [...gates.held.values()]) open()
      await resting.rest(true)
    }
  }

  /** One node does what is left. */
  async function finish() {
    for (const { name } of nodes) model.mayLose(name, steps)
    last.clear()
    steps += 1
    const [first, ...others] = /** @type {[typeof nodes[0], ...typeof nodes]} */ (nodes)
    for (const { name } of others) await storeOf(name).deliveries.release(name)
    await clock.advance(LEASE_MS + 1)
    await first.own()
    const { deliveries } = storeOf(first.name)
    for (let round = 0; round < MOST_ROUNDS && (await deliveries.pending()) > 0; round += 1) {
      steps += 1
      await clock.advance(10)
      await first.drain()
    }
    const left = await deliveries.pending()
    if (left > 0) finding(`${left} deliveries are pending for ever`)
    await look()
    model.judge(await statesIn(control, schema))
  }
  const storeOf = (/** @type {string} */ name) =>
    /** @type {import('hookswitch/store').Store} */ (opened.find((one) => one.name === name)?.store)

  try {
    await walk()
    if (model.findings.length === 0) await finish()
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
  for (const sqlState of gates.refused) add(sqlState)
  return { findings: [...new Set(model.findings)], counts, story }
}

/** @param {pg.Client} control @param {string} schema */
async function statesIn(control, schema) {
  const names = ['waiting', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']
  const { rows } = await control.query(`select id, state from ${schema}.delivery`)
  return new Map(rows.map(({ id, state }) => [String(id), names[state] ?? String(state)]))
}

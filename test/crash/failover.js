// @ts-check
/**
 * A failover to a standby that lacks the last commits, perhaps with a clock that is behind. What the standby never got is lost;
 * the nodes count it. Nothing else is lost, and only deliveries that the standby has again may be sent once more.
 */
import { seededRandom } from 'hookswitch/testkit'
import { waitUntilEmpty } from './empty-store.js'
import { History } from './history.js'
import { nowMicros, sleep } from './load.js'
import { terminateNode, waitForStart, waitUntil, waitUntilIdle } from './node-waits.js'
import { spawnNode } from './nodes.js'
import { createProgress } from './progress.js'
import { startReceiver } from './receiver.js'
import { query, startProxy, startReplication } from './replication.js'

/** Enough for every shard to have webhooks. */
const ACCOUNTS = 40
const SLOTS = 8
const SHARDS = 64
/** A lease lasts 10 s: longer than the failover, shorter than the wait for a node that could not release its own. */
const SPEED = 3
/** Acknowledgements of each node before the failover, and after it. */
const ACKS = 400
/** For so long the standby gets nothing before the primary is killed, ms. */
const UNREPLICATED_MS = { min: 50, max: 600 }

/** @typedef {import('./nodes.js').NodeProcess} NodeProcess */

/**
 * @param {object} options
 * @param {string} options.seed
 * @param {number} options.nodes
 * @param {number} options.clockBehindMs how far the clock of the standby is behind
 */
export async function runFailover({ seed, nodes: count, clockBehindMs }) {
  const random = seededRandom(seed)
  const history = new History()
  history.expectedRefusals.add('StoreUnavailable')
  const servers = await startReplication()
  const proxy = await startProxy(servers.primary.port)
  const receiver = await startReceiver(seed, history)
  const progress = createProgress(history, { slots: SLOTS, accounts: ACCOUNTS })
  const schema = 'failover'
  /** @type {NodeProcess[]} */
  const nodes = []
  for (let part = 0; part < count; part += 1) {
    const node = spawnNode(history, part + 1, 'postgres')
    await node.waitFor('ready')
    node.send('start', {
      location: { kind: 'postgres', connectionString: proxy.url, schema, speed: SPEED },
      accounts: ACCOUNTS,
      slots: progress.slots(node.id, part),
      republish: [],
      events: 1_000_000,
      pauseMs: 10,
      ...(part === 0 ? { setUp: { port: receiver.port, accounts: ACCOUNTS } } : {}),
    })
    await waitForStart(history, node)
    nodes.push(node)
  }
  const acksOf = (/** @type {NodeProcess} */ { id }) => history.acks.filter(({ node }) => node === id).length
  for (const node of nodes) await waitUntil(history, node, 'it accepts nothing', () => acksOf(node) >= ACKS)

  // Half of the runs cut replication while shards may still be handed over to the nodes that came later.
  const knowsHandOver = () => isHandOverOver(servers.standby.url, schema, count)
  if (random.integer(0, 1) === 1) {
    const [first] = /** @type {[NodeProcess]} */ (/** @type {unknown} */ (nodes))
    await waitUntil(history, first, 'the standby does not get to know the hand-over', knowsHandOver)
  }
  servers.cutReplication()
  await sleep(random.integer(UNREPLICATED_MS.min, UNREPLICATED_MS.max))
  servers.killPrimary()
  proxy.pointTo(undefined)
  await servers.promote()
  const eventIds = async () =>
    (await query(servers.standby.url, `select id from ${schema}.event`)).map(({ id }) => id)
  const stored = new Set(await eventIds())
  const waiting = await query(
    servers.standby.url,
    `select h.account_id || '/' || (h.doc::json -> 'settings' ->> 'name') as webhook, e.id as event
      from ${schema}.waiting w join ${schema}.webhook h on h.key = w.webhook_key join ${schema}.event e on e.position = w.event`,
  )
  for (const node of nodes) node.send('setStoreClockBack', clockBehindMs)
  for (const node of nodes) await node.waitFor('storeClockSet')
  // Answers of the old primary have arrived by now, and the new one has not answered yet.
  const at = nowMicros()
  history.failover = {
    at,
    waiting: new Set(waiting.map(({ webhook, event }) => `${webhook} ${event}`)),
    lost: new Set(),
    knowsHandOver: await knowsHandOver(),
  }
  proxy.pointTo(servers.standby.port)
  const before = new Map(nodes.map((node) => [node, acksOf(node)]))
  for (const node of nodes)
    await waitUntil(
      history,
      node,
      'it accepts nothing after the failover',
      () => acksOf(node) >= (before.get(node) ?? 0) + ACKS,
    )

  const [last, ...others] = /** @type {[NodeProcess, ...NodeProcess[]]} */ (nodes)
  for (const node of others) await terminateNode(history, node)
  await waitUntilIdle(history, last)
  await waitUntilEmpty(history, last, { connectionString: servers.standby.url, schema })
  const storedAtEnd = new Set(await eventIds())
  const seen = [...history.acks, ...history.requests]
    .filter((record) => record.at <= at)
    .map(({ event }) => event)
  history.failover.lost = new Set(seen.filter((event) => !stored.has(event) && !storedAtEnd.has(event)))
  await terminateNode(history, last)
  receiver.close()
  proxy.close()
  servers.end()
  return { history }
}

/**
 * Whether a server has the shards of all nodes, none of which is being handed over.
 *
 * @param {string} url
 * @param {string} schema
 * @param {number} nodes
 */
async function isHandOverOver(url, schema, nodes) {
  const owners = await query(
    url,
    `select count(*)::int as shards from ${schema}.shard where not leaving and owner is not null group by owner`,
  )
  const owned = owners.reduce((sum, { shards }) => sum + shards, 0)
  return owners.length === nodes && owned === SHARDS
}

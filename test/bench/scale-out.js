/** P11: scaling with the number of nodes on one PostgreSQL, where receivers and concurrency limits are the bound. */

import { sleep, startProcess } from './processes.js'
import { interleave, median, summarize } from './statistics.js'

const NODES = [1, 2, 4]
const SHARDS = 64
const IN_FLIGHT = 10
const RESPONSE_MS = 20
const ACCOUNTS = 64
const WEBHOOKS_PER_SHARD = 4
/** Deliveries of each node in a round: about five seconds. */
const PER_NODE = 2_000
/** The measured part of a round's deliveries: without the start, and the end, when some nodes have no more work. */
const MEASURED_RANGE = { from: 0.1, to: 0.9 }
/** Nodes take over and hand over shards when they renew their leases, every 10 s. */
const BALANCE_TIMEOUT_MS = 120_000
const TIMEOUT_MS = 60_000

/** @param {{ name: string, rounds: number, stores: import('./stores.js').Stores }} options */
export async function measureNodes({ name, rounds, stores }) {
  const processes = []
  const start = (child) => {
    processes.push(startProcess(child))
    return processes.at(-1)
  }
  try {
    const receiver = start('delayed-receiver')
    const { port } = await receiver.request('listen', { delayMs: RESPONSE_MS })
    const groups = []
    for (const nodes of NODES)
      groups.push(await startGroup(nodes, { start, port, location: stores.newLocation() }))
    for (const { nodes } of groups) await waitUntilBalanced(nodes)
    for (const group of groups) await runRound(group, receiver)
    const sides = groups.map((group) => [String(group.nodes.length), () => runRound(group, receiver)])
    const done = await interleave(rounds, Object.fromEntries(sides))
    const rate = (nodes) => Math.round(median(done[nodes])).toLocaleString('en')
    return NODES.slice(1).map((nodes) => ({
      row: name,
      measurement: `${nodes} nodes, ${stores.title}, receivers that respond after ${RESPONSE_MS} ms, ${IN_FLIGHT} in flight each`,
      baseline: `${nodes} × one node`,
      unit: 'ratio',
      goal: 0.8,
      ...summarize(done[nodes].map((perSecond, index) => perSecond / (nodes * done[1][index]))),
      details: `${rate(nodes)} vs. ${rate(1)}/s`,
    }))
  } finally {
    // Nodes stop before the receiver, so that they can finish and release their shards.
    for (const process of processes.reverse()) await process.stop()
  }
}

/** Starts nodes on a new store in which every shard has the same number of webhooks. */
async function startGroup(count, { start, port, location }) {
  const nodes = Array.from({ length: count }, () => start('capped-node'))
  for (const node of nodes) await node.request('prepare', { location, inFlight: IN_FLIGHT })
  const webhooks = await nodes[0].request('setUp', { port, accounts: ACCOUNTS, perShard: WEBHOOKS_PER_SHARD })
  const writer = start('delivery-writer')
  await writer.request('open', { location })
  return { nodes, webhooks, writer }
}

/** Waits until every node owns its share of the shards. */
async function waitUntilBalanced(nodes) {
  const limit = performance.now() + BALANCE_TIMEOUT_MS
  for (;;) {
    const shards = await Promise.all(nodes.map((node) => node.request('shards')))
    if (shards.every((owned) => owned === SHARDS / nodes.length)) return
    if (performance.now() > limit) throw new Error(`shards are not balanced: ${shards.join(', ')}`)
    await sleep(500)
  }
}

/** Writes deliveries while the receiver holds its responses back, then measures deliveries a second. */
async function runRound({ nodes, webhooks, writer }, receiver) {
  const count = PER_NODE * nodes.length
  await receiver.request('reset')
  await receiver.request('hold')
  await writer.request('accept', { webhooks, count })
  await receiver.request('release')
  const limit = performance.now() + TIMEOUT_MS
  let received = 0
  while (received < count) {
    if (performance.now() > limit) throw new Error(`received ${received} of ${count}`)
    await sleep(50)
    received = await receiver.request('received')
  }
  // Time for the settlements to be written.
  await sleep(200)
  if ((await receiver.request('received')) !== count)
    throw new Error(`received more than the ${count} that were accepted`)
  return receiver.request('rate', MEASURED_RANGE)
}

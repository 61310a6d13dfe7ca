/** P11: what one node after the other adds, on one PostgreSQL, where receivers and caps are the bound. */
import { inTurns, median, spread } from './numbers.js'
import { sleep, startProcess } from './processes.js'

const NODES = [1, 2, 4]
const SHARDS = 64
const IN_FLIGHT = 10
const ANSWER_MS = 20
const ACCOUNTS = 64
const PER_SHARD = 4
/** Deliveries of each node in a round: some five seconds. */
const EACH = 2_000
/** What the first and the last of a round are left out for: nodes that begin, and nodes that have nothing more. */
const STRETCH = { from: 0.1, to: 0.9 }
/** Shards change hands when leases are renewed: every 10 s. */
const BALANCE_MS = 120_000
const PATIENCE_MS = 60_000

/** @param {{ name: string, rounds: number, places: import('./places.js').Places }} options */
export async function measureNodes({ name, rounds, places }) {
  const processes = []
  const start = (child) => {
    processes.push(startProcess(child))
    return processes.at(-1)
  }
  try {
    const receiver = start('late-receiver')
    const { port } = await receiver.ask('listen', { answerMs: ANSWER_MS })
    const groups = []
    for (const nodes of NODES) groups.push(await groupOf(nodes, { start, port, place: places.fresh() }))
    for (const { nodes } of groups) await balanced(nodes)
    for (const group of groups) await round(group, receiver)
    const sides = groups.map((group) => [String(group.nodes.length), () => round(group, receiver)])
    const done = await inTurns(rounds, Object.fromEntries(sides))
    const rate = (nodes) => Math.round(median(done[nodes])).toLocaleString('en')
    return NODES.slice(1).map((nodes) => ({
      row: name,
      what: `${nodes} nodes, ${places.title}, receivers that answer after ${ANSWER_MS} ms, ${IN_FLIGHT} in flight each`,
      baseline: `${nodes} × one node`,
      unit: 'ratio',
      goal: 0.8,
      ...spread(done[nodes].map((perSecond, index) => perSecond / (nodes * done[1][index]))),
      seen: `${rate(nodes)} against ${rate(1)}/s`,
    }))
  } finally {
    // Nodes first: they give back what they have.
    for (const process of processes.reverse()) await process.stop()
  }
}

/** Nodes on a place of their own, where every shard has as many webhooks. */
async function groupOf(count, { start, port, place }) {
  const nodes = Array.from({ length: count }, () => start('capped-node'))
  for (const node of nodes) await node.ask('prepare', { place, inFlight: IN_FLIGHT })
  const webhooks = await nodes[0].ask('setUp', { port, accounts: ACCOUNTS, perShard: PER_SHARD })
  const accepter = start('accepter')
  await accepter.ask('open', { place })
  return { nodes, webhooks, accepter }
}

/** Until every node has its part of the shards. */
async function balanced(nodes) {
  const limit = performance.now() + BALANCE_MS
  for (;;) {
    const shards = await Promise.all(nodes.map((node) => node.ask('shards')))
    if (shards.every((owned) => owned === SHARDS / nodes.length)) return
    if (performance.now() > limit) throw new Error(`shards are not balanced: ${shards.join(', ')}`)
    await sleep(500)
  }
}

/** Deliveries a second, all due at one moment, when all are written. */
async function round({ nodes, webhooks, accepter }, receiver) {
  const count = EACH * nodes.length
  await receiver.ask('forget')
  await accepter.ask('accept', { webhooks, count, inMs: 2_000 + count })
  const limit = performance.now() + 2_000 + count + PATIENCE_MS
  let received = 0
  while (received < count) {
    if (performance.now() > limit) throw new Error(`received ${received} of ${count}`)
    await sleep(50)
    received = await receiver.ask('received')
  }
  // What is answered is written, too.
  await sleep(200)
  if ((await receiver.ask('received')) !== count)
    throw new Error(`received more than the ${count} that were accepted`)
  return receiver.ask('pace', STRETCH)
}

/** P15: CPU time of a delivery when much is stored, and when most endpoints are dead. */

import { LARGE_HEAP, startProcess } from './processes.js'
import { interleave, median, ratesOf, summarize } from './statistics.js'

const SMALL = 100
const MEDIUM = 10_000
/** `dead`: accounts, of 100, whose subscribed webhook is dead. */
const DEAD = { webhooks: 1_000, dead: 90 }
/** Events for each delivery to a live endpoint, when events go to all endpoints. */
const EVENTS_PER_LIVE_DELIVERY = 10

/** `count`: events in a round. */
const KINDS = {
  memory: { count: 10_000, warmUp: 20_000 },
  sqlite: { count: 5_000, warmUp: 10_000 },
  postgres: { count: 5_000, warmUp: 10_000 },
}

/**
 * A durable store grows with every round, so its small instance is replaced before each round and holds only the
 * attempts of that round. The memory store removes attempts above its limit.
 */
const NEW_STORE_WARM_UP = 1_000

/**
 * @param {{ name: string, rounds: number, largest: number, stores: import('./stores.js').Stores }} options `largest`:
 *   number of webhooks and of attempts in the largest instance
 */
export async function measureGrowth({ name, rounds, largest, stores }) {
  const { count, warmUp } = KINDS[stores.kind]
  const processes = [startProcess('receiver'), startProcess('failing-receivers')]
  const [receiver, failing] = processes
  const start = () => {
    processes.push(startProcess('growth-sender', { nodeOptions: LARGE_HEAP }))
    return processes.at(-1)
  }
  /** The CPU time of a database server counts as part of a delivery. */
  const run = async (side) => {
    const before = await stores.cpuMs()
    const { ms, cpuMs } = await side.request('run', { count })
    return ratesOf({ ms, cpuMs: cpuMs + (await stores.cpuMs()) - before }, count)
  }
  try {
    const { port } = await receiver.request('listen')
    const { closedPort: deadPort } = await failing.request('listen', { delayMs: 0 })
    const sizes = [SMALL, MEDIUM, largest].filter((size, index, all) => all.indexOf(size) === index)
    const sides = {}
    for (const webhooks of sizes) {
      sides[webhooks] = start()
      const location = stores.newLocation({ attemptsInAll: webhooks })
      await sides[webhooks].request('prepare', { location, port, webhooks })
      await sides[webhooks].request('run', { count: Math.max(warmUp, webhooks) })
    }
    sides.dead = start()
    const location = stores.newLocation({ attemptsInAll: DEAD.webhooks })
    await sides.dead.request('prepare', { location, port, deadPort, ...DEAD })
    await sides.dead.request('pauseDead')
    // Deliveries to dead endpoints stay pending while the live ones are delivered.
    await sides.dead.request('run', { count: warmUp / EVENTS_PER_LIVE_DELIVERY, toAll: true })
    await sides.dead.request('run', { count: warmUp })
    const runners = Object.fromEntries(Object.entries(sides).map(([size, side]) => [size, () => run(side)]))
    if (stores.kind !== 'memory') {
      runners[SMALL] = async () => {
        await sides[SMALL].request('prepare', { location: stores.newLocation(), port, webhooks: SMALL })
        await sides[SMALL].request('run', { count: NEW_STORE_WARM_UP })
        return run(sides[SMALL])
      }
    }
    const done = await interleave(rounds, runners)
    const rssOf = async (size) => `${Math.round((await sides[size].request('memory')).rssMb)} MB`
    const micros = (size) => done[size].map(({ cpuMicros }) => cpuMicros)
    const perSecond = (size) =>
      Math.round(median(done[size].map((round) => round.perSecond))).toLocaleString('en')
    const row = async (size, measurement) => ({
      row: name,
      measurement: `CPU of a delivery, ${measurement}, ${stores.title}`,
      baseline: `${SMALL} webhooks, ${stores.kind === 'memory' ? `${SMALL} attempts` : 'a new store'}`,
      unit: '×',
      goal: 1.3,
      ...summarize(micros(size).map((cpu, index) => cpu / done[SMALL][index].cpuMicros)),
      details:
        `${median(micros(size)).toFixed(0)} vs. ${median(micros(SMALL)).toFixed(0)} µs, ` +
        `${perSecond(size)} vs. ${perSecond(SMALL)}/s, ${await rssOf(size)}`,
    })
    const rows = []
    for (const size of sizes.slice(1)) {
      const text = size.toLocaleString('en')
      rows.push(await row(size, `${text} webhooks and ${text} attempts stored`))
    }
    rows.push(await row('dead', '90 % of endpoints dead, paused with pending deliveries'))
    return rows
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
}

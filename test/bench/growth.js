/** P15: what a delivery costs when much is stored, and when most endpoints are dead. */
import { inTurns, median, rates, spread } from './numbers.js'
import { ROOM, startProcess } from './processes.js'

const SMALL = 100
const MIDDLE = 10_000
/** Accounts of ten webhooks; nine in ten of those that are called are dead. */
const DEAD = { webhooks: 1_000, deadAccounts: 90 }
/** Events for one that a living endpoint gets, when all get some. */
const LIVING = 10

/** `count`: events of a round. */
const KINDS = {
  memory: { count: 10_000, warmUp: 20_000 },
  sqlite: { count: 5_000, warmUp: 10_000 },
  postgres: { count: 5_000, warmUp: 10_000 },
}

/**
 * What is kept on a disk grows with every round: there the small instance is always a new one, which has but the
 * attempts of the round itself. In memory it forgets those that are too many.
 */
const RENEWED_WARM_UP = 1_000

/**
 * @param {{ name: string, rounds: number, most: number, places: import('./places.js').Places }} options `most`:
 *   webhooks, and attempts, of the largest instance
 */
export async function measureGrowth({ name, rounds, most, places }) {
  const { count, warmUp } = KINDS[places.kind]
  const processes = [startProcess('receiver'), startProcess('troubled-receivers')]
  const [receiver, troubled] = processes
  const start = () => {
    processes.push(startProcess('grown-sender', { nodeOptions: ROOM }))
    return processes.at(-1)
  }
  /** The processor time of the store's server is part of what a delivery costs. */
  const run = async (side) => {
    const before = await places.cpuMs()
    const { ms, cpuMs } = await side.ask('run', { count })
    return rates({ ms, cpuMs: cpuMs + (await places.cpuMs()) - before }, count)
  }
  try {
    const { port } = await receiver.ask('listen')
    const { closedPort: deadPort } = await troubled.ask('listen', { answerMs: 0 })
    const sizes = [SMALL, MIDDLE, most].filter((size, index, all) => all.indexOf(size) === index)
    const sides = {}
    for (const webhooks of sizes) {
      sides[webhooks] = start()
      const place = places.fresh({ attemptsInAll: webhooks })
      await sides[webhooks].ask('prepare', { place, port, webhooks })
      await sides[webhooks].ask('run', { count: Math.max(warmUp, webhooks) })
    }
    sides.dead = start()
    const place = places.fresh({ attemptsInAll: DEAD.webhooks })
    await sides.dead.ask('prepare', { place, port, deadPort, ...DEAD })
    await sides.dead.ask('exhaust')
    // What is published to the dead ones waits there while the living ones get theirs.
    await sides.dead.ask('run', { count: warmUp / LIVING, toAll: true })
    await sides.dead.ask('run', { count: warmUp })
    const rounded = Object.fromEntries(Object.entries(sides).map(([size, side]) => [size, () => run(side)]))
    if (places.kind !== 'memory') {
      rounded[SMALL] = async () => {
        await sides[SMALL].ask('prepare', { place: places.fresh(), port, webhooks: SMALL })
        await sides[SMALL].ask('run', { count: RENEWED_WARM_UP })
        return run(sides[SMALL])
      }
    }
    const done = await inTurns(rounds, rounded)
    const rssOf = async (size) => `${Math.round((await sides[size].ask('memory')).rssMb)} MB`
    const micros = (size) => done[size].map(({ cpuMicros }) => cpuMicros)
    const perSecond = (size) =>
      Math.round(median(done[size].map((round) => round.perSecond))).toLocaleString('en')
    const row = async (size, what) => ({
      row: name,
      what: `CPU of a delivery, ${what}, ${places.title}`,
      baseline: `${SMALL} webhooks, ${places.kind === 'memory' ? `${SMALL} attempts` : 'a new store'}`,
      unit: '×',
      goal: 1.3,
      ...spread(micros(size).map((cpu, index) => cpu / done[SMALL][index].cpuMicros)),
      seen:
        `${median(micros(size)).toFixed(0)} against ${median(micros(SMALL)).toFixed(0)} µs, ` +
        `${perSecond(size)} against ${perSecond(SMALL)}/s, ${await rssOf(size)}`,
    })
    const rows = []
    for (const size of sizes.slice(1)) {
      const text = size.toLocaleString('en')
      rows.push(await row(size, `${text} webhooks and ${text} attempts stored`))
    }
    rows.push(await row('dead', '90 % of endpoints dead, left alone with what waits for them'))
    return rows
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
}

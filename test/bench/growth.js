/** P15: what a delivery costs when much is stored, and when most endpoints are dead. */
import { inTurns, median, rates, spread } from './numbers.js'
import { startProcess } from './processes.js'

const SMALL = 100
const MIDDLE = 10_000
const COUNT = 10_000
const WARM_UP = 20_000
/** Accounts of ten webhooks; nine in ten of those that are called are dead. */
const DEAD = { webhooks: 1_000, deadAccounts: 90 }
/** A million webhooks with their attempts are some gigabytes. */
const ROOM = ['--max-old-space-size=16384']

/** @param {{ rounds: number, most: number }} options `most`: webhooks, and attempts, of the largest instance */
export async function measureGrowth({ rounds, most }) {
  const processes = [startProcess('receiver'), startProcess('troubled-receivers')]
  const [receiver, troubled] = processes
  const start = () => {
    processes.push(startProcess('grown-sender', { nodeOptions: ROOM }))
    return processes.at(-1)
  }
  try {
    const { port } = await receiver.ask('listen')
    const { closedPort: deadPort } = await troubled.ask('listen', { answerMs: 0 })
    const sizes = [SMALL, MIDDLE, most].filter((size, index, all) => all.indexOf(size) === index)
    const sides = {}
    for (const webhooks of sizes) {
      sides[webhooks] = start()
      await sides[webhooks].ask('prepare', { port, webhooks })
      await sides[webhooks].ask('run', { count: Math.max(WARM_UP, webhooks) })
    }
    sides.dead = start()
    await sides.dead.ask('prepare', { port, deadPort, ...DEAD })
    await sides.dead.ask('exhaust')
    await sides.dead.ask('run', { count: WARM_UP })
    const round = (side) => async () => rates(await side.ask('run', { count: COUNT }), COUNT)
    const done = await inTurns(
      rounds,
      Object.fromEntries(Object.entries(sides).map(([name, side]) => [name, round(side)])),
    )
    const rssOf = async (name) => `${Math.round((await sides[name].ask('memory')).rssMb)} MB`
    const micros = (name) => done[name].map(({ cpuMicros }) => cpuMicros)
    const row = async (name, what) => ({
      row: 'P15',
      what: `CPU of a delivery, ${what}`,
      baseline: `${SMALL} webhooks, ${SMALL} attempts`,
      unit: '×',
      goal: 1.3,
      ...spread(micros(name).map((cpu, index) => cpu / done[SMALL][index].cpuMicros)),
      seen: `${median(micros(name)).toFixed(0)} against ${median(micros(SMALL)).toFixed(0)} µs, ${await rssOf(name)}`,
    })
    const rows = []
    for (const size of sizes.slice(1)) {
      const text = size.toLocaleString('en')
      rows.push(await row(size, `${text} webhooks and ${text} attempts stored`))
    }
    rows.push(await row('dead', '90 % of endpoints dead and left alone'))
    return rows
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
}

/** P23: a node is killed under load and started again at once: when does it send what is new, and what waited? */
import { sharedMicros, sleep, startProcess } from './processes.js'
import { summarize } from './statistics.js'

/** Each with a webhook: enough for most shards. The first one gets the new event. */
const ACCOUNTS = 65
const RECEIVER_MS = 100
/** A quarter more than the receivers take. */
const PER_SECOND = 800
const LOAD_MS = 3_000
/** Longest wait for a request: more than a lease. */
const TIMEOUT_MS = 45_000

/** Arrival of the first request in a range, on the shared clock. */
async function arrivalOf(receiver, range) {
  const untilMs = performance.now() + TIMEOUT_MS
  while (performance.now() < untilMs) {
    const arrived = await receiver.request('firstArrival', range)
    if (arrived !== undefined) return arrived
    await sleep(5)
  }
  throw new Error(`nothing of ${range.group} arrived within ${TIMEOUT_MS / 1000} s`)
}

/** @param {{ name: string, rounds: number, stores: import('./stores.js').Stores }} options */
export async function measureCrash({ name, rounds, stores }) {
  /** In ms. */
  const times = { fresh: [], freshFromKill: [], waiting: [], started: [] }
  for (let round = 0; round < rounds; round += 1) {
    const receiver = startProcess('timing-receiver')
    const location = stores.newLocation()
    let node = startProcess('crashing-node')
    try {
      const { port } = await receiver.request('listen', { delayMs: RECEIVER_MS })
      await node.request('start', { location, port, accounts: ACCOUNTS })
      node.request('load', { accounts: ACCOUNTS, perSecond: PER_SECOND }).catch(() => {})
      await sleep(LOAD_MS)
      await node.kill()
      const killed = sharedMicros()
      node = startProcess('crashing-node')
      await node.request('start', { location, accounts: ACCOUNTS })
      const started = sharedMicros()
      await node.request('publishOne')
      const to = Number.MAX_SAFE_INTEGER
      const fresh = await arrivalOf(receiver, { group: 'new', from: started, to, after: 0 })
      const waiting = await arrivalOf(receiver, { group: 'load', from: 0, to: killed, after: killed })
      times.fresh.push((fresh - started) / 1000)
      times.freshFromKill.push((fresh - killed) / 1000)
      times.waiting.push((waiting - killed) / 1000)
      times.started.push((started - killed) / 1000)
    } finally {
      await node.kill()
      await receiver.stop()
    }
  }
  const secondsOf = (values) => `${(summarize(values).median / 1000).toFixed(2)} s`
  const after = `kill -9 under load, restarted at once, ${stores.title}`
  return [
    {
      row: name,
      measurement: `${after}: a new event, from publish to its receiver`,
      baseline: '–',
      unit: 'ms',
      goal: 300,
      floor: 2_000,
      ...summarize(times.fresh),
      details: `${secondsOf(times.freshFromKill)} after the kill, ${secondsOf(times.started)} of it until the node had started`,
    },
    {
      row: name,
      measurement: `${after}: what waited goes on, from the kill`,
      baseline: '–',
      unit: 'ms',
      goal: 5_000,
      floor: 15_000,
      ...summarize(times.waiting),
      details: '',
    },
  ]
}

/** A host of thousands of webhooks that have lost their events, and of one customer whose receiver works. */
import { handleRequests, sharedMicros, sleep } from '../processes.js'
import { addTimestamp, eventAt } from './events.js'
import { createAccounts, setUpConcurrency, startInstance } from './instance.js'

const QUICK = 'quick'
/** Events that are published at once. */
const BATCH = 500

let hs
let webhooks = 0
let waiting = 0
let published = 0

/** Publishes to the customer at a steady rate until `isOver`. */
async function publishSteadily(perSecond, isOver) {
  const from = sharedMicros()
  for (let sent = 0; !(await isOver()); await sleep(1)) {
    const due = Math.floor(((sharedMicros() - from) / 1e6) * perSecond)
    for (; sent < due; sent += 1)
      await hs.publish(addTimestamp({ ...eventAt(published++, 1), accountId: QUICK }, sharedMicros()))
  }
  return { from, to: sharedMicros() }
}

handleRequests({
  async prepare({ location, webhooks: count, port, quickPort }) {
    webhooks = count
    hs = await startInstance(location, { defaultRetries: 0, pauses: false, autoDisable: false })
    const concurrency = setUpConcurrency(location)
    const settings = (account) => ({ uri: `http://127.0.0.1:${port}/${account}`, hook: 'channel_answer' })
    await createAccounts(hs, { accounts: count, perAccount: 1, concurrency, settings })
    const quick = () => ({ uri: `http://localhost:${quickPort}/quick/1`, hook: 'channel_answer' })
    await createAccounts(hs, {
      accounts: 1,
      perAccount: 1,
      concurrency: 1,
      settings: quick,
      nameOf: () => QUICK,
    })
    hs.events.on('exhausted', () => {
      waiting -= 1
    })
  },
  /** Publishes events to each webhook, and waits until they are given up. */
  async lose({ events }) {
    for (let from = 0; from < webhooks * events; from += BATCH) {
      waiting += BATCH
      await Promise.all(
        Array.from({ length: BATCH }, (_, index) => hs.publish(eventAt(from + index, webhooks))),
      )
      while (waiting > 20 * BATCH) await sleep(5)
    }
    while (waiting > 0) await sleep(50)
  },
  publish({ perSecond, ms }) {
    const end = performance.now() + ms
    return publishSteadily(perSecond, () => performance.now() > end)
  },
  async count() {
    const began = performance.now()
    const { count } = await hs.replays.count({})
    return { count, countMs: performance.now() - began }
  },
  /** Publishes while what was lost is replayed, until all of it is delivered. */
  async replay({ perSecond, maxMs }) {
    const { count } = await hs.replays.start({})
    let left = count
    hs.events.on('delivered', ({ accountId }) => {
      if (accountId !== QUICK) left -= 1
    })
    const end = performance.now() + maxMs
    return publishSteadily(perSecond, () => left <= 0 || performance.now() > end)
  },
})

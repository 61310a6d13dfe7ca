/** Measures the latency of `publish`, in a process that gets no responses or sends to a fast receiver. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { handleRequests, sleep } from '../processes.js'
import { createCounter } from './counter.js'
import { eventAt } from './events.js'
import { createAccounts, forEachConcurrently, setUpConcurrency, startInstance } from './instance.js'
import { createUnresponsiveSender } from './unresponsive-sender.js'

const ACCOUNTS = 20
/** Concurrent publishes of the warm-up. */
const WARM_UP_CONCURRENCY = 256
/** `monitorEventLoopDelay` includes its sampling period in its results. */
const RESOLUTION_MS = 1

let accounts
let accept
let close = () => {}
let published = 0
const delivered = createCounter()

/** Publishes one event; µs until it is accepted. */
async function publishOne() {
  const event = eventAt(published++, accounts)
  const started = performance.now()
  await accept(event)
  return (performance.now() - started) * 1000
}

async function publishMany(count) {
  const micros = []
  for (let index = 0; index < count; index += 1) micros.push(await publishOne())
  return micros
}

/** Publishes at a steady rate, whether earlier events are accepted or not (open loop). */
function publishOnSchedule({ count, perSecond }) {
  const micros = []
  let started = 0
  const startMs = performance.now()
  return new Promise((resolve, reject) => {
    const accepted = (latency) => {
      micros.push(latency)
      if (micros.length === count) resolve(micros)
    }
    const tick = () => {
      const due = Math.min(count, Math.floor(((performance.now() - startMs) * perSecond) / 1000))
      for (; started < due; started += 1) publishOne().then(accepted, reject)
      if (started < count) setTimeout(tick, 1)
    }
    tick()
  })
}

/** Publishes a steady load and waits for its deliveries; `lateMs`: how much longer than planned it took. */
async function steadyConcurrent(load) {
  const before = delivered.count
  const started = performance.now()
  const micros = await publishOnSchedule(load)
  await delivered.waitFor(before + load.count)
  const plannedMs = (load.count * 1000) / load.perSecond
  return { micros, lateMs: performance.now() - started - plannedMs, plannedMs }
}

handleRequests(
  {
    /**
     * @param {{ location?: import('../stores.js').StoreLocation, port?: number, accounts?: number, webhooks: number,
     *   bodyVariants?: boolean }} input without a location, events are created, stringified and discarded; without a port, requests get no response;
     *   `bodyVariants`: the webhooks get three different bodies
     */
    async prepare({ location, port, webhooks, bodyVariants = false, accounts: accountCount = ACCOUNTS }) {
      accounts = accountCount
      if (location === undefined) {
        accept = async (event) => {
          JSON.stringify(event)
          delivered.increment()
        }
        return
      }
      const hs = await startInstance(location, {
        maxPending: 10_000_000,
        ...(port === undefined ? { sender: createUnresponsiveSender() } : {}),
      })
      const variants = bodyVariants ? [{}, { format: 'form-data' }, { customData: { tenant: 'a' } }] : [{}]
      await createAccounts(hs, {
        accounts,
        perAccount: webhooks,
        concurrency: setUpConcurrency(location),
        settings: (_, index) => ({
          uri: `http://127.0.0.1:${port ?? 9}/hooks/${index}`,
          hook: 'channel_answer',
          ...variants[index % variants.length],
        }),
      })
      accept = hs.publish
      close = () => hs.close({ drainMs: 0 })
      hs.events.on('delivered', delivered.increment)
    },
    /** Publishes while the process and the store are otherwise idle. */
    async publishIdle({ count }) {
      const micros = []
      for (let index = 0; index < count; index += 1) {
        const before = delivered.count
        micros.push(await publishOne())
        await delivered.waitFor(before + 1)
        await sleep(1)
      }
      return micros
    },
    /** Publishes at a steady rate, one after the other; catches up if it is late. */
    async steadySequential({ count, perSecond }) {
      const micros = []
      const started = performance.now()
      while (micros.length < count) {
        const due = Math.min(count, Math.floor(((performance.now() - started) * perSecond) / 1000))
        micros.push(...(await publishMany(due - micros.length)))
        await sleep(1)
      }
      return micros
    },
    steady: steadyConcurrent,
    /** The same, with the delays of the event loop. */
    async measureStalls(load) {
      const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
      delays.enable()
      const { lateMs, plannedMs } = await steadyConcurrent(load)
      delays.disable()
      const delayMs = (nanos) => nanos / 1e6 - RESOLUTION_MS
      return { lateMs, plannedMs, longestMs: delayMs(delays.max), p99Ms: delayMs(delays.percentile(99)) }
    },
    publishMany: ({ count }) => publishMany(count),
    /** Publishes with high concurrency and waits for the deliveries. */
    async warmUp({ count }) {
      const before = delivered.count
      const publishes = Array.from({ length: count }, () => publishOne)
      await forEachConcurrently(publishes, (publish) => publish(), WARM_UP_CONCURRENCY)
      await delivered.waitFor(before + count)
    },
    /** Publishes events that stay pending. */
    async fill({ count }) {
      for (let index = 0; index < count; index += 1) await publishOne()
      return { rssMb: process.memoryUsage.rss() / 1e6 }
    },
    memory: () => ({ rssMb: process.memoryUsage.rss() / 1e6 }),
    /** Publishes one event to the only account; ms until it is accepted. `text`: added to its payload. */
    async publishOne({ text } = {}) {
      const event = eventAt(published++, 1)
      if (text !== undefined) event.customChannelVars.text = text
      const started = performance.now()
      await accept(event)
      return performance.now() - started
    },
  },
  () => close(),
)

/** How long `publish` takes its caller, in a process that sends to nobody or to a quick receiver. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { answerParent, sleep } from '../processes.js'
import { deadSender } from './dead-sender.js'
import { eventAt } from './events.js'
import { atOnceOn, makeAccounts, startInstance, workThrough } from './instance.js'
import { createTally } from './tally.js'

const ACCOUNTS = 20
/** Published and not delivered yet while the most is sought. */
const WINDOW = 256
/** `monitorEventLoopDelay` counts its own period along. */
const LOOK_EVERY_MS = 1

let accounts
let accept
let end = () => {}
let published = 0
const delivered = createTally()

/** Microseconds until one event was accepted. */
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

/** Publishes when it is time to, whether those before are accepted by then or not. */
function publishInTime({ count, perSecond }) {
  const micros = []
  let begun = 0
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const accepted = (each) => {
      micros.push(each)
      if (micros.length === count) resolve(micros)
    }
    const tick = () => {
      const due = Math.min(count, Math.floor(((performance.now() - started) * perSecond) / 1000))
      for (; begun < due; begun += 1) publishOne().then(accepted, reject)
      if (begun < count) setTimeout(tick, 1)
    }
    tick()
  })
}

/** A steady load until it is delivered, and how far behind it fell. */
async function steadyAtOnce(load) {
  const before = delivered.count
  const started = performance.now()
  const micros = await publishInTime(load)
  await delivered.reaches(before + load.count)
  const shouldMs = (load.count * 1000) / load.perSecond
  return { micros, behindMs: performance.now() - started - shouldMs, shouldMs }
}

answerParent(
  {
    /**
     * @param {{ place?: import('../places.js').Place, port?: number, accounts?: number, webhooks: number, forms?: boolean }} input
     *   without a place events are made, written as JSON and forgotten; without a port nothing is answered; `forms`: the
     *   webhooks get three different bodies
     */
    async prepare({ place, port, webhooks, forms = false, accounts: wanted = ACCOUNTS }) {
      accounts = wanted
      if (place === undefined) {
        accept = async (event) => {
          JSON.stringify(event)
          delivered.add()
        }
        return
      }
      const hs = await startInstance(place, {
        maxPending: 10_000_000,
        ...(port === undefined ? { sender: deadSender() } : {}),
      })
      const shapes = forms ? [{}, { format: 'form-data' }, { customData: { tenant: 'a' } }] : [{}]
      await makeAccounts(hs, {
        accounts,
        perAccount: webhooks,
        atOnce: atOnceOn(place),
        settings: (_, index) => ({
          uri: `http://127.0.0.1:${port ?? 9}/hooks/${index}`,
          hook: 'channel_answer',
          ...shapes[index % shapes.length],
        }),
      })
      accept = hs.publish
      end = () => hs.close({ drainMs: 0 })
      hs.events.on('delivered', delivered.add)
    },
    /** Publishes that have the process, and the store, to themselves. */
    async calm({ count }) {
      const micros = []
      for (let index = 0; index < count; index += 1) {
        const before = delivered.count
        micros.push(await publishOne())
        await delivered.reaches(before + 1)
        await sleep(1)
      }
      return micros
    },
    /** Publishes at a steady rate, one after the other, whatever else the process does: what is late is caught up. */
    async steadyInTurn({ count, perSecond }) {
      const micros = []
      const started = performance.now()
      while (micros.length < count) {
        const due = Math.min(count, Math.floor(((performance.now() - started) * perSecond) / 1000))
        micros.push(...(await publishMany(due - micros.length)))
        await sleep(1)
      }
      return micros
    },
    steady: steadyAtOnce,
    /** The same, and how long the event loop was held up. */
    async stalls(load) {
      const delays = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS })
      delays.enable()
      const { behindMs, shouldMs } = await steadyAtOnce(load)
      delays.disable()
      const beyond = (nanos) => nanos / 1e6 - LOOK_EVERY_MS
      return { behindMs, shouldMs, longestMs: beyond(delays.max), p99Ms: beyond(delays.percentile(99)) }
    },
    many: ({ count }) => publishMany(count),
    /** As quickly as it is delivered. */
    async warmUp({ count }) {
      const before = delivered.count
      const turns = Array.from({ length: count }, () => publishOne)
      await workThrough(turns, (publish) => publish(), WINDOW)
      await delivered.reaches(before + count)
    },
    /** Publishes without measuring, until so many wait. */
    async fill({ count }) {
      for (let index = 0; index < count; index += 1) await publishOne()
      return { rssMb: process.memoryUsage.rss() / 1e6 }
    },
    memory: () => ({ rssMb: process.memoryUsage.rss() / 1e6 }),
    /** One event of the only account, in milliseconds; `text`: part of it. */
    async one({ text } = {}) {
      const event = eventAt(published++, 1)
      if (text !== undefined) event.customChannelVars.text = text
      const started = performance.now()
      await accept(event)
      return performance.now() - started
    },
  },
  () => end(),
)

/** A host with many endpoints and default limits that publishes at a steady rate. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { handleRequests, measureTime, sharedMicros, sleep } from '../processes.js'
import { addTimestamp, eventAt } from './events.js'

/** Pending deliveries while the highest rate is measured. */
const WINDOW = 200
/** Longest wait for the last deliveries. */
const DRAIN_MS = 5_000

let hs
let published = 0
let delivered = 0
let attempts = 0
let failed = 0

function publishTo(accounts) {
  const event = eventAt(published++, accounts.length)
  event.accountId = accounts[published % accounts.length]
  const publishedMicros = sharedMicros()
  return { publishedMicros, accepted: hs.publish(addTimestamp(event, publishedMicros)) }
}

/** Publishes until a time; returns the number of events published from `from` on, and the greatest delay among them. */
async function publishSteadily({ accounts, perSecond }, from, until) {
  const started = sharedMicros()
  let sent = 0
  let counted = 0
  let maxDelayMs = 0
  for (let now = started; now < until; now = sharedMicros()) {
    const due = Math.floor(((now - started) / 1e6) * perSecond)
    maxDelayMs = now < from ? 0 : Math.max(maxDelayMs, ((due - sent - 1) * 1000) / perSecond)
    for (; sent < due; sent += 1) {
      const { publishedMicros, accepted } = publishTo(accounts)
      if (publishedMicros >= from && publishedMicros < until) counted += 1
      await accepted
    }
    await sleep(1)
  }
  return { events: counted, maxDelayMs }
}

handleRequests({
  /** @param {{ webhooks: readonly { accountId: string, uri: string }[] }} input the accounts are created too */
  async prepare({ webhooks }) {
    hs = createHookswitch({ store: memoryStore(), allowLocal: true })
    await hs.start()
    const accounts = new Set()
    for (const { accountId, uri } of webhooks) {
      if (!accounts.has(accountId)) {
        await hs.accounts.create({ id: accountId, name: accountId, realm: `${accountId}.example.com` })
        accounts.add(accountId)
      }
      await hs.webhooks.create(accountId, { name: 'bench', uri, hook: 'channel_answer' })
    }
    hs.events.on('delivered', () => {
      delivered += 1
    })
    hs.events.on('attempt', ({ result }) => {
      attempts += 1
      if (result !== 'success') failed += 1
    })
  },
  /** The highest number of deliveries a second: publishes as fast as it delivers. */
  async maxRate({ accounts, fanOut, ms }) {
    const before = delivered
    let events = 0
    const { ms: elapsedMs } = await measureTime(async () => {
      const end = performance.now() + ms
      while (performance.now() < end) {
        while (events * fanOut - (delivered - before) < WINDOW) {
          events += 1
          await publishTo(accounts).accepted
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
      const limit = performance.now() + DRAIN_MS
      while (delivered - before < events * fanOut && performance.now() < limit) await sleep(1)
    })
    return { perSecond: ((delivered - before) * 1000) / elapsedMs }
  },
  /**
   * Runs several steady loads concurrently; events published before the end of the ramp are not counted.
   *
   * @param {{ loads: readonly { accounts: readonly string[], perSecond: number }[], rampMs: number, ms: number }} input
   */
  async steady({ loads, rampMs, ms }) {
    const from = sharedMicros() + rampMs * 1000
    const to = from + ms * 1000
    const before = { attempts: 0, failed: 0 }
    const ramp = setTimeout(() => Object.assign(before, { attempts, failed }), rampMs)
    const results = []
    const { cpuMs } = await measureTime(async () => {
      results.push(...(await Promise.all(loads.map((load) => publishSteadily(load, from, to)))))
    })
    clearTimeout(ramp)
    return {
      from,
      to,
      events: results.map(({ events }) => events),
      maxDelayMs: Math.max(...results.map(({ maxDelayMs }) => maxDelayMs)),
      attempts: attempts - before.attempts,
      failed: failed - before.failed,
      cpu: cpuMs / (rampMs + ms),
    }
  },
})

/** A host with many endpoints that publishes at a steady rate, with the default caps. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { answerParent, sharedMicros, sleep, timed } from '../processes.js'
import { eventAt, stamped } from './events.js'

/** Deliveries under way while the most is sought. */
const WINDOW = 200
/** Longest wait for the last of them. */
const DRAIN_MS = 5_000

let hs
let published = 0
let delivered = 0
let attempts = 0
let failed = 0

function publishTo(accounts) {
  const event = eventAt(published++, accounts.length)
  event.accountId = accounts[published % accounts.length]
  const stamp = sharedMicros()
  return { stamp, accepted: hs.publish(stamped(event, stamp)) }
}

/** Publishes until its time is over; how many events, and how late the latest of them was. */
async function publishSteadily({ accounts, perSecond }, from, until) {
  const started = sharedMicros()
  let sent = 0
  let counted = 0
  let latestMs = 0
  for (let now = started; now < until; now = sharedMicros()) {
    const due = Math.floor(((now - started) / 1e6) * perSecond)
    latestMs = now < from ? 0 : Math.max(latestMs, ((due - sent - 1) * 1000) / perSecond)
    for (; sent < due; sent += 1) {
      const { stamp, accepted } = publishTo(accounts)
      if (stamp >= from && stamp < until) counted += 1
      await accepted
    }
    await sleep(1)
  }
  return { events: counted, latestMs }
}

answerParent({
  /** @param {{ webhooks: readonly { accountId: string, uri: string }[] }} input accounts are made as they are named */
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
  /** The most deliveries a second: published as fast as they are delivered. */
  async most({ accounts, fanOut, ms }) {
    const before = delivered
    let events = 0
    const { ms: took } = await timed(async () => {
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
    return { perSecond: ((delivered - before) * 1000) / took }
  },
  /**
   * Steady loads beside each other.
   *
   * @param {{ loads: readonly { accounts: readonly string[], perSecond: number }[], rampMs: number, ms: number }} input
   */
  async steady({ loads, rampMs, ms }) {
    const from = sharedMicros() + rampMs * 1000
    const to = from + ms * 1000
    const before = { attempts: 0, failed: 0 }
    const ramp = setTimeout(() => Object.assign(before, { attempts, failed }), rampMs)
    const results = []
    const { cpuMs } = await timed(async () => {
      results.push(...(await Promise.all(loads.map((load) => publishSteadily(load, from, to)))))
    })
    clearTimeout(ramp)
    return {
      from,
      to,
      events: results.map(({ events }) => events),
      latestMs: Math.max(...results.map(({ latestMs }) => latestMs)),
      attempts: attempts - before.attempts,
      failed: failed - before.failed,
      cpu: cpuMs / (rampMs + ms),
    }
  },
})

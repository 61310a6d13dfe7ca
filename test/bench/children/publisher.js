/** How long `publish` takes its caller, in a process that sends to nobody or to a quick receiver. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { answerParent, sleep } from '../processes.js'
import { accountName, eventAt } from './events.js'

const ACCOUNTS = 20

let hs
let published = 0

/** A receiver that never answers: what is in flight stays so, what is behind it stays pending. */
function deadSender() {
  const cuts = new Set()
  return {
    send: () => new Promise((resolve) => cuts.add(resolve)),
    async close() {
      for (const cut of cuts) cut({ kind: 'own_fault', detail: 'closed' })
    },
  }
}

/** Microseconds until one event was accepted. */
async function publishOne() {
  const event = eventAt(published++, ACCOUNTS)
  const started = performance.now()
  await hs.publish(event)
  return (performance.now() - started) * 1000
}

async function publishMany(count) {
  const micros = []
  for (let index = 0; index < count; index += 1) micros.push(await publishOne())
  return micros
}

answerParent({
  /** @param {{ port?: number, accounts?: number, webhooks: number }} input without a port nothing is answered */
  async prepare({ port, accounts = ACCOUNTS, webhooks }) {
    hs = createHookswitch({
      store: memoryStore(),
      allowLocal: true,
      maxPending: 10_000_000,
      ...(port === undefined ? { sender: deadSender() } : {}),
    })
    await hs.start()
    for (let account = 0; account < accounts; account += 1) {
      const id = accountName(account)
      await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
      for (let index = 0; index < webhooks; index += 1) {
        const uri = `http://127.0.0.1:${port ?? 9}/hooks/${index}`
        await hs.webhooks.create(id, { name: `bench ${index}`, uri, hook: 'channel_answer' })
      }
    }
  },
  /** Publishes that have the process to themselves. */
  async calm({ count, everyMs }) {
    const micros = []
    for (let index = 0; index < count; index += 1) {
      micros.push(await publishOne())
      await sleep(everyMs)
    }
    return micros
  },
  /** Publishes at a steady rate, whatever else the process does: what is late is caught up. */
  async steady({ count, perSecond }) {
    const micros = []
    const started = performance.now()
    while (micros.length < count) {
      const due = Math.min(count, Math.floor(((performance.now() - started) * perSecond) / 1000))
      micros.push(...(await publishMany(due - micros.length)))
      await sleep(1)
    }
    return micros
  },
  many: ({ count }) => publishMany(count),
  /** Publishes without measuring, until so many wait. */
  async fill({ count }) {
    for (let index = 0; index < count; index += 1) await hs.publish(eventAt(published++, ACCOUNTS))
    return { rssMb: process.memoryUsage.rss() / 1e6 }
  },
  /** One event of the only account, in milliseconds. */
  async one() {
    const started = performance.now()
    await hs.publish(eventAt(published++, 1))
    return performance.now() - started
  },
})

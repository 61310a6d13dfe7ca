/** What an instance costs that has webhooks and nothing to do. Needs `--expose-gc`. */
import { createHook } from 'node:async_hooks'
import { createHookswitch, memoryStore } from 'hookswitch'
import { answerParent, sleep } from '../processes.js'
import { accountName } from './events.js'

const ACCOUNTS = 100

/** Timers that are set, and how often one rang. */
const timers = new Set()
let rings = 0
createHook({
  init(id, type) {
    if (type === 'Timeout') timers.add(id)
  },
  before(id) {
    if (timers.has(id)) rings += 1
  },
  destroy: (id) => timers.delete(id),
}).enable()

async function memory() {
  for (let turn = 0; turn < 3; turn += 1) {
    globalThis.gc()
    await sleep(50)
  }
  return { rssMb: process.memoryUsage.rss() / 1e6, heapMb: process.memoryUsage().heapUsed / 1e6 }
}

answerParent({
  async measure({ webhooks, watchMs }) {
    const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
    await hs.start()
    for (let index = 0; index < ACCOUNTS; index += 1) {
      const id = accountName(index)
      await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
    }
    const empty = await memory()
    for (let index = 0; index < webhooks; index += 1) {
      const account = accountName(index % ACCOUNTS)
      const uri = `https://hooks.example.com/${index}`
      await hs.webhooks.create(account, { name: `bench ${index}`, uri, hook: 'all' })
    }
    const full = await memory()
    const before = rings
    await sleep(watchMs)
    // This very sleep rang once, and its timer may not have been collected yet.
    const rang = rings - before - 1
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
    return {
      timers: timers.size,
      ringsPerMinute: (rang * 60_000) / watchMs,
      rssMb: full.rssMb - empty.rssMb,
      heapMb: full.heapMb - empty.heapMb,
    }
  },
})

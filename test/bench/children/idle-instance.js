/** Timers and memory of an idle instance with webhooks. Needs `--expose-gc`. */
import { createHook } from 'node:async_hooks'
import { createHookswitch, memoryStore } from 'hookswitch'
import { handleRequests, sleep } from '../processes.js'
import { accountName } from './events.js'

const ACCOUNTS = 100

/** Ids of active timers, and how often one fired. */
const timers = new Set()
let fired = 0
createHook({
  init(id, type) {
    if (type === 'Timeout') timers.add(id)
  },
  before(id) {
    if (timers.has(id)) fired += 1
  },
  destroy: (id) => timers.delete(id),
}).enable()

async function memory() {
  for (let collection = 0; collection < 3; collection += 1) {
    globalThis.gc()
    await sleep(50)
  }
  return { rssMb: process.memoryUsage.rss() / 1e6, heapMb: process.memoryUsage().heapUsed / 1e6 }
}

handleRequests({
  async measure({ webhooks, observeMs }) {
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
    const before = fired
    await sleep(observeMs)
    // The timer of this sleep fired once, and may not be collected yet.
    const count = fired - before - 1
    globalThis.gc()
    await new Promise((resolve) => setImmediate(resolve))
    return {
      timers: timers.size,
      firedPerMinute: (count * 60_000) / observeMs,
      rssMb: full.rssMb - empty.rssMb,
      heapMb: full.heapMb - empty.heapMb,
    }
  },
})

// @ts-check
/**
 * A node of the replay drill: loses events, or replays what was lost and reports its progress on file descriptor 3.
 * Arguments: store, path or URL, port of the receiver, `lose` or `replay`, webhooks, events.
 */
import { writeSync } from 'node:fs'
import { createHookswitch } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'

const [kind, place = '', port, mode, webhooks, events] = process.argv.slice(2)
/** Events that are published at once. */
const BATCH = 500

/** @param {object} line */
const report = (line) => void writeSync(3, `${JSON.stringify(line)}\n`)
const store = kind === 'sqlite' ? sqliteStore({ path: place }) : postgresStore({ connectionString: place })
let countPending = async () => 0
const hs = createHookswitch({
  store,
  allowLocal: true,
  secret: 'a secret of at least sixteen characters',
  defaultRetries: 0,
  autoDisable: false,
  pauses: mode !== 'lose',
  inFlightPerOrigin: 500,
  metrics: {
    count() {},
    observe() {},
    watch(read) {
      countPending = async () =>
        (await read()).find(({ name }) => name === 'hookswitch_deliveries_pending')?.value ?? 0
    },
  },
})
/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
async function untilIdle() {
  while ((await countPending()) > 0) await sleep(50)
}

await hs.start()
if (mode === 'lose') await lose(Number(webhooks), Number(events))
else await replay()
await hs.close()

/** Creates one account for each webhook, and publishes to the accounts in turns. @param {number} count @param {number} total */
async function lose(count, total) {
  for (let index = 0; index < count; index++) {
    const id = `a${index}`
    await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
    await hs.webhooks.create(id, { name: id, uri: `http://127.0.0.1:${port}/${id}`, hook: 'all' })
  }
  for (let from = 0; from < total; from += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, total - from) }, (_, index) => from + index)
    await Promise.all(indexes.map((index) => publish(index % count, index)))
  }
  await untilIdle()
  report({ lost: (await hs.replays.count({})).count })
}

/** Three events of a call in a row. @param {number} account @param {number} index */
async function publish(account, index) {
  const callId = `call-${Math.floor(index / (3 * Number(webhooks)))}`
  await hs.publish({ hook: 'channel_create', accountId: `a${account}`, callId })
}

async function replay() {
  const began = performance.now()
  const [first] = await hs.replays.list()
  const { id, count } = first ?? (await hs.replays.start({}))
  report({ id, count, startMs: performance.now() - began })
  for (;;) {
    const { state, replayed } = await hs.replays.read(id)
    report({ state, replayed })
    if (state === 'completed') break
    await sleep(100)
  }
  await untilIdle()
  report({ left: (await hs.replays.count({})).count })
}

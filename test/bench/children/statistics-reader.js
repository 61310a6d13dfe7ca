/** An instance with 1,000 webhooks that have attempts, and counts of 30 days, and whose statistics are read. */
import { handleRequests } from '../processes.js'
import { createStore, forEachConcurrently, startWithStore } from './instance.js'
import { writePast } from './past-statistics.js'

const WEBHOOKS = 1_000
const ACCOUNT = 'bench'
const HOUR_MS = 3_600_000
const DAYS = 30

let hs
let webhookIds = []

const sender = {
  send: async () => ({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' }),
  async close() {},
}

/** Sends every event to every webhook. */
async function writeAttempts(attempts) {
  const events = Math.ceil(attempts / WEBHOOKS)
  let left = events * WEBHOOKS
  const delivered = new Promise((resolve) => {
    hs.events.on('delivered', () => {
      left -= 1
      if (left === 0) resolve()
    })
  })
  await forEachConcurrently(
    Array.from({ length: events }, (_, index) => index),
    (index) => hs.publish({ hook: 'channel_create', accountId: ACCOUNT, callId: `call-${index}` }),
    4,
  )
  await delivered
}

const QUERIES = {
  '24 h of a webhook': () => hs.webhooks.stats(ACCOUNT, webhookIds[7]),
  '30 days of a webhook': () =>
    hs.webhooks.stats(ACCOUNT, webhookIds[7], { fromMs: Date.now() - DAYS * 24 * HOUR_MS }),
  '3 hours of a webhook by minute': () =>
    hs.webhooks.stats(ACCOUNT, webhookIds[7], { step: 60, fromMs: Date.now() - 3 * HOUR_MS }),
  '30 days of an account': () =>
    hs.webhooks.stats(ACCOUNT, undefined, { fromMs: Date.now() - DAYS * 24 * HOUR_MS }),
  '50 endpoints': () => hs.webhooks.health(ACCOUNT, { limit: 50 }),
  '200 endpoints': () => hs.webhooks.health(ACCOUNT, { limit: 200 }),
}

handleRequests(
  {
    /** @param {{ location: object, attempts: number }} input */
    async fill({ location, attempts }) {
      const store = await createStore(location)
      hs = await startWithStore(store, { sender })
      await hs.accounts.create({ id: ACCOUNT, name: ACCOUNT, realm: 'bench.example.com' })
      for (let index = 0; index < WEBHOOKS; index += 1) {
        const { id } = await hs.webhooks.create(ACCOUNT, {
          name: `webhook ${index}`,
          uri: `https://hook-${index}.example.com/`,
          hook: 'channel_create',
        })
        webhookIds = [...webhookIds, id]
      }
      await writeAttempts(attempts)
      await writePast(
        store,
        [
          ...webhookIds.map((webhookId) => ({
            accountId: ACCOUNT,
            webhookId,
            attempts: attempts / WEBHOOKS,
          })),
          { accountId: ACCOUNT, webhookId: '', attempts },
        ],
        { hours: DAYS * 24, minutes: 179 },
      )
    },
    queries: () => ({ queries: Object.keys(QUERIES) }),
    /** @param {{ query: keyof typeof QUERIES }} input */
    async run({ query }) {
      const started = performance.now()
      await QUERIES[query]()
      return { ms: performance.now() - started }
    },
  },
  () => hs?.close({ drainMs: 0 }),
)

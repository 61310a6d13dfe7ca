// @ts-check
/**
 * The service under load, in its own process so that only its memory is measured: publishes as fast as the healthy webhooks
 * receive, beside webhooks that refuse connections, fail or never respond.
 */
import { constant, createHookswitch, memoryStore } from 'hookswitch'

/** Upper bound of pending deliveries to healthy webhooks. */
const MAX_PENDING = 400
const HEALTHY = 4
/** Upper bound of pending deliveries to dead webhooks. */
const MAX_DYING = 2_000
/** Number of calls: a store keeps the state of each call as long as its attempts, 30 days. */
const CALLS = 2_000
/** Tokens live for a day, so sign-ins are rare. */
const SIGN_IN_EVERY = 500
const READING_MS = 1_000
/** What `--leak` keeps per event: a soak run that does not detect this growth would not detect any. */
const LEAK_BYTES = 2_000

const { store: kind, path, connectionString, schema, dead, ports, leak } = JSON.parse(String(process.argv[2]))

async function openStore() {
  // A small limit, so that the store reaches its bound within the warm-up.
  if (kind === 'memory') return memoryStore({ attemptsPerWebhook: 100 })
  if (kind === 'postgres') {
    const { postgresStore } = await import('hookswitch/postgres')
    return postgresStore({ connectionString, schema })
  }
  const { sqliteStore } = await import('hookswitch/sqlite')
  return sqliteStore({ path })
}

const hs = createHookswitch({
  // Required by stores that several nodes share.
  ...(kind === 'postgres' && { secret: 'the secret of the soak, long enough to be one' }),
  store: await openStore(),
  allowLocal: true,
  attemptsPerWebhook: 100,
  attemptTimeoutMs: 2_000,
  retryPolicy: constant(500),
  autoDisable: false,
})
await hs.start()
const { id: healthy } = await hs.accounts.create({ name: 'Soak', realm: 'soak.example.com' })
const { id: other } = await hs.accounts.create({ name: 'Dead', realm: 'dead.example.com' })
for (let n = 0; n < HEALTHY; n += 1)
  await hs.webhooks.create(healthy, {
    name: `h${n}`,
    uri: `http://127.0.0.1:${ports.healthy}/${n}`,
    hook: 'all',
  })
const kinds = ['silent', 'failing', 'closed']
for (let n = 0; n < dead; n += 1) {
  const uri = `http://127.0.0.1:${ports[kinds[n % kinds.length] ?? '']}/${n}`
  await hs.webhooks.create(other, { name: `d${n}`, uri, hook: 'all', retries: 1 })
}
const apiKey = await hs.accounts.readApiKey(healthy)

let published = 0
let delivered = 0
let dying = 0
let isStopped = false
let resume = () => {}
hs.events.on('delivered', () => {
  delivered += 1
  resume()
})
hs.events.on('exhausted', () => {
  dying -= 1
})
process.on('message', () => {
  isStopped = true
  resume()
})

const began = performance.now()
const reader = setInterval(() => {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const seconds = (performance.now() - began) / 1000
  process.send?.({ seconds, rss, live: heapUsed + external, published, delivered, dying })
}, READING_MS)

/** @param {string} accountId @param {number} n */
const publish = (accountId, n) =>
  hs.publish({
    hook: 'channel_create',
    accountId,
    callId: `call-${n % CALLS}`,
    from: 'a@b',
    callerIdNumber: '+4930123456',
  })

/** @type {Buffer[]} */
const leaked = []
for (let n = 0; !isStopped; n += 1) {
  await publish(healthy, n)
  published += 1
  if (leak) leaked.push(Buffer.alloc(LEAK_BYTES, n))
  if (n % 10 === 0 && dying < MAX_DYING) {
    dying += dead
    await publish(other, n)
  }
  if (n % SIGN_IN_EVERY === 0) await hs.auth.authenticate((await hs.auth.signIn({ apiKey })).token)
  while (!isStopped && published * HEALTHY - delivered > MAX_PENDING)
    await new Promise((resolve) => {
      resume = () => resolve(undefined)
    })
}

clearInterval(reader)
await hs.close({ drainMs: 1_000 })
process.disconnect()

// @ts-check
/**
 * The service under load, in a process of its own so that its memory is read alone: publishes as fast as the healthy
 * webhooks take it, beside webhooks that refuse, fail, say nothing or are not there.
 */
import { constant, createHookswitch, memoryStore } from 'hookswitch'

/** Deliveries to healthy webhooks that may be under way. */
const UNDERWAY = 400
const HEALTHY = 4
/** Of events for the dead ones: so many may wait for their end. */
const DEAD_WAITING = 2_000
/** A store keeps where each call stands for as long as it keeps attempts, 30 days; tokens live a day. */
const CALLS = 2_000
const SIGN_IN_EVERY = 500
const READ_MS = 1_000
/** What `--leak` keeps of each event: a soak that sees no slope in that sees none in anything. */
const LEAK_BYTES = 2_000

const { store: kind, path, connectionString, schema, dead, ports, leak } = JSON.parse(String(process.argv[2]))

async function openStore() {
  // What it keeps is to reach its bound within the warm-up.
  if (kind === 'memory') return memoryStore({ attemptsPerWebhook: 100 })
  if (kind === 'postgres') {
    const { postgresStore } = await import('hookswitch/postgres')
    return postgresStore({ connectionString, schema })
  }
  const { sqliteStore } = await import('hookswitch/sqlite')
  return sqliteStore({ path })
}

const hs = createHookswitch({
  // No store of nodes that share it starts without one.
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
const kinds = ['silent', 'failing', 'gone']
for (let n = 0; n < dead; n += 1) {
  const uri = `http://127.0.0.1:${ports[kinds[n % kinds.length] ?? '']}/${n}`
  await hs.webhooks.create(other, { name: `d${n}`, uri, hook: 'all', retries: 1 })
}
const apiKey = await hs.accounts.readApiKey(healthy)

let published = 0
let delivered = 0
let dying = 0
let isOver = false
let wake = () => {}
hs.events.on('delivered', () => {
  delivered += 1
  wake()
})
hs.events.on('exhausted', () => {
  dying -= 1
})
process.on('message', () => {
  isOver = true
  wake()
})

const began = performance.now()
const reader = setInterval(() => {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  const seconds = (performance.now() - began) / 1000
  process.send?.({ seconds, rss, live: heapUsed + external, published, delivered, dying })
}, READ_MS)

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
const kept = []
for (let n = 0; !isOver; n += 1) {
  await publish(healthy, n)
  published += 1
  if (leak) kept.push(Buffer.alloc(LEAK_BYTES, n))
  if (n % 10 === 0 && dying < DEAD_WAITING) {
    dying += dead
    await publish(other, n)
  }
  if (n % SIGN_IN_EVERY === 0) await hs.auth.authenticate((await hs.auth.signIn({ apiKey })).token)
  while (!isOver && published * HEALTHY - delivered > UNDERWAY)
    await new Promise((resolve) => {
      wake = () => resolve(undefined)
    })
}

clearInterval(reader)
await hs.close({ drainMs: 1_000 })
process.disconnect()

/** CPU time of a delivery in an instance with many webhooks, stored attempts or dead endpoints. */
import { handleRequests, measureTime } from '../processes.js'
import { createCounter } from './counter.js'
import { accountName, eventAt } from './events.js'
import { createAccounts, forEachConcurrently, setUpConcurrency, startInstance } from './instance.js'
import { withProgressTimeout } from './progress-timeout.js'

const IN_FLIGHT = 64
const PER_ACCOUNT = 10
/** More events for each endpoint than failures that pause it. */
const EVENTS_PER_ENDPOINT = 12
/** Failures in a row that pause an endpoint. */
const FAILURES_TO_PAUSE = 3

let hs
let accounts
let deadAccounts
let concurrency
let published = 0
let delivered = 0
const attempts = createCounter()
let onDelivered = () => {}

const uriOf = (account, index, { port, deadPort }) =>
  account < deadAccounts
    ? `http://dead-${account}.localhost:${deadPort}/hooks/${account}/${index}`
    : `http://127.0.0.1:${port}/hooks/${account}/${index}`

/** Publishes an event to the next account. A large stride spreads successive accounts over the store. */
function publish(toAll) {
  const stride = 7_919
  const event = eventAt(published, accounts)
  const first = toAll ? 0 : deadAccounts
  event.accountId = accountName(first + ((published * stride) % (accounts - first)))
  published += 1
  return hs.publish(event)
}

/**
 * Creates accounts of ten webhooks, one of which is subscribed to the load's events. In the first `dead` accounts that
 * webhook is dead. Can be called again for another store, in a process that is warmed up.
 *
 * @param {{ location: import('../stores.js').StoreLocation, port: number, deadPort?: number, webhooks: number,
 *   dead?: number }} input
 */
async function prepare({ location, webhooks, dead = 0, ...ports }) {
  await hs?.close({ drainMs: 0 })
  deadAccounts = dead
  accounts = webhooks / PER_ACCOUNT
  concurrency = setUpConcurrency(location)
  hs = await startInstance(location, {
    inFlight: IN_FLIGHT,
    inFlightPerAccount: IN_FLIGHT,
    inFlightPerEndpoint: IN_FLIGHT,
  })
  await createAccounts(hs, {
    accounts,
    perAccount: PER_ACCOUNT,
    concurrency,
    settings: (account, index) => ({
      uri: uriOf(account, index, ports),
      hook: index === 0 ? 'channel_answer' : 'channel_destroy',
    }),
  })
  hs.events.on('delivered', () => {
    delivered += 1
    onDelivered()
  })
  hs.events.on('attempt', attempts.increment)
}

/**
 * Publishes as fast as the live endpoints are delivered to.
 *
 * @param {{ count: number, toAll?: boolean }} input `count`: successful deliveries; `toAll`: publishes to dead
 *   endpoints too
 */
function deliver({ count, toAll = false }) {
  const goal = delivered + count
  const eventsFor = (deliveries) =>
    toAll ? Math.ceil((deliveries * accounts) / (accounts - deadAccounts)) : deliveries
  const last = published + eventsFor(count)
  return withProgressTimeout(
    () => delivered,
    (resolve, reject) => {
      const next = () => {
        const remaining = eventsFor(Math.max(0, goal - delivered))
        while (published < last && published < last - remaining + eventsFor(2 * IN_FLIGHT)) {
          publish(toAll).catch(reject)
        }
        if (delivered >= goal) resolve()
      }
      onDelivered = next
      next()
    },
  )
}

handleRequests(
  {
    prepare,
    /** Publishes to all accounts until every dead endpoint is paused. */
    async pauseDead() {
      const failed = FAILURES_TO_PAUSE * deadAccounts
      const succeeded = (accounts - deadAccounts) * EVENTS_PER_ENDPOINT
      const before = attempts.count
      const events = Array.from({ length: accounts * EVENTS_PER_ENDPOINT })
      await forEachConcurrently(events, () => publish(true), concurrency)
      await attempts.waitFor(before + failed + succeeded)
      onDelivered = () => {}
    },
    run: (input) => measureTime(() => deliver(input)),
    memory: () => ({ rssMb: process.memoryUsage.rss() / 1e6 }),
  },
  () => hs?.close({ drainMs: 0 }),
)

/** What a delivery costs in an instance that keeps much already: webhooks, attempts, endpoints that are dead. */
import { answerParent, timed } from '../processes.js'
import { accountName, eventAt } from './events.js'
import { atOnceOn, makeAccounts, startInstance, workThrough } from './instance.js'
import { createTally } from './tally.js'
import { watched } from './watched.js'

const IN_FLIGHT = 64
const PER_ACCOUNT = 10
/** More failures than open a breaker. */
const FAILURES = 12

let hs
let accounts
let dead
let atOnce
let published = 0
let delivered = 0
const attempts = createTally()
let onDelivered = () => {}

const uriOf = (account, index, { port, deadPort }) =>
  account < dead
    ? `http://dead-${account}.localhost:${deadPort}/hooks/${account}/${index}`
    : `http://127.0.0.1:${port}/hooks/${account}/${index}`

/** To one account after the other, far from each other in the order in which they were made. */
function publish(toAll) {
  const stride = 7_919
  const event = eventAt(published, accounts)
  const first = toAll ? 0 : dead
  event.accountId = accountName(first + ((published * stride) % (accounts - first)))
  published += 1
  return hs.publish(event)
}

/**
 * Accounts of ten webhooks, of which one wants the events of this load; of the first accounts it is a dead one.
 *
 * @param {{ place: import('../places.js').Place, port: number, deadPort?: number, webhooks: number, deadAccounts?: number }} input
 */
async function prepare({ place, webhooks, deadAccounts = 0, ...ports }) {
  await hs?.close({ drainMs: 0 })
  dead = deadAccounts
  accounts = webhooks / PER_ACCOUNT
  atOnce = atOnceOn(place)
  hs = await startInstance(place, {
    inFlight: IN_FLIGHT,
    inFlightPerAccount: IN_FLIGHT,
    inFlightPerEndpoint: IN_FLIGHT,
  })
  await makeAccounts(hs, {
    accounts,
    perAccount: PER_ACCOUNT,
    atOnce,
    settings: (account, index) => ({
      uri: uriOf(account, index, ports),
      hook: index === 0 ? 'channel_answer' : 'channel_destroy',
    }),
  })
  hs.events.on('delivered', () => {
    delivered += 1
    onDelivered()
  })
  hs.events.on('attempt', attempts.add)
}

/**
 * Publishes as fast as the living ones get theirs.
 *
 * @param {{ count: number, toAll?: boolean }} input deliveries that are to succeed; `toAll`: beside those to dead ones
 */
function deliver({ count, toAll = false }) {
  const goal = delivered + count
  const eventsFor = (deliveries) =>
    toAll ? Math.ceil((deliveries * accounts) / (accounts - dead)) : deliveries
  const last = published + eventsFor(count)
  return watched(
    () => delivered,
    (resolve, reject) => {
      const next = () => {
        const toGo = eventsFor(Math.max(0, goal - delivered))
        while (published < last && published < last - toGo + eventsFor(2 * IN_FLIGHT)) {
          publish(toAll).catch(reject)
        }
        if (delivered >= goal) resolve()
      }
      onDelivered = next
      next()
    },
  )
}

answerParent(
  {
    /** Anew, on another place, in a process that is warm. */
    prepare,
    /** Lets every dead endpoint fail until it is left alone. */
    async exhaust() {
      const failed = Math.min(FAILURES, 10) * dead
      const living = (accounts - dead) * FAILURES
      const before = attempts.count
      const turns = Array.from({ length: accounts * FAILURES })
      await workThrough(turns, () => publish(true), atOnce)
      await attempts.reaches(before + failed + living)
      onDelivered = () => {}
    },
    run: (input) => timed(() => deliver(input)),
    memory: () => ({ rssMb: process.memoryUsage.rss() / 1e6 }),
  },
  () => hs?.close({ drainMs: 0 }),
)

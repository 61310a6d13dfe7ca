/** What a delivery costs in an instance that keeps much already: webhooks, attempts, endpoints that are dead. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { answerParent, sleep, timed } from '../processes.js'
import { accountName, eventAt } from './events.js'

const IN_FLIGHT = 64
const PER_ACCOUNT = 10
/** More failures than open a breaker. */
const FAILURES = 12

let hs
let accounts
let dead
let published = 0
let delivered = 0
let attempts = 0
let onDelivered = () => {}

const uriOf = (account, index, { port, deadPort }) =>
  account < dead
    ? `http://dead-${account}.localhost:${deadPort}/hooks/${account}/${index}`
    : `http://127.0.0.1:${port}/hooks/${account}/${index}`

const reaches = async (seen) => {
  while (!seen()) await sleep(10)
}

/** One account after the other, far from each other in the order in which they were made. */
function publish() {
  const stride = 7_919
  const event = eventAt(published, accounts)
  event.accountId = accountName((published * stride) % accounts)
  published += 1
  return hs.publish(event)
}

answerParent({
  /**
   * Accounts of ten webhooks, of which one wants the events of this load; of the first accounts it is a dead one.
   *
   * @param {{ port: number, deadPort?: number, webhooks: number, deadAccounts?: number }} input
   */
  async prepare({ port, deadPort, webhooks, deadAccounts = 0 }) {
    dead = deadAccounts
    accounts = webhooks / PER_ACCOUNT
    hs = createHookswitch({
      store: memoryStore({ attemptsInAll: webhooks }),
      allowLocal: true,
      inFlight: IN_FLIGHT,
      inFlightPerAccount: IN_FLIGHT,
      inFlightPerEndpoint: IN_FLIGHT,
    })
    await hs.start()
    for (let account = 0; account < accounts; account += 1) {
      const id = accountName(account)
      await hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
      for (let index = 0; index < PER_ACCOUNT; index += 1) {
        const hook = index === 0 ? 'channel_answer' : 'channel_destroy'
        const uri = uriOf(account, index, { port, deadPort })
        await hs.webhooks.create(id, { name: `bench ${index}`, uri, hook })
      }
    }
    hs.events.on('delivered', () => {
      delivered += 1
      onDelivered()
    })
    hs.events.on('attempt', () => {
      attempts += 1
    })
    return { rssMb: process.memoryUsage.rss() / 1e6 }
  },
  /** Lets every dead endpoint fail until it is left alone. */
  async exhaust() {
    const failed = Math.min(FAILURES, 10) * dead
    const living = (accounts - dead) * FAILURES
    for (let count = accounts * FAILURES; count > 0; count -= 1) await publish()
    await reaches(() => attempts >= failed + living)
    onDelivered = () => {}
  },
  /** Publishes as fast as the living ones get theirs. Every event is one delivery, to whomever. */
  run: ({ count }) =>
    timed(
      () =>
        new Promise((resolve, reject) => {
          const goal = delivered + Math.round((count * (accounts - dead)) / accounts)
          const last = published + count
          const ahead = (2 * IN_FLIGHT * accounts) / (accounts - dead)
          const next = () => {
            const toGo = (Math.max(0, goal - delivered) * accounts) / (accounts - dead)
            while (published < last && published < last - toGo + ahead) publish().catch(reject)
            if (delivered >= goal) resolve()
          }
          onDelivered = next
          next()
        }),
    ),
  memory: () => ({ rssMb: process.memoryUsage.rss() / 1e6 }),
})

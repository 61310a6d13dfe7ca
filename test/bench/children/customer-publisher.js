/** A host with default options whose customers have one webhook each. Counts what becomes of their events. */
import { handleRequests, sharedMicros, sleep } from '../processes.js'
import { addTimestamp, eventAt } from './events.js'
import { forEachConcurrently, setUpConcurrency, startInstance } from './instance.js'

/** @typedef {{ published: number, delivered: number, ended: number, failed: number, webhookId: string }} Customer */

/** How often the loads are looked at, ms. */
const TICK_MS = 5
/** Deliveries of a customer that are counted as waiting at most. */
const PAGE = 1_000

let hs
/** @type {Map<string, Customer>} */
const customers = new Map()

function publishFor(accountId) {
  const customer = customers.get(accountId)
  const event = { ...eventAt(customer.published++, 1), accountId }
  return hs.publish(addTimestamp(event, sharedMicros()))
}

/** The deliveries of a customer that wait or are in flight. */
async function countWaiting(accountId, { webhookId }) {
  let count = 0
  for (let cursor; ; ) {
    const rows = await hs.webhooks.deliveries(accountId, webhookId, {
      states: ['waiting', 'in_flight'],
      limit: PAGE,
      cursor,
    })
    count += rows.length
    if (rows.length < PAGE) return count
    cursor = rows.at(-1).position
  }
}

/** The counts of a customer at a moment: what ends while deliveries are counted would be counted twice, or not at all. */
async function settled(accountId, customer) {
  for (;;) {
    const before = { ...customer }
    const waiting = before.delivered === before.published ? 0 : await countWaiting(accountId, before)
    if (before.delivered + before.ended === customer.delivered + customer.ended) return { ...before, waiting }
  }
}

handleRequests(
  {
    /** @param {{ location: import('../stores.js').StoreLocation, webhooks: readonly { accountId: string, uri: string }[] }} input */
    async prepare({ location, webhooks }) {
      hs = await startInstance(location)
      await forEachConcurrently(
        webhooks,
        async ({ accountId, uri }) => {
          await hs.accounts.create({ id: accountId, name: accountId, realm: `${accountId}.example.com` })
          const { id } = await hs.webhooks.create(accountId, { name: 'bench', uri, hook: 'channel_answer' })
          customers.set(accountId, { published: 0, delivered: 0, ended: 0, failed: 0, webhookId: id })
        },
        setUpConcurrency(location),
      )
      hs.events.on('delivered', ({ accountId }) => {
        customers.get(accountId).delivered += 1
      })
      for (const end of ['exhausted', 'expired', 'cancelled', 'quarantined'])
        hs.events.on(end, ({ accountId }) => {
          customers.get(accountId).ended += 1
        })
      hs.events.on('attempt', ({ accountId, attempt, result }) => {
        if (attempt !== undefined && result === 'failure') customers.get(accountId).failed += 1
      })
    },
    /** Publishes a number of events for each of these customers. @param {{ counts: Record<string, number> }} input */
    async publish({ counts }) {
      await Promise.all(
        Object.entries(counts).map(([accountId, count]) =>
          forEachConcurrently(Array.from({ length: count }), () => publishFor(accountId)),
        ),
      )
    },
    /**
     * Publishes at steady rates. `phase`: the part of an event that is due at the beginning.
     *
     * @param {{ loads: readonly { accountId: string, perSecond: number, phase: number }[], ms: number }} input
     */
    async publishSteadily({ loads, ms }) {
      const started = performance.now()
      const sent = loads.map(() => 0)
      const unaccepted = []
      for (let now = started; now < started + ms; now = performance.now()) {
        loads.forEach(({ accountId, perSecond, phase }, index) => {
          const due = Math.floor(phase + ((now - started) / 1000) * perSecond)
          for (; sent[index] < due; sent[index] += 1) unaccepted.push(publishFor(accountId))
        })
        await sleep(TICK_MS)
      }
      await Promise.all(unaccepted)
    },
    /** Events that were not delivered so far, by customer. */
    undelivered: () =>
      Object.fromEntries(
        Array.from(customers, ([accountId, { published, delivered }]) => [accountId, published - delivered]),
      ),
    /** Events of which nothing is known yet: neither delivered nor ended. */
    unfinished: () =>
      [...customers.values()].reduce(
        (sum, { published, delivered, ended }) => sum + published - delivered - ended,
        0,
      ),
    /** What became of the events, by customer. `lost`: neither delivered nor waiting. */
    async results() {
      const results = {}
      for (const [accountId, customer] of customers) {
        const { published, delivered, failed, waiting } = await settled(accountId, customer)
        results[accountId] = { published, failed, waiting, lost: published - delivered - waiting }
      }
      return results
    },
  },
  () => hs?.close({ drainMs: 0 }),
)

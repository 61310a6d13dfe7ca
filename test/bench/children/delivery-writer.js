/** Writes deliveries that become due later, for other processes to send. It is not a node itself. */
import { handleRequests } from '../processes.js'
import { createStore, forEachConcurrently, LOG } from './instance.js'
import { acceptanceOf, newEvent, newId } from './store-records.js'

const EVENTS_PER_BATCH = 100
const CONCURRENCY = 4

let store
let events = 0

handleRequests(
  {
    async open({ location }) {
      const { systemClock } = await import('hookswitch')
      store = await createStore(location)
      await store.open({ clock: systemClock(), log: LOG })
    },
    /**
     * Accepts one event for each webhook in turn, each in a different lane.
     *
     * @param {{ webhooks: readonly object[], count: number, inMs: number }} input
     */
    async accept({ webhooks, count, inMs }) {
      const due = Date.now() + inMs
      const batches = Array.from({ length: count / EVENTS_PER_BATCH }, (_, batch) => batch)
      await forEachConcurrently(
        batches,
        (batch) => {
          const parts = Array.from({ length: EVENTS_PER_BATCH }, (_, index) => {
            const webhook = webhooks[(batch * EVENTS_PER_BATCH + index) % webhooks.length]
            return [newEvent(webhook.accountId, events++, 1), [webhook], `-/${newId()}`]
          })
          return store.deliveries.accept(acceptanceOf(parts), due)
        },
        CONCURRENCY,
      )
      if (Date.now() > due)
        throw new Error(`accepting deliveries that are due in ${inMs} ms took longer than that`)
    },
  },
  () => store?.close(),
)

/** Writes deliveries for other processes to send. It is not a node itself. */
import { handleRequests } from '../processes.js'
import { createStore, LOG } from './instance.js'
import { acceptanceOf, groupOf, newEvent, newId } from './store-records.js'

const EVENTS_PER_GROUP = 500

let store
let events = 0

handleRequests(
  {
    async open({ location }) {
      const { systemClock } = await import('hookswitch/adapter')
      store = await createStore(location)
      await store.open({ clock: systemClock(), log: LOG })
    },
    /**
     * Accepts one event for each webhook in turn, each in a different lane.
     *
     * @param {{ webhooks: readonly object[], count: number }} input
     */
    async accept({ webhooks, count }) {
      for (let first = 0; first < count; first += EVENTS_PER_GROUP) {
        const parts = Array.from({ length: Math.min(EVENTS_PER_GROUP, count - first) }, (_, index) => {
          const webhook = webhooks[(first + index) % webhooks.length]
          return [newEvent(webhook.accountId, events++, 1), [webhook], `-/${newId()}`]
        })
        const group = groupOf({ now: Date.now(), accepted: [acceptanceOf(parts)] })
        const [result] = (await store.deliveries.commit(group)).accepted
        if (result.kind === 'refused') throw result.error
      }
    },
  },
  () => store?.close(),
)

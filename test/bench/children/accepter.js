/** Writes deliveries that become due later, for nodes to send: itself it is none. */
import { answerParent } from '../processes.js'
import { acceptanceOf, newEvent, newId } from './acceptances.js'
import { LOG, storeOf, workThrough } from './instance.js'

const EVENTS_AT_ONCE = 100
const AT_ONCE = 4

let store
let events = 0

answerParent(
  {
    async open({ place }) {
      const { systemClock } = await import('hookswitch')
      store = await storeOf(place)
      await store.open({ clock: systemClock(), log: LOG })
    },
    /** One event for each webhook in turn, no two in a lane. @param {{ webhooks: readonly object[], count: number, inMs: number }} input */
    async accept({ webhooks, count, inMs }) {
      const due = Date.now() + inMs
      const groups = Array.from({ length: count / EVENTS_AT_ONCE }, (_, group) => group)
      await workThrough(
        groups,
        (group) => {
          const parts = Array.from({ length: EVENTS_AT_ONCE }, (_, index) => {
            const webhook = webhooks[(group * EVENTS_AT_ONCE + index) % webhooks.length]
            return [newEvent(webhook.accountId, events++, 1), [webhook], `-/${newId()}`]
          })
          return store.deliveries.accept(acceptanceOf(parts), due)
        },
        AT_ONCE,
      )
      if (Date.now() > due) throw new Error(`what was to be due in ${inMs} ms was accepted too late`)
    },
  },
  () => store?.close(),
)

import type { Core } from './core.js'
import { type Admitting, keepAdmitting } from './delivery/admit.js'
import { HookswitchError } from './errors.js'
import { announce, type PublishDoors, refused } from './publish.js'

/** Admits what hosts staged, from now on; `undefined` where the store takes no transactions. */
export function admitStaged(core: Core, { metrics, maxPending }: PublishDoors): Admitting | undefined {
  const { inbox, deliveries } = core.store
  if (!inbox) return undefined
  const admitting = keepAdmitting({
    ...core.accept,
    inbox,
    owner: core.dispatcher.owner,
    log: core.log,
    maxPending,
    admitted(event, { id, sequence }) {
      metrics.count('hookswitch_events_accepted_total', 1, undefined)
      announce(core, event, id, sequence)
    },
    refused(event) {
      refused({ metrics }, new HookswitchError(event.code, event.reason), 1)
      core.events.emit('event_refused', event)
    },
  })
  const stop = deliveries.subscribe((ready) => {
    if (ready === undefined) admitting.look()
  })
  admitting.look()
  return {
    look: admitting.look,
    stop() {
      stop()
      return admitting.stop()
    },
  }
}

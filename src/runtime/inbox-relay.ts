import { type InboxRelay, startInboxRelay } from '../delivery/inbox-relay.js'
import { HookswitchError } from '../errors.js'
import type { Core } from './core.js'
import { countRefused, notifyListeners, type PublishDeps } from './publish.js'

/**
 * Starts the inbox relay of an instance: it accepts the events that were staged in the host's transactions. Counts them
 * and notifies the host's listeners.
 *
 * @returns `undefined` for a store without an inbox
 */
export function relayStagedEvents(core: Core, { metrics }: PublishDeps): InboxRelay | undefined {
  const { inbox, deliveries } = core.store
  if (!inbox) return undefined
  const relay = startInboxRelay({
    ...core.accept,
    inbox,
    owner: core.dispatcher.owner,
    log: core.log,
    onAccepted(event, { id, sequence }) {
      metrics.count('hookswitch_events_accepted_total', 1, undefined)
      notifyListeners(core, event, id, sequence)
    },
    onRefused(event) {
      countRefused({ metrics }, new HookswitchError(event.code, event.reason), 1)
      core.events.emit('event_refused', event)
    },
  })
  const unsubscribe = deliveries.subscribe(relay.trigger)
  relay.trigger()
  return {
    trigger: relay.trigger,
    stop() {
      unsubscribe()
      return relay.stop()
    },
  }
}

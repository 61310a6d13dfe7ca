import type { Core } from './core.js'
import { acceptEvents } from './delivery/accept.js'
import type { AcceptedEvent } from './delivery/delivery-store.js'
import type { ChannelEvent } from './delivery/event.js'

/** What became of a published event. */
export interface Published {
  /** The event's id: the same for every publish with the same idempotency key. */
  readonly eventId: string
  /** 1, 2, … within its call, in order of acceptance. */
  readonly sequence: number
  /** True: this idempotency key was accepted before; nothing new was written. */
  readonly duplicate: boolean
}

/** Accepts events, all or nothing, then tells the host's listeners of the new ones. */
export async function publishAll(
  core: Core,
  inputs: readonly unknown[],
  maxPending: number,
): Promise<readonly Published[]> {
  // Copied before the first wait: afterwards the host may have changed its event.
  const heard = inputs.map((input) => copyIfHeard(core, input as ChannelEvent))
  const accepted = await acceptEvents(core.accept, inputs, maxPending)
  return accepted.map(({ id: eventId, sequence, duplicate }: AcceptedEvent, index) => {
    const event = heard[index]
    if (!duplicate && event) announce(core, event, eventId, sequence)
    return { eventId, sequence, duplicate }
  })
}

/** The copy for listeners is made where there are any. */
function copyIfHeard({ events }: Core, event: ChannelEvent): ChannelEvent | undefined {
  return events.isHeard(event?.hook as 'event') || events.isHeard('event') ? { ...event } : undefined
}

function announce({ events, clock }: Core, event: ChannelEvent, eventId: string, sequence: number): void {
  const hook = event.hook as 'event'
  const { timestampMs = clock.now() } = event
  const published = { ...event, timestampMs, eventId, sequence }
  events.emit(hook, published)
  events.emit('event', published)
}

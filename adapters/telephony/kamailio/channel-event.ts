/** What happened to a call → the channel events that `hs.publish` takes. */
import type { ChannelEvent } from 'hookswitch'
import type { Happening, KamailioCall } from './call.js'

/** The event of a call that begins. */
export function createdEvent(accountId: string, call: KamailioCall): ChannelEvent {
  return eventOf('channel_create', accountId, call, call.createdUs)
}

/** The events of what happened, in the order in which a receiver should see them. */
export function eventsOf(accountId: string, call: KamailioCall, happening: Happening): ChannelEvent[] {
  switch (happening.kind) {
    case 'answered': {
      const bridge = eventOf('channel_bridge', accountId, call, happening.atUs)
      const { originalNumber } = call.parties
      return [
        eventOf('channel_answer', accountId, call, happening.atUs),
        originalNumber === undefined ? bridge : { ...bridge, originalNumber },
      ]
    }
    case 'held':
    case 'resumed': {
      const hook = happening.kind === 'held' ? 'channel_hold' : 'channel_unhold'
      const event = eventOf(hook, accountId, call, happening.atUs)
      return [{ ...event, customChannelVars: { held_by: happening.by } }]
    }
    case 'ended': {
      const { atUs, cause, code, endedBy } = happening
      const answeredUs = call.answeredUs ?? atUs
      return [
        {
          ...eventOf('channel_destroy', accountId, call, atUs),
          ...(endedBy ? { customChannelVars: { ended_by: endedBy } } : {}),
          hangupCause: cause,
          hangupCode: `sip:${code}`,
          durationSeconds: secondsBetween(call.createdUs, atUs),
          ringingSeconds: secondsBetween(call.ringingUs ?? answeredUs, answeredUs),
          billingSeconds: secondsBetween(answeredUs, atUs),
        },
      ]
    }
  }
}

function eventOf(hook: string, accountId: string, call: KamailioCall, atUs: number): ChannelEvent {
  const { originalNumber: _, ...parties } = call.parties
  return {
    hook,
    accountId,
    callId: call.callId,
    direction: 'inbound',
    timestampMs: Math.floor(atUs / 1000),
    ...parties,
    isInternalLeg: false,
  }
}

/** Whole seconds, rounded; never negative, though workers may write a millisecond out of order. */
function secondsBetween(fromUs: number, toUs: number): number {
  return Math.max(0, Math.round((toUs - fromUs) / 1_000_000))
}

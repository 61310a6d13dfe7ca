/** Which events of the switch are subscribed to, and how the mapping uses each of them. */

import type { OptionalHook } from '../source/optional-hooks.js'
import { REPORT_EVENTS, reportEvents } from './call-report.js'

/** The last event of a leg: `CHANNEL_HANGUP_COMPLETE` where the switch delays CHANNEL_DESTROY (outbound mode). */
export type EndEvent = 'CHANNEL_DESTROY' | 'CHANNEL_HANGUP_COMPLETE'

/** The event name of the data of a channel: the switch's in reply to `connect`, and here of a reply to `uuid_dump`. */
export const CHANNEL_DATA = 'CHANNEL_DATA'

/** Names of the events to subscribe to. */
export function subscribedEvents(
  endEvent: EndEvent,
  extraEvents: readonly string[],
  optionalHooks: readonly OptionalHook[],
): readonly string[] {
  return [
    'CHANNEL_CREATE',
    // The first events of an inbound leg that carry its account: a leg may ring longer than its events may wait.
    'CHANNEL_PROGRESS',
    'CHANNEL_PROGRESS_MEDIA',
    'CHANNEL_ANSWER',
    'CHANNEL_BRIDGE',
    'CHANNEL_UNBRIDGE',
    'CHANNEL_HOLD',
    'CHANNEL_UNHOLD',
    // Renames a leg in mid-call; it stays the same leg.
    'CHANNEL_UUID',
    // Of HANGUP, HANGUP_COMPLETE and DESTROY the last is enough: it has the causes, the durations and the end time.
    endEvent,
    ...extraEvents,
    // Behind CUSTOM all names are subclasses.
    ...reportEvents(optionalHooks),
  ]
}

/** How the mapping uses an event. */
export interface EventRole {
  /** The event describes its whole leg, so it may open a leg that is not known yet: that publishes `channel_create`. */
  readonly canOpenLeg: boolean
  /** The event updates the leg before its events are published: variables, addresses and a missed answer. */
  readonly refreshesLeg: boolean
  /** The event ends its leg. */
  readonly isLegEnd: boolean
}

const ACCOUNT_ONLY: EventRole = { canOpenLeg: false, refreshesLeg: false, isLegEnd: false }
const OPENS: EventRole = { canOpenLeg: true, refreshesLeg: false, isLegEnd: false }
/** The role of events that show a whole leg and change it. */
export const OPENS_AND_REFRESHES: EventRole = { canOpenLeg: true, refreshesLeg: true, isLegEnd: false }
const OPENS_AND_ENDS: EventRole = { canOpenLeg: true, refreshesLeg: true, isLegEnd: true }

/** The roles by event name; events without a role are ignored. */
export function eventRoles(
  endEvent: EndEvent,
  extraEvents: readonly string[],
): ReadonlyMap<string, EventRole> {
  return new Map([
    ...extraEvents.map((name) => [name, ACCOUNT_ONLY] as const),
    ...REPORT_EVENTS.map((name) => [name, ACCOUNT_ONLY] as const),
    ['CHANNEL_CREATE', OPENS],
    ['CHANNEL_PROGRESS', OPENS],
    ['CHANNEL_PROGRESS_MEDIA', OPENS],
    ['CHANNEL_ANSWER', OPENS_AND_REFRESHES],
    ['CHANNEL_BRIDGE', OPENS_AND_REFRESHES],
    ['CHANNEL_UNBRIDGE', ACCOUNT_ONLY],
    ['CHANNEL_HOLD', OPENS_AND_REFRESHES],
    ['CHANNEL_UNHOLD', OPENS_AND_REFRESHES],
    [CHANNEL_DATA, OPENS_AND_REFRESHES],
    ['CHANNEL_UUID', ACCOUNT_ONLY],
    [endEvent, OPENS_AND_ENDS],
  ])
}

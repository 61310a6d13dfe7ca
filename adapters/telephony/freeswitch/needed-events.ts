/** The events of the switch that a mapping needs: what is subscribed to, and nothing else. */

/** With which event a leg ends: `CHANNEL_HANGUP_COMPLETE` where the switch holds CHANNEL_DESTROY back. */
export type EndEvent = 'CHANNEL_DESTROY' | 'CHANNEL_HANGUP_COMPLETE'

/** The name under which what the switch tells of a leg when asked (`uuid_dump`) is mapped. */
export const CHANNEL_DATA = 'CHANNEL_DATA'

/** Their names, with what a host needs to learn the account. */
export function neededEvents(endsWith: EndEvent, extraEvents: readonly string[]): readonly string[] {
  return [
    'CHANNEL_CREATE',
    // The first events of an inbound leg that know its account; it may ring for longer than its events can wait.
    'CHANNEL_PROGRESS',
    'CHANNEL_PROGRESS_MEDIA',
    'CHANNEL_ANSWER',
    'CHANNEL_BRIDGE',
    'CHANNEL_HOLD',
    'CHANNEL_UNHOLD',
    // A leg that is renamed in mid-call stays the one it was.
    'CHANNEL_UUID',
    // Of HANGUP, HANGUP_COMPLETE and DESTROY the last is enough: it has the causes, the durations and its own times.
    endsWith,
    ...extraEvents,
  ]
}

/** What an event is to a mapping. */
export interface EventRole {
  /** It shows all of its leg, so that one that is not known yet can be opened by it. */
  readonly opens: boolean
  /** Something is published of it: its variables are read. */
  readonly speaks: boolean
  readonly ends: boolean
}

const ONLY_ASKS: EventRole = { opens: false, speaks: false, ends: false }
const RINGS: EventRole = { opens: true, speaks: false, ends: false }
const SPEAKS: EventRole = { opens: true, speaks: true, ends: false }
const ENDS: EventRole = { opens: true, speaks: true, ends: true }

/** The roles, by event name; an event that has none is not needed. */
export function eventRoles(
  endsWith: EndEvent,
  extraEvents: readonly string[],
): ReadonlyMap<string, EventRole> {
  return new Map([
    ...extraEvents.map((name) => [name, ONLY_ASKS] as const),
    ['CHANNEL_CREATE', RINGS],
    ['CHANNEL_PROGRESS', RINGS],
    ['CHANNEL_PROGRESS_MEDIA', RINGS],
    ['CHANNEL_ANSWER', SPEAKS],
    ['CHANNEL_BRIDGE', SPEAKS],
    ['CHANNEL_HOLD', SPEAKS],
    ['CHANNEL_UNHOLD', SPEAKS],
    [CHANNEL_DATA, SPEAKS],
    ['CHANNEL_UUID', ONLY_ASKS],
    [endsWith, ENDS],
  ])
}

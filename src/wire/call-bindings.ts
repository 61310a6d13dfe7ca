/** The call events of KAZOO's WebSocket service (`bh_call`): their names, and the bindings that select them. Pure. */
import type { JsonObject } from './webhook-json.js'

/** Names of the call events, in KAZOO's order. */
export const CALL_EVENTS = [
  'CHANNEL_CREATE',
  'CHANNEL_ANSWER',
  'CHANNEL_DESTROY',
  'CHANNEL_HOLD',
  'CHANNEL_UNHOLD',
  'CHANNEL_BRIDGE',
  'PARK_PARKED',
  'PARK_RETRIEVED',
  'PARK_ABANDONED',
] as const

/** Name of a call event. */
export type CallEventName = (typeof CALL_EVENTS)[number]

/**
 * The name that KAZOO has for an event; `undefined` for one that is no call event.
 *
 * @param hook id of its hook in the catalogue
 * @param eventName of an event of the hook `parking`: what happened
 */
export function callEventName(hook: string, eventName: string | undefined): CallEventName | undefined {
  const name = hook === 'parking' ? eventName : hook.toUpperCase()
  return CALL_EVENTS.find((known) => known === name)
}

/** The supported bindings by kind of event, as `GET /websockets` has them in KAZOO. */
export const bindingsJson = (): JsonObject => ({
  call: CALL_EVENTS.map((name) => `call.${name}.{CALL_ID}`),
})

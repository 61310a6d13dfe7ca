/** Reads registrations of phones, which belong to no leg. Pure. */
import { idempotencyKey } from '../source/idempotency-key.js'
import type { PendingEvent } from '../source/mapped-events.js'
import type { OptionalHook } from '../source/optional-hooks.js'
import type { EslEvent } from './event.js'
import { readEventTimeUs } from './leg.js'

/** The hooks of registrations, by the subclass of their event. */
const HOOKS: ReadonlyMap<string, OptionalHook & PendingEvent['hook']> = new Map([
  ['sofia::register', 'device_registered'],
  ['sofia::unregister', 'device_unregistered'],
  ['sofia::expire', 'device_unregistered'],
])

/** Subclasses of CUSTOM that these hooks need. */
export function registrationEvents(hooks: readonly OptionalHook[]): readonly string[] {
  return [...HOOKS].flatMap(([subclass, hook]) => (hooks.includes(hook) ? [subclass] : []))
}

/** Whether an event is about a registration. */
export function isRegistration(event: EslEvent): boolean {
  return HOOKS.has(event.header('Event-Subclass') ?? '')
}

/**
 * Builds the event of a registration. `callId` is the Call-ID that all requests of the registration have, or the address of
 * the device. `undefined`: the registration is only renewed, or its device is not known.
 */
export function buildRegistration(event: EslEvent): PendingEvent | undefined {
  const hook = HOOKS.get(event.header('Event-Subclass') ?? '')
  const username = event.header('from-user') ?? event.header('user')
  const realm = event.header('from-host') ?? event.header('host')
  if (!hook || username === undefined || event.header('update-reg') === 'true') return undefined
  const from = realm === undefined ? username : `${username}@${realm}`
  const callId = event.header('call-id') ?? from
  const atUs = readEventTimeUs(event)
  const expires = event.header('expires') ?? ''
  const optional = {
    realm,
    contact: event.header('contact'),
    userAgent: event.header('user-agent'),
    // Of an expired registration it is the time at which it ended.
    expires: hook === 'device_registered' && /^\d{1,9}$/.test(expires) ? Number(expires) : undefined,
  }
  return {
    hook,
    callId,
    timestampMs: Math.floor(atUs / 1000),
    from,
    username,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    idempotencyKey: idempotencyKey(
      event.header('Core-UUID') ?? '',
      callId,
      hook,
      event.header('Event-Sequence') ?? atUs,
    ),
  }
}

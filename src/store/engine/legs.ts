/** Which calls become legs of each other. */

/**
 * The other leg that an event links to its call; `undefined`: none. Each becomes a leg of the other.
 *
 * @param callId the event's own call
 */
export function linkedLeg(
  callId: string | undefined,
  otherLegCallId: string | undefined,
): string | undefined {
  return callId === undefined || otherLegCallId === callId ? undefined : otherLegCallId
}

/** How long a call's numbers and legs are kept after its last event or delivery, ms. */
export const CALL_RETENTION_MS = 86_400_000

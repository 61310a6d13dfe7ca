/** Idempotency keys of channel events, derived from the ids of the switch. */
import { createHash } from 'node:crypto'

/** Longest key that `publish` accepts, characters. */
const MAX_LENGTH = 255
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u
/** Most keys, checked in a third of the time. */
const ASCII = /^[\x20-\x7e]*$/

/**
 * Returns the idempotency key of an event. An event that is received twice (by two connections, after a reconnect, by a
 * restarted host) has the same key and is published once. Ids that are too long or unprintable are hashed.
 *
 * @param parts what identifies the event: the switch's run, the leg, the hook
 */
export function idempotencyKey(...parts: readonly (string | number)[]): string {
  const key = parts.join('/')
  if (key.length <= MAX_LENGTH && (ASCII.test(key) || PRINTABLE.test(key))) return key
  return `sha256/${createHash('sha256').update(key).digest('base64url')}`
}

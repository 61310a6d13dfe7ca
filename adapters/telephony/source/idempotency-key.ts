import { createHash } from 'node:crypto'

/** A key has 1 to 255 characters. */
const LONGEST = 255

/**
 * An idempotency key of the switch's own ids, so that what is heard twice (by two connections, after a reconnect, by a
 * restarted host) is published once. Ids that are too long for a key are hashed.
 *
 * @param parts what makes the event the one it is: the switch's run, the leg, what happened
 */
export function idempotencyKey(...parts: readonly (string | number)[]): string {
  const key = parts.join('/')
  if (key.length <= LONGEST && /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u.test(key)) return key
  return `sha256/${createHash('sha256').update(key).digest('base64url')}`
}

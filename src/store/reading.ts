import type { AttemptRecord, StoredAttempt } from '../delivery/attempt-record.js'
import type { Delivery } from '../delivery/lifecycle.js'

/** How much of a request's body is shown with an attempt, in bytes of UTF-8. */
export const REQUEST_BODY_BYTES = 8 * 1024

/**
 * A delivery as every reader sees it: one that waits for a webhook of a newer epoch *is* cancelled, whether its
 * row has followed yet or not.
 *
 * @param epoch the webhook's epoch now
 */
export function asRead(delivery: Delivery, epoch: number): Delivery {
  if (delivery.state !== 'waiting' || delivery.epoch >= epoch) return delivery
  const { dueMs: _due, ...rest } = delivery
  return { ...rest, state: 'cancelled', reason: 'cancelled' }
}

/** The beginning of a text that takes at most `bytes` bytes of UTF-8, cut between characters. */
export function cutToBytes(text: string, bytes: number): string {
  // A UTF-16 unit takes at most 3 bytes.
  if (text.length * 3 <= bytes) return text
  let left = bytes
  let end = 0
  while (end < text.length) {
    const point = text.codePointAt(end)!
    left -= point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    if (left < 0) return text.slice(0, end)
    end += point < 0x10000 ? 1 : 2
  }
  return text
}

/**
 * A record as it is read back.
 *
 * @param sent verb and frozen body of its delivery; `undefined` when that is kept no more
 */
export function readAttempt(
  record: AttemptRecord,
  position: number,
  sent: { readonly httpVerb: Delivery['httpVerb']; readonly body: string } | undefined,
): StoredAttempt {
  // An end without a request sent nothing; the pairs of a `get` or `delete` went into the address.
  const bodiless =
    !sent || record.attempt === undefined || sent.httpVerb === 'get' || sent.httpVerb === 'delete'
  // What is added comes first: V8 11 is slow with literals that begin with a spread, and go on.
  if (bodiless) return { position, ...record }
  return { position, requestBody: cutToBytes(sent.body, REQUEST_BODY_BYTES), ...record }
}

/**
 * Whether a body, JSON or form, has a number or name as a word of its own: not as a part of a longer one.
 *
 * @param text without quotes, backslashes and control characters
 */
export function isMentioned(body: string, text: string): boolean {
  return hasWord(body, text) || hasWord(body, encodeURIComponent(text))
}

const WORD = /[0-9A-Za-z]/

function hasWord(body: string, word: string): boolean {
  for (let at = body.indexOf(word); at >= 0; at = body.indexOf(word, at + 1)) {
    const before = body.slice(Math.max(0, at - 3), at)
    // An escape of form encoding is no part of the word before it.
    const isBound = before === '' || !WORD.test(before.at(-1)!) || /^%[0-9A-F]{2}$/.test(before)
    if (isBound && !WORD.test(body.charAt(at + word.length))) return true
  }
  return false
}

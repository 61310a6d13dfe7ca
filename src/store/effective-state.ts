/**
 * Rows as readers see them: cancellation by epoch, request bodies in attempts, text search in bodies. Every store
 * returns the same, so these decisions are made here.
 */

import type { AttemptRecord, StoredAttempt } from '../delivery/attempt-record.js'
import type { Delivery } from '../delivery/lifecycle.js'
import { partiesOf } from '../delivery/payload.js'
import { spellingsOf } from '../values/phone-number.js'

/** Longest request body shown with an attempt, in bytes of UTF-8; longer ones are truncated. */
export const REQUEST_BODY_BYTES = 8 * 1024

/**
 * A delivery as every reader sees it: a waiting delivery of an older epoch *is* cancelled, even before its row is
 * updated.
 *
 * @param epoch the webhook's current epoch
 */
export function effectiveState(delivery: Delivery, epoch: number): Delivery {
  if (delivery.state !== 'waiting' || delivery.epoch >= epoch) return delivery
  const { dueMs: _due, ...rest } = delivery
  return { ...rest, state: 'cancelled', reason: 'cancelled' }
}

/** The longest prefix of `text` that takes at most `bytes` bytes of UTF-8; never splits a character. */
export function truncateUtf8(text: string, bytes: number): string {
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
 * An attempt record as `attempts` returns it: with its position, the truncated request body, and the parties of the call.
 *
 * @param sent method and frozen body of its delivery; `undefined` when the delivery has been pruned
 */
export function toStoredAttempt(
  record: AttemptRecord,
  position: number,
  sent: { readonly httpVerb: Delivery['httpVerb']; readonly body: string } | undefined,
): StoredAttempt {
  // A record without an attempt number ended a delivery unsent; `get` and `delete` carry the body in the query string.
  const hasNoBody =
    !sent || record.attempt === undefined || sent.httpVerb === 'get' || sent.httpVerb === 'delete'
  const call = sent && partiesOf(sent.body)
  // Added properties come first: V8 11 is slow for literals that begin with a spread and have further properties.
  if (hasNoBody) return call ? { position, call, ...record } : { position, ...record }
  const requestBody = truncateUtf8(sent.body, REQUEST_BODY_BYTES)
  return call ? { position, requestBody, call, ...record } : { position, requestBody, ...record }
}

/**
 * Whether a body (JSON or form encoding) contains a number or name as a whole word, not as part of a longer one; a number also
 * where `00` stands before it.
 *
 * @param text contains no quotes, backslashes or control characters
 */
export function isMentioned(body: string, text: string): boolean {
  return spellingsOf(text).some((word) => hasWord(body, word)) || hasWord(body, encodeURIComponent(text))
}

const WORD = /[0-9A-Za-z]/

function hasWord(body: string, word: string): boolean {
  for (let at = body.indexOf(word); at >= 0; at = body.indexOf(word, at + 1)) {
    const before = body.slice(Math.max(0, at - 3), at)
    // A percent escape of form encoding ends in a letter or digit, yet is not part of the word.
    const isBound = before === '' || !WORD.test(before.at(-1)!) || /^%[0-9A-F]{2}$/.test(before)
    if (isBound && !WORD.test(body.charAt(at + word.length))) return true
  }
  return false
}

// @ts-check
/** Waits for an event of another process, which a file or a list shows. */
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10
/** The time after which an event counts as missing. Far above what a busy machine needs. */
const LIMIT_MS = 15_000

/**
 * Resolves to the first result that is not `undefined`.
 *
 * @template T
 * @param {string} what is awaited, for the error
 * @param {() => T | undefined} look
 * @param {number} [limitMs]
 * @returns {Promise<T>}
 */
export async function waitUntil(what, look, limitMs = LIMIT_MS) {
  const endMs = performance.now() + limitMs
  for (;;) {
    const result = look()
    if (result !== undefined) return result
    if (performance.now() > endMs) throw new Error(`nothing happened within ${limitMs / 1000} s: ${what}`)
    await sleep(POLL_MS)
  }
}

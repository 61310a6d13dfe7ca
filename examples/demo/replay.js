// @ts-check
/** Converts the recorded calls to events and publishes them. */
import { readFile } from 'node:fs/promises'
import { accountByDomain, kamailioMapper } from 'hookswitch/kamailio'

/**
 * Reads the channel events of the recorded calls in order, with the milliseconds since the first event.
 *
 * @param {Record<string, string>} accounts account id by domain
 */
export async function recordedEvents(accounts) {
  const text = await readFile(new URL('kamailio-dialogs.ndjson', import.meta.url), 'utf8')
  const mapper = kamailioMapper({ accountOf: accountByDomain(accounts) })
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const { events, problems } = mapper.map(line)
      for (const { message } of problems) throw new Error(message)
      return events
    })
  const firstMs = events[0]?.timestampMs ?? 0
  return events.map((event) => ({ event, afterMs: (event.timestampMs ?? firstMs) - firstMs }))
}

/**
 * Publishes the events with their recorded gaps as calls that happen now, each with `suffix` added to its Call-ID.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {Awaited<ReturnType<typeof recordedEvents>>} recorded
 * @param {{ speed: number, suffix: string, signal: AbortSignal }} options
 * @returns {Promise<{ calls: number, events: number }>} the numbers of published calls and events
 */
export async function replay(hs, recorded, { speed, suffix, signal }) {
  const startMs = Date.now()
  const calls = new Set()
  let events = 0
  for (const { event: original, afterMs } of recorded) {
    // The idempotency key belongs to the recorded call; this is a new call.
    const { idempotencyKey: _, ...event } = original
    await until(startMs + afterMs / speed, signal)
    if (signal.aborted) break
    // At infinite speed the last call has just ended, so no event lies in the future.
    const lastMs = recorded.at(-1)?.afterMs ?? 0
    const timestampMs = Number.isFinite(speed) ? Date.now() : startMs - lastMs + afterMs
    await hs.publish({ ...event, callId: `${event.callId}${suffix}`, timestampMs })
    calls.add(event.callId)
    events += 1
  }
  return { calls: calls.size, events }
}

/**
 * Waits until a time or until the signal.
 *
 * @param {number} whenMs Unix milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function until(whenMs, signal) {
  const waitMs = whenMs - Date.now()
  if (waitMs <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, waitMs)
    signal.addEventListener('abort', done)
  })
}

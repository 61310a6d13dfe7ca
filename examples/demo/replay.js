// @ts-check
import { readFile } from 'node:fs/promises'
import { accountByDomain, kamailioMapper } from 'hookswitch/kamailio'

/**
 * The channel events of the recorded calls, in their order, with the milliseconds since the first.
 *
 * @param {Record<string, string>} accounts id of the account by domain
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
 * Publishes the events at their own pace as if the calls happened now, under Call-IDs of their own.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @param {Awaited<ReturnType<typeof recordedEvents>>} recorded
 * @param {{ speed: number, suffix: string, signal: AbortSignal }} options
 * @returns {Promise<{ calls: number, events: number }>} how many were published
 */
export async function replay(hs, recorded, { speed, suffix, signal }) {
  const startMs = Date.now()
  const calls = new Set()
  let events = 0
  for (const { event: original, afterMs } of recorded) {
    // Its key says that it is the recorded call's: here it is another call's.
    const { idempotencyKey: _, ...event } = original
    await until(startMs + afterMs / speed, signal)
    if (signal.aborted) break
    // As fast as it goes the calls cannot have happened in the future: they have just ended.
    const lastMs = recorded.at(-1)?.afterMs ?? 0
    const timestampMs = Number.isFinite(speed) ? Date.now() : startMs - lastMs + afterMs
    await hs.publish({ ...event, callId: `${event.callId}${suffix}`, timestampMs })
    calls.add(event.callId)
    events += 1
  }
  return { calls: calls.size, events }
}

/**
 * Waits for a moment or for the signal.
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

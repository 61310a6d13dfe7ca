import type { Observation } from '../ports.js'
import { originOf } from '../values/origin.js'

/**
 * Whether it is us who are cut off: at least so many origins were tried of late, and none of them answered HTTP in
 * any way. Then no endpoint is blamed. An HTTP status, whichever, is never an outage.
 */
export interface OutageWatch {
  /** One attempt that ended now. Monotonic ms. */
  saw(uri: string, seen: Observation, now: number): void
  isOutage(now: number): boolean
}

/** Within so many milliseconds … */
export const OUTAGE_WINDOW_MS = 60_000
/** … so many origins were tried in vain. */
export const OUTAGE_ORIGINS = 5
/**
 * So long it goes on after it was last seen, unless somebody answers: retries are up to 10 min apart by then, and five
 * origins within a minute would not be tried any more.
 */
export const OUTAGE_LASTS_MS = 720_000
/** Most origins remembered: a few silent ones are enough to know, one that answered settles it. */
const MAX_REMEMBERED = 64

export function outageWatch(): OutageWatch {
  /** Origins that did not answer, by the time of their last failure, the oldest first. */
  const silent = new Map<string, number>()
  let answeredMs = Number.NEGATIVE_INFINITY
  let untilMs = Number.NEGATIVE_INFINITY

  function isSilent(now: number): boolean {
    if (silent.size < OUTAGE_ORIGINS || now - answeredMs < OUTAGE_WINDOW_MS) return false
    let recent = 0
    for (const atMs of silent.values()) if (now - atMs < OUTAGE_WINDOW_MS) recent++
    return recent >= OUTAGE_ORIGINS
  }

  return {
    saw(uri, seen, now) {
      if (seen.kind === 'response') {
        answeredMs = now
        untilMs = Number.NEGATIVE_INFINITY
        if (silent.size > 0) silent.clear()
        return
      }
      // An address that is never dialled says nothing of the network.
      if (seen.kind === 'no_response' && seen.failure === 'blocked_address') return
      const origin = originOf(uri)
      silent.delete(origin)
      silent.set(origin, now)
      if (silent.size > MAX_REMEMBERED) silent.delete(silent.keys().next().value!)
    },
    isOutage(now) {
      if (isSilent(now)) untilMs = now + OUTAGE_LASTS_MS
      return now < untilMs
    },
  }
}

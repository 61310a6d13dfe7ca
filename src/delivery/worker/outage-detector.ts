import type { Observation } from '../../ports.js'
import { originOf } from '../../values/origin.js'

/**
 * Detects that this node itself is cut off: several origins were tried recently and none of them gave an HTTP
 * answer. During an outage failures are not charged to endpoints. An HTTP status, whatever it is, ends the
 * outage.
 */
export interface OutageDetector {
  /** Records the result of an attempt. `now`: monotonic, ms. */
  observe(uri: string, observation: Observation, now: number): void
  isOutage(now: number): boolean
}

/** The period in which the origins must have been tried, ms. */
export const OUTAGE_WINDOW_MS = 60_000
/** The number of origins that must have been tried in vain. */
export const OUTAGE_MIN_ORIGINS = 5
/**
 * An outage lasts this long after it was last detected, unless an origin answers, ms. During an outage
 * retries are up to 10 min apart, so fewer than five origins would be tried within a minute.
 */
export const OUTAGE_HOLD_MS = 720_000
/** Maximum number of silent origins in memory: a few are enough to detect an outage. */
const MAX_SILENT = 64

export function createOutageDetector(): OutageDetector {
  /** Origins that did not answer, with the time of their last failure; the oldest first. */
  const silent = new Map<string, number>()
  let lastAnswerMs = Number.NEGATIVE_INFINITY
  let outageUntilMs = Number.NEGATIVE_INFINITY

  function areAllSilent(now: number): boolean {
    if (silent.size < OUTAGE_MIN_ORIGINS || now - lastAnswerMs < OUTAGE_WINDOW_MS) return false
    let recent = 0
    for (const atMs of silent.values()) if (now - atMs < OUTAGE_WINDOW_MS) recent++
    return recent >= OUTAGE_MIN_ORIGINS
  }

  return {
    observe(uri, observation, now) {
      if (observation.kind === 'response') {
        lastAnswerMs = now
        outageUntilMs = Number.NEGATIVE_INFINITY
        if (silent.size > 0) silent.clear()
        return
      }
      // A blocked address is never dialled: it says nothing about the network.
      if (observation.kind === 'no_response' && observation.failure === 'blocked_address') return
      const origin = originOf(uri)
      silent.delete(origin)
      silent.set(origin, now)
      if (silent.size > MAX_SILENT) silent.delete(silent.keys().next().value!)
    },
    isOutage(now) {
      if (areAllSilent(now)) outageUntilMs = now + OUTAGE_HOLD_MS
      return now < outageUntilMs
    },
  }
}

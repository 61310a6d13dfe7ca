/**
 * Bounds what connections have not taken yet: each must take its next bytes in time, and all together hold a limited
 * number. Above it those are closed that have taken nothing for the longest time.
 */

/** Limits of what is not sent yet. */
interface UnsentLimits {
  /** Time within which a connection must take the next bytes, ms. */
  readonly writeTimeoutMs: number
  /** Bytes of all connections together. */
  readonly maxUnsentBytes: number
}

/** Default limits: 30 s and 64 MiB. */
export const UNSENT_DEFAULTS: UnsentLimits = Object.freeze({
  writeTimeoutMs: 30_000,
  maxUnsentBytes: 67_108_864,
})

/**
 * Notes that a connection does not take what is written.
 *
 * @param bytes what is in memory for it
 * @param destroy closes the connection
 * @returns to be called when it has taken what was written, or is closed
 */
export type AwaitTaken = (bytes: number, destroy: () => void) => () => void

export function createUnsent({ writeTimeoutMs, maxUnsentBytes }: UnsentLimits): AwaitTaken {
  /** The one that has waited longest first. */
  const waiting = new Set<() => void>()
  let total = 0
  return (bytes, destroy) => {
    const release = () => {
      if (!waiting.delete(close)) return
      clearTimeout(timer)
      total -= bytes
    }
    const close = () => {
      release()
      destroy()
    }
    const timer = setTimeout(close, writeTimeoutMs)
    waiting.add(close)
    total += bytes
    for (const closeOldest of waiting) {
      // One alone may be larger than the limit.
      if (total <= maxUnsentBytes || closeOldest === close) break
      closeOldest()
    }
    return release
  }
}

/** Keeps one connection to a switch open: reconnects with exponential backoff until it is closed. */
import type { Clock } from 'hookswitch'
import type { Random } from 'hookswitch/adapter'
import { retryDelayMs } from './retry-delay.js'
import { sanitizeError, sanitizeText } from './sanitize.js'

/** One established connection: logged in and subscribed. */
export interface SwitchSession {
  /** Resolves when the connection is over, with a short reason. */
  readonly ended: Promise<string>
  /**
   * Whether the session has logged in and resynced, and was not evicted by another client. Such a session resets the
   * backoff. Default: yes, because `open` has done both.
   */
  readonly isSettled?: () => boolean
  /** Ends the connection. */
  close(): void
}

/** Dependencies of `keepConnected`. */
interface ConnectionDeps {
  readonly clock: Clock
  readonly random: Random
  /** Connects, logs in and subscribes; rejects with the reason. Stops when the signal aborts. */
  readonly open: (signal: AbortSignal) => Promise<SwitchSession>
  /** Called after each successful `open`. */
  readonly onConnected: () => void
  /** Called after each lost connection and failed attempt; `retryInMs`: milliseconds to the next attempt. */
  readonly onDisconnected: (reason: string, retryInMs: number) => void
}

/** A settled session resets the backoff after this time: one that is cut at once would be reopened in a loop. */
const SETTLED_AFTER_MS = 1_000
/** Any other session resets it after this time. */
const STABLE_AFTER_MS = 10_000
/** Upper bound of the backoff. */
const MAX_DELAY_MS = 5_000

/**
 * Keeps one session open until it is closed.
 *
 * @returns `close`, which resolves when the last session has ended
 */
export function keepConnected(deps: ConnectionDeps): { close(): Promise<void> } {
  const { clock, random, open, onConnected, onDisconnected } = deps
  const closing = new AbortController()
  const { signal } = closing

  const loop = async () => {
    for (let failures = 0; !signal.aborted; ) {
      let opened: SwitchSession | undefined
      let connectedMs = 0
      const reason = await runSession(open, signal, (session) => {
        opened = session
        connectedMs = clock.monotonic()
        onConnected()
      })
      if (signal.aborted) return
      const isSettled = opened?.isSettled?.() ?? true
      const stableAfterMs = isSettled ? SETTLED_AFTER_MS : STABLE_AFTER_MS
      const isStable = opened !== undefined && clock.monotonic() - connectedMs >= stableAfterMs
      failures = isStable ? 1 : failures + 1
      const retryInMs = retryDelayMs(failures, random.fraction(), MAX_DELAY_MS)
      onDisconnected(reason, retryInMs)
      await clock.sleep(retryInMs, signal)
    }
  }
  const done = loop()
  return {
    close() {
      closing.abort()
      return done
    },
  }
}

/** Opens one session and waits for its end; resolves with the reason why it ended or could not be opened. */
async function runSession(
  open: ConnectionDeps['open'],
  signal: AbortSignal,
  onConnected: (session: SwitchSession) => void,
): Promise<string> {
  try {
    const session = await open(signal)
    const close = () => session.close()
    signal.addEventListener('abort', close)
    try {
      if (signal.aborted) session.close()
      else onConnected(session)
      return sanitizeText(await session.ended)
    } finally {
      signal.removeEventListener('abort', close)
    }
  } catch (thrown) {
    return thrown instanceof Error ? sanitizeText(thrown.message) : sanitizeError(thrown)
  }
}

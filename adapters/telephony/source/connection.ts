/** A connection that comes back by itself, later and later while it fails. */
import type { Clock, Random } from 'hookswitch'
import { retryDelayMs } from './retry-delay.js'
import { said, shown } from './said.js'

/** One connection at work: logged in and subscribed. */
export interface Session {
  /** Resolves when it is over, with the reason in a few words. */
  readonly ended: Promise<string>
  /** Ends it. */
  close(): void
}

/** What a kept connection needs. */
export interface ConnectionDoors {
  readonly clock: Clock
  readonly random: Random
  /** Connects, logs in, subscribes; rejects with why it could not. Ends at once when the signal aborts. */
  readonly open: (signal: AbortSignal) => Promise<Session>
  readonly onConnected: () => void
  readonly onDisconnected: (reason: string, retryInMs: number) => void
}

/** A session that lasted so long, from its login on, was a good one: the next try after it comes soon again. */
const GOOD_AFTER_MS = 10_000
/** Nobody waits longer for a switch that is back. */
const LONGEST_PAUSE_MS = 30_000

/**
 * Keeps one session open until it is closed.
 *
 * @returns `close`, which resolves when nothing is left
 */
export function keepConnected(doors: ConnectionDoors): { close(): Promise<void> } {
  const { clock, random, open, onConnected, onDisconnected } = doors
  const ending = new AbortController()
  const { signal } = ending

  const loop = async () => {
    for (let failures = 0; !signal.aborted; ) {
      let connectedMs = Number.POSITIVE_INFINITY
      const reason = await live(open, signal, () => {
        connectedMs = clock.monotonic()
        onConnected()
      })
      if (signal.aborted) return
      failures = clock.monotonic() - connectedMs >= GOOD_AFTER_MS ? 1 : failures + 1
      const retryInMs = retryDelayMs(failures, random.fraction(), LONGEST_PAUSE_MS)
      onDisconnected(reason, retryInMs)
      await clock.sleep(retryInMs, signal)
    }
  }
  const done = loop()
  return {
    close() {
      ending.abort()
      return done
    },
  }
}

/** One session from its begin to its end; why it ended. */
async function live(
  open: ConnectionDoors['open'],
  signal: AbortSignal,
  onConnected: () => void,
): Promise<string> {
  try {
    const session = await open(signal)
    const close = () => session.close()
    signal.addEventListener('abort', close)
    try {
      if (signal.aborted) session.close()
      else onConnected()
      return shown(await session.ended)
    } finally {
      signal.removeEventListener('abort', close)
    }
  } catch (thrown) {
    return thrown instanceof Error ? shown(thrown.message) : said(thrown)
  }
}

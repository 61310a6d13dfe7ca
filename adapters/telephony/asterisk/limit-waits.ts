/** Bounds how long the `channel_create` of a leg waits for its direction and its parties. */
import type { Clock } from 'hookswitch'

/** Dependencies of `limitWaits`. */
interface WaitLimitDeps {
  readonly clock: Pick<Clock, 'sleep'>
  /** Builds what has waited since the last call, see `Mapping.settleWaiting`. */
  readonly settle: () => void
  /** Aborts when the connection is over: the resync of the next one settles all legs. */
  readonly signal: AbortSignal
}

/** A leg waits between one and two of these periods: an analog phone, until its number is dialled. */
const PERIOD_MS = 15_000

/** Settles the legs that wait too long, until the signal aborts. */
export async function limitWaits({ clock, settle, signal }: WaitLimitDeps): Promise<void> {
  for (;;) {
    await clock.sleep(PERIOD_MS, signal)
    if (signal.aborted) return
    settle()
  }
}

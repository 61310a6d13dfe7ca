/**
 * Decides whether the other end of an idle connection is alive. Data of any kind is a sign of life. After `silenceMs`
 * without one, a probe is sent; the connection is dead when that probe has gone unanswered for `silenceMs`. A connection
 * is never dead without a probe, and never because of time in which its data was not being read.
 */
import type { Clock } from 'hookswitch'

/** Dependencies of `watchLiveness`. */
interface LivenessDeps {
  readonly clock: Clock
  /** How long a silence may last before a probe is sent, and how long the answer may take, milliseconds. */
  readonly silenceMs: number
  /** Sends a request that a live switch answers. */
  readonly probe: () => void
  /** Whether received data is left unread. Default: never. */
  readonly isPaused?: () => boolean
  /** Called at most once, with a short reason. */
  readonly onDead: (reason: string) => void
  /** Aborts when the connection is over. */
  readonly signal: AbortSignal
}

/** The liveness of one connection. */
export interface Liveness {
  /** To be called when data arrives, and when reading resumes after a pause. */
  onSignOfLife(): void
}

/** Watches a connection that has just been established. */
export function watchLiveness(deps: LivenessDeps): Liveness {
  const { clock, silenceMs, probe, isPaused = () => false, onDead, signal } = deps
  let lastSignMs = clock.monotonic()
  /** When the probe that is not answered yet was sent. */
  let probeMs: number | undefined

  const onSignOfLife = () => {
    lastSignMs = clock.monotonic()
    probeMs = undefined
  }
  const isDue = () => clock.monotonic() >= (probeMs ?? lastSignMs) + silenceMs

  const watch = async () => {
    for (;;) {
      await clock.sleep(Math.max(0, (probeMs ?? lastSignMs) + silenceMs - clock.monotonic()), signal)
      // A busy process runs its timers before it reads what has arrived meanwhile.
      if (isDue()) await clock.yield()
      if (signal.aborted) return
      if (isPaused()) onSignOfLife()
      if (!isDue()) continue
      if (probeMs !== undefined) return onDead(`no sign of life for ${secondsSince(lastSignMs)} s`)
      probeMs = clock.monotonic()
      probe()
    }
  }
  const secondsSince = (sinceMs: number) => Math.round(clock.monotonic() - sinceMs) / 1000
  void watch()
  return { onSignOfLife }
}

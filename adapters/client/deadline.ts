/** Limits a call by its timeout and the caller's signal. Leaves no timer and no listener behind. */
import { HookswitchClientError } from './error.js'

/** Time as the client needs it. */
export interface ClientClock {
  /** Milliseconds since an arbitrary start. Never decreases. */
  monotonic(): number
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The machine's clock. */
export const SYSTEM_CLOCK: ClientClock = {
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const wake = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      signal?.addEventListener('abort', wake)
    }),
}

/** The limit of one call. */
export interface Deadline {
  /** Aborts at the timeout, when the caller aborts, and at `end`. */
  readonly signal: AbortSignal
  /** Milliseconds left. */
  leftMs(): number
  /** Why the call ended early; `undefined` while it may go on. */
  error(): HookswitchClientError | undefined
  /** Waits for a promise that other calls share. @throws `error()` when the limit is reached first */
  race<Value>(promise: Promise<Value>): Promise<Value>
  /** @throws `error()` when the limit is reached first */
  sleep(ms: number): Promise<void>
  /** Releases the timer and the listener. */
  end(): void
}

/**
 * @param what the call, for messages: `GET /webhooks`
 * @param signals any of them aborts the call
 */
export function startDeadline(
  what: string,
  timeoutMs: number,
  signals: readonly (AbortSignal | undefined)[],
  clock: ClientClock,
): Deadline {
  const startMs = clock.monotonic()
  const controller = new AbortController()
  let error: HookswitchClientError | undefined
  const stop = (reason?: HookswitchClientError) => {
    if (controller.signal.aborted) return
    error = reason
    for (const signal of signals) signal?.removeEventListener('abort', onAbort)
    controller.abort()
  }
  function onAbort(): void {
    const cause: unknown = signals.find((signal) => signal?.aborted)?.reason
    stop(new HookswitchClientError('aborted', `${what}: aborted by the caller`, { cause }))
  }
  const problem = `no complete response within ${timeoutMs} ms`
  for (const signal of signals) signal?.addEventListener('abort', onAbort)
  if (signals.some((signal) => signal?.aborted)) onAbort()
  void clock
    .sleep(timeoutMs, controller.signal)
    .then(() => stop(new HookswitchClientError('timeout', `${what}: ${problem}`)))

  const throwIfOver = () => {
    if (error) throw error
  }
  return {
    signal: controller.signal,
    leftMs: () => timeoutMs - (clock.monotonic() - startMs),
    error: () => error,
    async race(promise) {
      throwIfOver()
      let onStop = () => {}
      const over = new Promise<never>((_, reject) => {
        onStop = () => reject(error)
        controller.signal.addEventListener('abort', onStop)
      })
      try {
        return await Promise.race([promise, over])
      } finally {
        controller.signal.removeEventListener('abort', onStop)
      }
    },
    async sleep(ms) {
      await clock.sleep(ms, controller.signal)
      throwIfOver()
    },
    end: () => stop(),
  }
}

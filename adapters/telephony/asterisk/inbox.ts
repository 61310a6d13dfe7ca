/** What has come and waits until there is room to publish it: a WebSocket cannot be asked to wait. */

/** Work in its order. */
export interface Inbox {
  /** Does it now, or keeps it behind what waits. @returns false: too much waits, whoever sends must be stopped */
  put(work: () => void, bytes: number): boolean
  /** There is room again. */
  drain(): void
  /** Resolves when nothing waits, or when the signal aborts. */
  emptied(signal: AbortSignal): Promise<void>
}

/** Most that waits. */
const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 33_554_432

/** @param isFull whether work must wait; asked after each piece */
export function inbox(isFull: () => boolean): Inbox {
  let waiting: { readonly work: () => void; readonly bytes: number }[] = []
  let next = 0
  let bytesWaiting = 0
  let tellEmpty: (() => void) | undefined

  const drain = (): void => {
    while (next < waiting.length && !isFull()) {
      const one = waiting[next]
      next += 1
      bytesWaiting -= one?.bytes ?? 0
      one?.work()
    }
    if (next < waiting.length) return
    waiting = []
    next = 0
    tellEmpty?.()
  }

  return {
    put(work, bytes) {
      if (waiting.length === 0 && !isFull()) {
        work()
        return true
      }
      waiting.push({ work, bytes })
      bytesWaiting += bytes
      return waiting.length - next < MAX_WAITING && bytesWaiting < MAX_WAITING_BYTES
    },
    drain,
    async emptied(signal) {
      if (waiting.length === 0 || signal.aborted) return
      await new Promise<void>((resolve) => {
        tellEmpty = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      tellEmpty = undefined
    },
  }
}

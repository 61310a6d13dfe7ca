/** Buffers received work while the service is full: unlike a TCP socket, a WebSocket client cannot pause its sender. */

/** Work in its order. */
export interface BackpressureBuffer {
  /**
   * Runs the work at once, or queues it behind earlier work while the service is full.
   *
   * @param bytes size of what the work holds
   * @returns false: the buffer is at its limit, and the caller must stop the sender
   */
  submit(work: () => void, bytes: number): boolean
  /** Whether nothing is queued. */
  isEmpty(): boolean
  /** Runs queued work until the service is full again. */
  drain(): void
  /** Resolves when the buffer is empty, or when the signal aborts. */
  whenEmpty(signal: AbortSignal): Promise<void>
}

/** Maximum number of queued pieces of work, and of their bytes; above either, `submit` refuses. */
const MAX_QUEUED = 10_000
const MAX_QUEUED_BYTES = 33_554_432

/** @param isFull whether work must wait; checked after each piece of work */
export function createBackpressureBuffer(isFull: () => boolean): BackpressureBuffer {
  let queue: { readonly work: () => void; readonly bytes: number }[] = []
  let next = 0
  let queuedBytes = 0
  let onEmpty: (() => void) | undefined

  const drain = (): void => {
    while (next < queue.length && !isFull()) {
      const item = queue[next]
      next += 1
      queuedBytes -= item?.bytes ?? 0
      item?.work()
    }
    if (next < queue.length) return
    queue = []
    next = 0
    onEmpty?.()
  }

  return {
    submit(work, bytes) {
      if (queue.length === 0 && !isFull()) {
        work()
        return true
      }
      queue.push({ work, bytes })
      queuedBytes += bytes
      return queue.length - next < MAX_QUEUED && queuedBytes < MAX_QUEUED_BYTES
    },
    isEmpty: () => queue.length === 0,
    drain,
    async whenEmpty(signal) {
      if (queue.length === 0 || signal.aborted) return
      await new Promise<void>((resolve) => {
        onEmpty = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      onEmpty = undefined
    },
  }
}

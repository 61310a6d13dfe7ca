import { createFifoQueue } from '../values/fifo-queue.js'

/**
 * Calls functions in order, at most `perTurn` in one turn of the event loop: what costs much each, and comes in hundreds at
 * once, must not hold up the rest.
 *
 * @returns calls `start`, which must not throw, at once or in a later turn
 */
export function createPacedStarts(perTurn: number): (start: () => void) => void {
  const waiting = createFifoQueue<() => void>()
  let left = perTurn
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      left = perTurn
      while (left > 0 && waiting.length > 0) {
        left--
        waiting.shift()!()
      }
      if (left < perTurn) schedule()
    })
  }

  return (start) => {
    schedule()
    if (left > 0) {
      left--
      start()
    } else waiting.push(start)
  }
}

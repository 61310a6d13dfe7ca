/** Counts events and lets a caller wait until a count is reached. */
import { withProgressTimeout } from './progress-timeout.js'

export function createCounter() {
  let count = 0
  let target = Number.POSITIVE_INFINITY
  let onReached = () => {}

  return {
    increment() {
      count += 1
      if (count >= target) onReached()
    },
    get count() {
      return count
    },
    /** Only one caller may wait at a time. */
    async waitFor(minimum) {
      if (count >= minimum) return
      await withProgressTimeout(
        () => count,
        (resolve) => {
          target = minimum
          onReached = resolve
        },
      )
      target = Number.POSITIVE_INFINITY
    },
  }
}

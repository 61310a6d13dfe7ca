/** Counts what happens, for those who wait until it has happened so often. */
import { watched } from './watched.js'

export function createTally() {
  let count = 0
  let goal = Number.POSITIVE_INFINITY
  let reached = () => {}

  return {
    add() {
      count += 1
      if (count >= goal) reached()
    },
    get count() {
      return count
    },
    /** One at a time may wait. */
    async reaches(wanted) {
      if (count >= wanted) return
      await watched(
        () => count,
        (resolve) => {
          goal = wanted
          reached = resolve
        },
      )
      goal = Number.POSITIVE_INFINITY
    },
  }
}

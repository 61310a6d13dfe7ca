/** Counts the attempts of this node by minute. */

const MINUTE_MS = 60_000
const MINUTES = 60

/** Attempts in each of the last 60 minutes. */
export interface AttemptRate {
  /** Counts one attempt. @param nowMs wall clock, Unix ms */
  count(nowMs: number): void
  /** Numbers of attempts, oldest first; the last one is that of the present minute. @param nowMs wall clock, Unix ms */
  perMinute(nowMs: number): readonly number[]
}

export function createAttemptRate(): AttemptRate {
  const counts = new Array<number>(MINUTES).fill(0)
  /** The newest minute that has a slot, since 1970. */
  let newest = Number.NEGATIVE_INFINITY

  /** Clears the slots of the minutes since then. A clock that goes back counts in the newest minute. */
  function advance(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    for (let next = Math.max(newest + 1, minute - MINUTES + 1); next <= minute; next++)
      counts[slotOf(next)] = 0
    newest = Math.max(newest, minute)
  }

  const slotOf = (minute: number) => ((minute % MINUTES) + MINUTES) % MINUTES

  return {
    count(nowMs) {
      advance(nowMs)
      counts[slotOf(newest)]! += 1
    },
    perMinute(nowMs) {
      advance(nowMs)
      return Array.from({ length: MINUTES }, (_, index) => counts[slotOf(newest - MINUTES + 1 + index)]!)
    },
  }
}

/** A head that waits, as a claim sees it. */
export interface Head {
  readonly retry: boolean
  readonly dueMs: number
  readonly position: number
  readonly id: string
  readonly ctid: string
}

/** What one endpoint has due, and how much of it may be taken. */
export interface Share {
  readonly heads: readonly Head[]
  readonly room: number
  readonly retriesFirst: boolean
  /** Of a probed endpoint one at most, the one that is due longest. */
  readonly probed: boolean
}

const byDueTime = (a: Head, b: Head) => a.dueMs - b.dueMs || a.position - b.position

/**
 * Which heads of an endpoint are claimed: first attempts get half of the room, what either kind leaves free goes to the
 * other. As the memory store takes them.
 *
 * @param now store time, ms
 */
export function takenOf({ heads, room, retriesFirst, probed }: Share, now: number): readonly Head[] {
  const due = heads.filter(({ dueMs }) => dueMs <= now).sort(byDueTime)
  if (room <= 0 || due.length === 0) return []
  if (probed) return [oldestOf(due)]
  const firsts = due.filter(({ retry }) => !retry)
  const retries = due.filter(({ retry }) => retry)
  const half = Math.min(firsts.length, retriesFirst ? Math.floor(room / 2) : Math.ceil(room / 2))
  const retried = Math.min(retries.length, room - half)
  return [...firsts.slice(0, half), ...retries.slice(0, retried), ...firsts.slice(half, room - retried)]
}

/** Of those due at the same moment a retry. */
function oldestOf(due: readonly Head[]): Head {
  const [first] = due
  return due.find(({ retry, dueMs }) => retry && dueMs === first!.dueMs) ?? first!
}

import type { Doors } from './session-doors.js'
import { OLD_SNAPSHOTS, type OldSnapshotRow } from './sql/snapshots.js'

const EVERY_MS = 60_000
/** Said again after so long. */
const SAID_FOR_MS = 600_000

/**
 * Says when a session holds an old snapshot: a forgotten transaction, a long report. While it does, no dead row can be
 * removed, and every claim reads more of them: it was measured at three times slower after half a minute. What cannot be
 * seen (another role's sessions, without `pg_read_all_stats`) is not said.
 *
 * @param everyMs how often is looked, and from which age on a snapshot is old
 * @returns the way to stop
 */
export function watchSnapshots(
  { session, log }: Pick<Doors, 'session' | 'log'>,
  everyMs = EVERY_MS,
): () => void {
  let quietUntilMs = Number.NEGATIVE_INFINITY

  let looking = false

  async function look(): Promise<void> {
    if (performance.now() < quietUntilMs) return
    const [oldest] = await session.query<OldSnapshotRow>(OLD_SNAPSHOTS, [everyMs / 1000])
    if (!oldest) return
    quietUntilMs = performance.now() + SAID_FOR_MS
    const { pid, application, seconds } = oldest
    log.warn(
      { pid, application, seconds },
      'a session of this PostgreSQL database holds an old snapshot: deliveries slow down until it ends',
    )
  }

  const timer = setInterval(() => {
    // An outage is said by those who work.
    if (looking) return
    looking = true
    look()
      .catch(() => {})
      .finally(() => {
        looking = false
      })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

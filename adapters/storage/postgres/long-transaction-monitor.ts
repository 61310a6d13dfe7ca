/**
 * Warns when a session holds an old snapshot: a forgotten transaction, a long report. Until it ends, VACUUM can remove
 * no dead row and every claim reads more of them: claims were measured three times slower after half a minute. Sessions
 * of other roles are visible only with `pg_read_all_stats`.
 */
import type { Deps } from './session-deps.js'
import { OLDEST_SNAPSHOT, type OldestSnapshotRow } from './sql/long-transactions.js'

const CHECK_EVERY_MS = 60_000
/** Pause after a warning. */
const REPEAT_AFTER_MS = 600_000

/**
 * @param everyMs interval of the checks, and the age from which a snapshot is old
 * @returns a function that stops the checks
 */
export function watchLongTransactions(
  { session, log }: Pick<Deps, 'session' | 'log'>,
  everyMs = CHECK_EVERY_MS,
): () => void {
  let quietUntilMs = Number.NEGATIVE_INFINITY

  let isChecking = false

  async function check(): Promise<void> {
    if (performance.now() < quietUntilMs) return
    const [oldest] = await session.query<OldestSnapshotRow>(OLDEST_SNAPSHOT, [everyMs / 1000])
    if (!oldest) return
    quietUntilMs = performance.now() + REPEAT_AFTER_MS
    const { pid, application, seconds } = oldest
    log.warn(
      { pid, application, seconds },
      'a session of this PostgreSQL database holds an old snapshot: deliveries slow down until it ends',
    )
  }

  const timer = setInterval(() => {
    if (isChecking) return
    isChecking = true
    check()
      // The callers of the store report an outage.
      .catch(() => {})
      .finally(() => {
        isChecking = false
      })
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

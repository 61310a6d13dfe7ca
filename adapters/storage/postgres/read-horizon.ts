/**
 * How far a table may be read upwards without gaps.
 *
 * A position is assigned before its row becomes visible. A reader that passed a row that is not committed yet would
 * never see it, since its cursor has moved on. So this waits for the transactions that were writing to the table when
 * the last position was assigned; later ones get higher positions.
 */
import type { Session } from './session.js'
import { readHorizonStatements, type WriterRow } from './sql/read-horizon.js'

/** Longest wait for a writer. The server ends transactions of ours that last longer. */
const MAX_WAIT_MS = 2_000
const CHECK_EVERY_MS = 2

/** Returns a function that resolves with the highest position that may be read. */
export function readableUpTo(
  session: Session,
  schema: string,
): (table: 'attempt' | 'waiting') => Promise<number> {
  const sql = readHorizonStatements(schema)
  return async (table) => {
    const [last] = await session.query<{ position: number }>(sql.last, [])
    const untilMs = performance.now() + MAX_WAIT_MS
    const writers = async () => {
      const rows = await session.query<WriterRow>(sql.writers, [`${schema}.${table}`])
      return new Set(rows.map(({ writer }) => writer))
    }
    let waitingFor = await writers()
    while (waitingFor.size > 0 && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS))
      const still = await writers()
      waitingFor = new Set([...waitingFor].filter((writer) => still.has(writer)))
    }
    return last!.position
  }
}

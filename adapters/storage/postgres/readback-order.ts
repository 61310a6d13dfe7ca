import type { Session } from './session.js'
import { orderStatements, type WriterRow } from './sql/order.js'

/** Longest wait for one writer; a transaction of ours that lasts longer is being ended by the server. */
const WAIT_MS = 2_000
const LOOK_EVERY_MS = 2

/**
 * Up to which position a table may be read upwards. Positions are given before their rows can be seen: whoever read past
 * one that is not committed yet would never see it, since the cursor has gone by. So this waits for those that were
 * writing when the last position was given; those that come later get higher ones.
 */
export function readableUpTo(
  session: Session,
  schema: string,
): (table: 'attempt' | 'delivery') => Promise<number> {
  const sql = orderStatements(schema)
  return async (table) => {
    const [last] = await session.query<{ position: number }>(sql.last, [])
    const untilMs = performance.now() + WAIT_MS
    const writers = async () => {
      const rows = await session.query<WriterRow>(sql.writers, [`${schema}.${table}`])
      return new Set(rows.map(({ writer }) => writer))
    }
    let waitingFor = await writers()
    while (waitingFor.size > 0 && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      const still = await writers()
      waitingFor = new Set([...waitingFor].filter((writer) => still.has(writer)))
    }
    return last!.position
  }
}

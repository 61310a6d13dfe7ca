/**
 * Recognizes a pooler that gives each transaction any of its server connections (PgBouncer: `pool_mode = transaction`).
 * Prepared statements, settings and LISTEN need one server connection per client.
 */
import { HookswitchError } from 'hookswitch/store'
import type { Connection } from './session-connection.js'

/** A last-in-first-out pooler shows in the first round, a round-robin pooler in the second. */
const ROUNDS = 3

/**
 * Alternates statements and transactions of two clients: without a pooler each of them has one server process, and not that
 * of the other.
 *
 * @param connect reserves a connection
 * @throws HookswitchError `InvalidOption`
 */
export async function refusePooler(connect: () => Promise<Connection>, field: string): Promise<void> {
  const first = await connect()
  try {
    const other = await connect()
    try {
      const ofOne = new Set<number>()
      const ofOther = new Set<number>()
      for (let round = 0; round < ROUNDS; round += 1) {
        ofOne.add(await processOf(first))
        await other.run({ text: 'BEGIN' })
        ofOther.add(await processOf(other))
        ofOne.add(await processOf(first))
        await other.run({ text: 'COMMIT' })
      }
      if (ofOne.size > 1 || ofOther.size > 1 || [...ofOne].some((pid) => ofOther.has(pid)))
        throw pooled(field)
    } finally {
      other.release()
    }
  } finally {
    first.release()
  }
}

async function processOf(connection: Connection): Promise<number> {
  const { rows } = await connection.run({ text: 'select pg_backend_pid() as pid' })
  return Number(rows[0].pid)
}

function pooled(field: string): HookswitchError {
  const sentence =
    'a pooler gives each transaction another connection to PostgreSQL: connect directly, or let it keep one per client (PgBouncer: pool_mode = session)'
  return new HookswitchError('InvalidOption', sentence, { field })
}

/**
 * Opens a separate connection and sends a query, to find out whether the server answers. A server or pooler that has just opened
 * the connection answers, even if the query must wait there: a pooler may have no more connections than the store uses.
 */
import { createPool, type PostgresClient } from './session-pool.js'

/**
 * Longest wait for a connection, ms: as long as that of the store, which would else be refused for ever by a server whose
 * connections take longer to open.
 */
const CONNECT_WITHIN_MS = 5_000
/** Longest wait for the answer, ms. */
const ANSWER_WITHIN_MS = 1_000

interface Question {
  /** Resolves to whether the server has answered, in whatever way. Never rejects. */
  ask(): Promise<boolean>
  /** Closes the connection. */
  close(): Promise<void>
}

/** Connects when it asks; a connection that is not used is closed. */
export async function createQuestion(connection: {
  readonly connectionString: string
  readonly ssl?: boolean | object
}): Promise<Question> {
  const pool = await createPool({ ...connection, maxConnections: 1, connectWithinMs: CONNECT_WITHIN_MS })
  // Without a listener the error of an idle connection would end the process.
  pool.on('error', () => {})
  const known = new WeakSet<PostgresClient>()
  return {
    async ask() {
      try {
        const client = await pool.connect()
        const isNew = !known.has(client)
        known.add(client)
        const ignore = () => {}
        client.on('error', ignore)
        const failure = await answer(client).catch((thrown: Error) => thrown)
        client.removeListener('error', ignore)
        client.release(failure)
        return failure === undefined || isNew || isAnswer(failure)
      } catch (thrown) {
        return isAnswer(thrown)
      }
    },
    close: () => pool.end(),
  }
}

function answer(client: PostgresClient): Promise<undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('timeout')), ANSWER_WITHIN_MS)
    client
      .query({ text: 'select 1' })
      .then(() => resolve(undefined), reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Errors of the server, and of a machine on which none runs: calls then fail at once by themselves. */
function isAnswer(thrown: unknown): boolean {
  const { message, code } = (thrown ?? {}) as { message?: unknown; code?: unknown }
  return !/timeout/i.test(String(message)) && code !== 'ETIMEDOUT' && code !== 'EHOSTUNREACH'
}

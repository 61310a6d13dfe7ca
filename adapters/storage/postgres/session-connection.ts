import { NoAnswer, NoConnection } from './errors.js'
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './session-pool.js'

/** How connections are used. */
export interface ConnectionOptions {
  /** Most milliseconds for a connection, waiting for a free one included. */
  readonly connectWithinMs: number
  /** Most milliseconds for the answer to one statement; after that the connection is given up. */
  readonly answerWithinMs: number
  /** Run once on each new connection; `undefined` on those of the host, whose settings are its own. */
  readonly setUp: string | undefined
  /** Connections are closed after use: their settings are for nobody else. */
  readonly disposable?: boolean
}

/** A connection that is ours until it is released. */
export interface Connection {
  run(query: PostgresQuery): Promise<PostgresResult>
  /** Hears what the server says unasked. */
  readonly client: PostgresClient
  /** With an error: destroyed. */
  release(error?: Error): void
}

/** How often a server without a free connection, or one that starts, is asked again. */
const ASK_AGAIN_MS = 100

/**
 * The connections of a pool, each with a bound on every answer.
 *
 * A host that vanished without a word (half-open TCP) leaves all connections of the pool dead at once: when one of them
 * does not answer, those opened before it was asked are not used again.
 */
export function connections(pool: PostgresPool, options: ConnectionOptions) {
  /** Raised when an answer stays away. */
  let era = 0
  const eras = new WeakMap<PostgresClient, number>()

  const run = (client: PostgresClient, query: PostgresQuery) =>
    answerWithin(client, query, options.answerWithinMs, () => {
      era += 1
    })

  async function prepared(client: PostgresClient): Promise<boolean> {
    const made = eras.get(client)
    if (made !== undefined) return made === era
    const since = era
    if (options.setUp !== undefined) await run(client, { text: options.setUp })
    eras.set(client, since)
    return true
  }

  async function take(): Promise<Connection> {
    for (;;) {
      const client = await connectWithin(pool, options.connectWithinMs)
      // A connection that breaks while it is ours says so to whoever waits for an answer; without this, to the process.
      const heard = () => {}
      client.on('error', heard)
      const release = (error?: Error) => {
        client.removeListener('error', heard)
        client.release(error ?? options.disposable)
      }
      try {
        if (await prepared(client)) return { client, run: (query) => run(client, query), release }
      } catch (thrown) {
        release(thrown as Error)
        throw thrown
      }
      release(new Error('of a server that does not answer'))
    }
  }

  return {
    /** A connection; waits a while where the server has none to give at this moment. */
    async connect(): Promise<Connection> {
      const untilMs = performance.now() + options.connectWithinMs
      for (;;) {
        try {
          return await take()
        } catch (thrown) {
          const again = mayComeFree(thrown) && performance.now() + ASK_AGAIN_MS < untilMs
          if (!again) throw thrown
          await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
        }
      }
    },
  }
}

/** A pool of the host may wait for ever. What it gives too late is given back. */
function connectWithin(pool: PostgresPool, withinMs: number): Promise<PostgresClient> {
  return new Promise((resolve, reject) => {
    let late = false
    const timer = setTimeout(() => {
      late = true
      reject(new NoConnection())
    }, withinMs + GRACE_MS)
    pool.connect().then(
      (client) => {
        clearTimeout(timer)
        if (late) client.release()
        else resolve(client)
      },
      (thrown: unknown) => {
        clearTimeout(timer)
        reject(thrown)
      },
    )
  })
}

/** `too_many_connections`, `cannot_connect_now`. */
function mayComeFree(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return code === '53300' || code === '57P03'
}

/** What arrived while a busy process did not look is read within this time. */
const GRACE_MS = 100

function answerWithin(
  client: PostgresClient,
  query: PostgresQuery,
  withinMs: number,
  onSilence: () => void,
): Promise<PostgresResult> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      onSilence()
      reject(new NoAnswer(withinMs))
    }
    // Timers run before sockets are read: after the host blocked its process for long, the answer may be there.
    let timer = setTimeout(() => {
      timer = setTimeout(giveUp, GRACE_MS)
    }, withinMs)
    client.query(query).then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (thrown: unknown) => {
        clearTimeout(timer)
        reject(thrown)
      },
    )
  })
}

/** Acquires connections of a pool, sets them up once, puts a time limit on every answer, and notices a failover. */
import { AnswerTimeout, ConnectTimeout, isAnswerTimeout, ServerRecovering, ServerReplaced } from './errors.js'
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresResult } from './session-pool.js'
import { ASK_AFTER_MS, type SilenceWatch } from './silence-watch.js'

interface ConnectionOptions {
  /** Longest wait for a connection, in milliseconds, including the wait for a free one. */
  readonly connectWithinMs: number
  /** Timeout for the response to one statement, in milliseconds; then the connection is discarded. */
  readonly answerWithinMs: number
  /** Runs once on each new connection of the store's own pool. */
  readonly setUpSql?: string | undefined
  /**
   * Runs once on each new connection of a host's pool, whose settings stay as they are. Its row says in `usual` whether
   * statements mean the same there as under ours.
   */
  readonly checkSql?: string | undefined
  /** Called when a connection leads to another server than the ones before. Absent: not checked. */
  readonly onServerReplaced?: (() => void) | undefined
  /** Tells when the server is silent. Absent: only the time limits do. */
  readonly silence?: SilenceWatch | undefined
  /** Closes each connection after one use, so that no other user of the pool gets its settings. Default false. */
  readonly isSingleUse?: boolean
}

/** A connection, reserved until it is released. */
export interface Connection {
  /** Rejects with `ServerReplaced` if another server has taken over when the answer comes: what it says may be lost. */
  run(query: PostgresQuery): Promise<PostgresResult>
  /** For notifications. */
  readonly client: PostgresClient
  /** Statements run in a transaction alone, which has settings of its own. */
  readonly needsTransaction: boolean
  /** With an error, the connection is destroyed. */
  release(error?: Error): void
}

/** The timeline of the write-ahead log: a standby that is promoted begins another one. A standby has none. */
const TIMELINE = `select case when not pg_is_in_recovery()
  then left(pg_walfile_name(pg_current_wal_lsn()), 8) else '' end as timeline`
/** Pause before a new attempt while the server has no free connection, or is starting. */
const RETRY_MS = 100

/**
 * Gives out connections of a pool, each with a time limit on every answer.
 *
 * A host that vanishes without closing its sockets (half-open TCP) leaves all connections of the pool dead at once:
 * after one of them failed to answer, those that were opened before that statement are not used again. Nor are those to a
 * server that another one has replaced.
 */
export function createConnector(pool: PostgresPool, options: ConnectionOptions) {
  /** Raised when an answer does not come in time, and when another server has taken over. */
  let generation = 0
  /** How often another server has taken over. */
  let replacements = 0
  let timeline: string | undefined
  let hasTimeline = true
  const generations = new WeakMap<PostgresClient, number>()
  /** Connections with other settings than the usual ones. */
  const unusual = new WeakSet<PostgresClient>()

  const { silence } = options

  const runOn = async (client: PostgresClient, query: PostgresQuery) => {
    try {
      const result = await waitFor(() => client.query(query), options.answerWithinMs, silence)
      silence?.answered()
      return result
    } catch (thrown) {
      if (isAnswerTimeout(thrown)) generation += 1
      throw thrown
    }
  }

  /** Sets up a new connection; false for one of an earlier generation. */
  async function isUsable(client: PostgresClient): Promise<boolean> {
    const opened = generations.get(client)
    if (opened !== undefined) return opened === generation
    const current = generation
    if (options.setUpSql !== undefined) await runOn(client, { text: options.setUpSql })
    if (options.checkSql !== undefined) {
      const { rows } = await runOn(client, { text: options.checkSql })
      if (rows[0]?.usual === false) unusual.add(client)
    }
    if (options.onServerReplaced) await checkTimeline(client, options.onServerReplaced)
    generations.set(client, current)
    return true
  }

  /** Refuses standbys too: one that is promoted later keeps its connections, on which nobody would notice. */
  async function checkTimeline(client: PostgresClient, onServerReplaced: () => void): Promise<void> {
    if (!hasTimeline) return
    let rows: readonly unknown[]
    try {
      ;({ rows } = await runOn(client, { text: TIMELINE }))
    } catch (thrown) {
      // A server that has no write-ahead log of its own, as some managed ones, loses no commits in a failover.
      const { code } = (thrown ?? {}) as { code?: unknown }
      if (typeof code !== 'string' || !/^(0A|42|22)...$/.test(code)) throw thrown
      hasTimeline = false
      return
    }
    const [{ timeline: found }] = rows as [{ timeline: string }]
    if (found === '') throw new ServerRecovering()
    if (found === timeline) return
    const isFirst = timeline === undefined
    timeline = found
    if (isFirst) return
    generation += 1
    replacements += 1
    onServerReplaced()
    throw new ServerReplaced()
  }

  /** Refuses every connection to a server that has taken over since the caller began. */
  async function acquire(replacementsBefore: number): Promise<Connection> {
    for (;;) {
      silence?.check()
      const client = await connectWithTimeout(pool, options.connectWithinMs, silence)
      // The error of a connection that breaks reaches the pending query; without a listener it would end the process
      // too.
      const ignore = () => {}
      client.on('error', ignore)
      const release = (error?: Error) => {
        client.removeListener('error', ignore)
        client.release(error ?? options.isSingleUse)
      }
      const run = async (query: PostgresQuery) => {
        const result = await runOn(client, query)
        if (replacements !== replacementsBefore) throw new ServerReplaced()
        return result
      }
      try {
        if (await isUsable(client)) {
          if (replacements !== replacementsBefore) throw new ServerReplaced()
          return { client, run, release, needsTransaction: unusual.has(client) }
        }
      } catch (thrown) {
        release(thrown as Error)
        throw thrown
      }
      release(new Error('of a server that does not answer, or that was replaced'))
    }
  }

  return {
    /** The timeline of the server's log; `undefined`: unknown. */
    get timeline() {
      return timeline
    },
    /** How often another server has taken over (`connect`). */
    get replacements() {
      return replacements
    },
    /**
     * Retries within `connectWithinMs` while the server has no connection to give. Rejects with `ServerReplaced` if
     * `replacementsBefore`, which the caller read before it decided what to send, is not the number any more.
     */
    async connect(replacementsBefore: number): Promise<Connection> {
      const untilMs = performance.now() + options.connectWithinMs
      for (;;) {
        try {
          return await acquire(replacementsBefore)
        } catch (thrown) {
          const mayRetry = isTransientRefusal(thrown) && performance.now() + RETRY_MS < untilMs
          if (!mayRetry) throw thrown
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        }
      }
    },
  }
}

/** A host's pool may have no timeout. A connection that comes too late is returned to it. */
async function connectWithTimeout(
  pool: PostgresPool,
  withinMs: number,
  silence: SilenceWatch | undefined,
): Promise<PostgresClient> {
  const connecting = pool.connect()
  try {
    return await waitFor(() => connecting, withinMs, silence)
  } catch (thrown) {
    if (!isAnswerTimeout(thrown)) throw thrown
    connecting.then(
      (client) => client.release(),
      () => {},
    )
    throw thrown instanceof AnswerTimeout ? new ConnectTimeout() : thrown
  }
}

/** `too_many_connections`, `cannot_connect_now`. */
function isTransientRefusal(thrown: unknown): boolean {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return code === '53300' || code === '57P03'
}

/** Time to read an answer that arrived while the process was busy. */
const GRACE_MS = 100

/**
 * Waits for an answer of the server. Rejects with `AnswerTimeout` after `withinMs`, with `ServerSilent` once the server is known
 * to be silent.
 */
function waitFor<Answer>(
  call: () => Promise<Answer>,
  withinMs: number,
  silence: SilenceWatch | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let endWait: (() => void) | undefined
    let timer: NodeJS.Timeout
    // Timers run before sockets are read: after the host blocked its process for long, the answer may be there already.
    const giveUpAfter = (ms: number) => {
      timer = setTimeout(() => {
        timer = setTimeout(() => {
          endWait?.()
          reject(new AnswerTimeout(withinMs))
        }, GRACE_MS)
      }, ms)
    }
    const suspect = (watch: SilenceWatch) => {
      giveUpAfter(withinMs - ASK_AFTER_MS)
      endWait = watch.suspect((thrown) => {
        clearTimeout(timer)
        reject(thrown)
      })
    }
    if (silence && withinMs > ASK_AFTER_MS) timer = setTimeout(suspect, ASK_AFTER_MS, silence)
    else giveUpAfter(withinMs)
    const end = () => {
      clearTimeout(timer)
      endWait?.()
    }
    call().then(
      (answer) => {
        end()
        resolve(answer)
      },
      (thrown: unknown) => {
        end()
        reject(thrown)
      },
    )
  })
}

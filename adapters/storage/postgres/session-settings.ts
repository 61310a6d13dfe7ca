interface Options {
  /** Most milliseconds for the answer to one statement. */
  readonly answerWithinMs: number
  readonly hot?: boolean
}

/**
 * Statements are planned once for a connection, under a generic plan, so that the plan is the one that was looked at
 * (`EXPLAIN`) and not a guess at this minute's values. Compiling plans (JIT) costs more than any of them saves.
 */
const PLANNING = ['plan_cache_mode = force_generic_plan', 'jit = off']

/**
 * Each statement on the way of an event is a walk over indexes, row by row. While a table is new, or has just been
 * filled, its figures would say that reading it whole is cheaper, and the plan would stay.
 */
const ROW_BY_ROW = ['enable_seqscan = off', 'enable_hashjoin = off', 'enable_mergejoin = off']

/** A server notices a node that vanished after 60 s, not after two hours. */
const KEEP_ALIVE = ['tcp_keepalives_idle = 30', 'tcp_keepalives_interval = 10', 'tcp_keepalives_count = 3']

/** Those of a connection of our own. */
export function settingsOfSession(options: Options): string {
  return said('SET', [...settings(options), ...KEEP_ALIVE])
}

/** Those of one transaction, on a connection of the host's. */
export function settingsOfTransaction(options: Options): string {
  return said('SET LOCAL', settings(options))
}

/** A connection whose node vanished lets go of its locks when its transaction was idle for too long. */
function settings({ answerWithinMs, hot = false }: Options): readonly string[] {
  return [
    `statement_timeout = ${Math.ceil(answerWithinMs * 0.9)}`,
    `idle_in_transaction_session_timeout = ${answerWithinMs}`,
    ...PLANNING,
    ...(hot ? ROW_BY_ROW : []),
  ]
}

function said(how: string, settings: readonly string[]): string {
  return settings.map((setting) => `${how} ${setting}`).join('; ')
}

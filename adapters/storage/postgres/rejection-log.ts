/** Logs what the server says about a statement that it rejects: errors for callers have a sentence of ours. */
import type { Log } from 'hookswitch/store'

/** The fields of an error of the server that name no value of a row. */
export interface Rejection {
  readonly sqlState: string
  /** The server's sentence; absent where it may quote a value. */
  readonly message?: string
  readonly schema?: string
  readonly table?: string
  readonly column?: string
  readonly constraint?: string
}

/** A rejection with the same SQLSTATE is logged once in this time. */
const INTERVAL_MS = 10_000
/** The server quotes names, which may be long. */
const MAX_MESSAGE_LENGTH = 300

/**
 * SQLSTATEs whose sentences quote what was given: values (class 22), and whatever a trigger of the operator says (P0). The detail
 * of an error, which has whole rows, is never read.
 */
const QUOTES_VALUES = /^(22|P0)/

/** The five characters of an SQLSTATE. */
export const SQLSTATE = /^[0-9A-Z]{5}$/

/** Reads what `pg` throws; `undefined`: it is no error of the server. */
export function rejectionOf(thrown: unknown): Rejection | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  const fields = thrown as Readonly<Record<string, unknown>>
  const { code: sqlState, message } = fields
  // Codes of the operating system may look the same: `EPIPE`.
  if (typeof sqlState !== 'string' || !SQLSTATE.test(sqlState) || 'syscall' in fields) return undefined
  const named = ['schema', 'table', 'column', 'constraint'].flatMap((name) =>
    typeof fields[name] === 'string' ? [[name, fields[name]] as const] : [],
  )
  const isSafe = typeof message === 'string' && !QUOTES_VALUES.test(sqlState)
  return {
    sqlState,
    ...(isSafe ? { message: message.slice(0, MAX_MESSAGE_LENGTH) } : {}),
    ...Object.fromEntries(named),
  }
}

/**
 * Creates the function that logs rejections.
 *
 * @param now monotonic time, milliseconds
 */
export function createRejectionLog(log: Log, now: () => number): (rejection: Rejection) => void {
  const loggedAt = new Map<string, number>()
  return (rejection) => {
    const { sqlState } = rejection
    const last = loggedAt.get(sqlState)
    const at = now()
    if (last !== undefined && at - last < INTERVAL_MS) return
    loggedAt.set(sqlState, at)
    log.warn({ ...rejection }, 'PostgreSQL rejected a statement')
  }
}

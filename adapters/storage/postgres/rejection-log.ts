/** Reads what the server says about a statement that it rejects, for the log: errors for callers have a sentence of ours. */

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

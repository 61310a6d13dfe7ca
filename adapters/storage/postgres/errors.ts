/**
 * Translates what the driver throws into a `HookswitchError` (sentences: `error-messages.ts`). The driver's own error
 * never leaves the store: it refers to the client, and with it to the password.
 */
import { type ErrorCode, HookswitchError } from 'hookswitch/store'
import { MESSAGES_BY_DRIVER_ERROR, MESSAGES_BY_SQLSTATE } from './error-messages.js'
import { type Rejection, rejectionOf, SQLSTATE } from './rejection-log.js'

/** A failed attempt to use the server. */
export interface Failure {
  /** For the caller. */
  readonly error: HookswitchError
  /** PostgreSQL's SQLSTATE; `undefined`: the error did not come from the server. */
  readonly sqlState: string | undefined
  /** What the server said; `undefined`: the error did not come from it. */
  readonly rejection?: Rejection | undefined
  /** The connection can no longer be used. */
  readonly isConnectionLost: boolean
  /** The pool handed out a dead connection: the server received no statement. */
  readonly isStaleConnection?: boolean
}

/** What `pg` and its sockets throw. */
interface DriverError {
  readonly message?: unknown
  readonly code?: unknown
  readonly constraint?: unknown
}

const outcomeUnknown = new WeakSet<object>()
const constraints = new WeakMap<object, string>()

/** Whether the statement may have been carried out: the connection was lost while the server answered. */
export function isOutcomeUnknown(error: unknown): boolean {
  return typeof error === 'object' && error !== null && outcomeUnknown.has(error)
}

export function markOutcomeUnknown(error: HookswitchError): HookswitchError {
  outcomeUnknown.add(error)
  return error
}

/** SQLSTATE of an error that the server reported. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = ((error as { cause?: unknown } | null)?.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && SQLSTATE.test(code) ? code : undefined
}

/** Classes of SQLSTATE that blame the data: malformed, against a constraint or a trigger, too long for an index. */
export const isDataError = (state: string | undefined) =>
  state !== undefined && /^(22|23|44|54|P0)/.test(state)

/** Name of the constraint that rejected a row. */
export function constraintOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? constraints.get(error) : undefined
}

/** The server did not answer a statement in time. */
export class AnswerTimeout extends Error {
  constructor(withinMs: number) {
    super(`no answer within ${withinMs} ms`)
    this.name = 'AnswerTimeout'
  }
}

/** The server has been silent for longer than a question to it may take (`silence-watch.ts`). */
export class ServerSilent extends Error {
  constructor() {
    super('the server is silent')
    this.name = 'ServerSilent'
  }
}

export function isAnswerTimeout(thrown: unknown): boolean {
  return thrown instanceof AnswerTimeout || thrown instanceof ServerSilent
}

/** The pool did not give a connection in time. */
export class ConnectTimeout extends Error {
  constructor() {
    // The sentence of pg's own pool.
    super('timeout exceeded when trying to connect')
    this.name = 'ConnectTimeout'
  }
}

/** A connection leads to a server that was promoted since the last one was opened. */
export class ServerReplaced extends Error {
  constructor() {
    super('another server has taken over')
    this.name = 'ServerReplaced'
  }
}

/** A connection leads to a standby. The code is that of a server that accepts no connections yet, so that connecting is retried. */
export class ServerRecovering extends Error {
  readonly code = '57P03'
  constructor() {
    super('the server is a standby')
    this.name = 'ServerRecovering'
  }
}

interface FailureContext {
  /** There was no connection yet. */
  readonly isConnecting: boolean
  /** While the store opens: the option to blame. Later the same error is an outage. */
  readonly field?: string | undefined
}

/** SQLSTATEs that end the connection: class 08, operator intervention, idle timeouts of a transaction or session. */
const CONNECTION_LOST = /^(08...|57P0.|25P0[34])$/

export function failureOf(thrown: unknown, context: FailureContext): Failure {
  const { message, code, constraint } = (
    typeof thrown === 'object' && thrown !== null ? thrown : {}
  ) as DriverError
  const text = typeof message === 'string' ? message : ''
  const rejection = rejectionOf(thrown)
  const sqlState = rejection?.sqlState
  const [kind, sentence] = messageOf(rejection, typeof code === 'string' ? code : undefined, text, context)
  const error = new HookswitchError(kind, sentence, {
    ...(kind === 'StoreUnavailable' ? { retryAfterSeconds: 1 } : {}),
    ...(kind === 'InvalidOption' && context.field !== undefined ? { field: context.field } : {}),
    cause: safeCause(thrown, rejection ? (rejection.message ?? `SQLSTATE ${sqlState}`) : text, code),
  })
  if (typeof constraint === 'string' && sqlState?.startsWith('23')) constraints.set(error, constraint)
  return {
    error,
    sqlState,
    rejection,
    isConnectionLost: sqlState === undefined || CONNECTION_LOST.test(sqlState),
  }
}

function messageOf(
  rejection: Rejection | undefined,
  code: string | undefined,
  text: string,
  { isConnecting, field }: FailureContext,
): readonly [ErrorCode, string] {
  const sqlState = rejection?.sqlState
  const known =
    sqlState === undefined
      ? MESSAGES_BY_DRIVER_ERROR.find(
          ({ codes, pattern }) => (code !== undefined && codes?.includes(code)) || pattern?.test(text),
        )?.message
      : (MESSAGES_BY_SQLSTATE[sqlState] ?? MESSAGES_BY_SQLSTATE[sqlState.slice(0, 2)])
  // A wrong option while a store opens is an outage in a store that has run for months.
  if (known) {
    const [kind, sentence] = known
    if (field === undefined) return kind === 'InvalidOption' ? ['StoreUnavailable', sentence] : known
    // Whoever starts the store sees no log yet, and no row is written before it is open.
    const isOfSchema = rejection?.message !== undefined && /^(42|3F)/.test(rejection.sqlState)
    return isOfSchema ? [kind, `${sentence} (${sqlState}: ${rejection.message})`] : known
  }
  if (sqlState !== undefined)
    return ['StoreUnavailable', `PostgreSQL rejected a statement (SQLSTATE ${sqlState})`]
  return isConnecting
    ? ['StoreUnavailable', 'no PostgreSQL server answered at this address: check host and port']
    : ['StoreUnavailable', 'the connection to PostgreSQL was lost']
}

/** Only message and code of the driver's error. */
function safeCause(thrown: unknown, text: string, code: unknown): Error {
  const cause = new Error(text === '' && typeof code === 'string' ? code : text)
  cause.name = thrown instanceof Error && thrown.name !== 'error' ? thrown.name : 'PostgresError'
  return typeof code === 'string' ? Object.assign(cause, { code }) : cause
}

import { type ErrorCode, HookswitchError } from 'hookswitch/store'
import { SAID_BY_NODE, SAID_BY_STATE } from './errors-said.js'

/** What went wrong between this store and its server. */
export interface Failure {
  /** What the caller is told. */
  readonly error: HookswitchError
  /** PostgreSQL's five characters; `undefined`: the server said nothing. */
  readonly sqlState: string | undefined
  /** The connection is of no use any more. */
  readonly lost: boolean
  /** True: nothing was asked of the server before. */
  readonly untouched?: boolean
}

/** What `pg` and the sockets under it throw. */
interface Thrown {
  readonly message?: unknown
  readonly code?: unknown
  readonly constraint?: unknown
}

const unsure = new WeakSet<object>()
const constraints = new WeakMap<object, string>()

/** True where nobody knows whether it was written: the connection was lost while the server answered. */
export function isUnsure(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unsure.has(error)
}

export function markUnsure(error: HookswitchError): HookswitchError {
  unsure.add(error)
  return error
}

/** The constraint that refused a row, for the door that knows what it means. */
export function constraintOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? constraints.get(error) : undefined
}

/** Made when the server has not answered in time. */
export class NoAnswer extends Error {
  constructor(withinMs: number) {
    super(`no answer within ${withinMs} ms`)
    this.name = 'NoAnswer'
  }
}

export function isSilence(thrown: unknown): boolean {
  return thrown instanceof NoAnswer
}

/** Made when the pool has given no connection in time. */
export class NoConnection extends Error {
  constructor() {
    // In the words of pg's own pool.
    super('timeout exceeded when trying to connect')
    this.name = 'NoConnection'
  }
}

/** When it went wrong. */
export interface When {
  /** No connection was had yet. */
  readonly connecting: boolean
  /** The option that is wrong, while the store opens; afterwards the same is an outage. */
  readonly field?: string | undefined
}

/** Ended with the connection: class 08, "operator intervention", a session that was idle too long. */
const LOST = /^(08...|57P0.|25P0[34])$/

/**
 * What the driver threw, in words of ours. The driver's own error never leaves the store: it drags the client along,
 * and with it the password.
 */
export function failureOf(thrown: unknown, when: When): Failure {
  const { message, code, constraint } = (
    typeof thrown === 'object' && thrown !== null ? thrown : {}
  ) as Thrown
  const text = typeof message === 'string' ? message : ''
  const sqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
  const [kind, sentence] = said(sqlState, typeof code === 'string' ? code : undefined, text, when)
  const error = new HookswitchError(kind, sentence, {
    ...(kind === 'StoreUnavailable' ? { retryAfterSeconds: 1 } : {}),
    ...(kind === 'InvalidOption' && when.field !== undefined ? { field: when.field } : {}),
    cause: plainCause(thrown, text, code),
  })
  if (typeof constraint === 'string' && sqlState?.startsWith('23')) constraints.set(error, constraint)
  return { error, sqlState, lost: sqlState === undefined || LOST.test(sqlState) }
}

function said(
  sqlState: string | undefined,
  code: string | undefined,
  text: string,
  { connecting, field }: When,
): readonly [ErrorCode, string] {
  const known =
    sqlState === undefined
      ? SAID_BY_NODE.find(({ is, words }) => (code !== undefined && is?.includes(code)) || words?.test(text))
          ?.said
      : (SAID_BY_STATE[sqlState] ?? SAID_BY_STATE[sqlState.slice(0, 2)])
  // What is wrong with the options when a store opens is an outage in one that has run for months.
  if (known)
    return known[0] === 'InvalidOption' && field === undefined ? ['StoreUnavailable', known[1]] : known
  if (sqlState !== undefined)
    return ['StoreUnavailable', `PostgreSQL refused a statement (SQLSTATE ${sqlState})`]
  return connecting
    ? ['StoreUnavailable', 'no PostgreSQL server answered there as one does: check host and port']
    : ['StoreUnavailable', 'the connection to PostgreSQL was lost']
}

/** Message and code alone. */
function plainCause(thrown: unknown, text: string, code: unknown): Error {
  const cause = new Error(text === '' && typeof code === 'string' ? code : text)
  cause.name = thrown instanceof Error && thrown.name !== 'error' ? thrown.name : 'PostgresError'
  return typeof code === 'string' ? Object.assign(cause, { code }) : cause
}

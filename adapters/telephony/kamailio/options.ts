/** Options of `kamailioSource`: validation and defaults. */
import {
  type CheckedSourceOptions,
  checkFunction,
  checkSingleLine,
  checkSourceOptions,
  integerBetween,
  invalidOption,
  type SourceOptions,
} from '../source/options.js'
import type { KamailioAccountOf } from './accounts.js'

/** Options of `kamailioSource`. */
export interface KamailioSourceOptions extends SourceOptions {
  /** Returns the id of a call's account; `accountByDomain` is ready-made. Called with every line until it returns one. */
  readonly accountOf: KamailioAccountOf
  /** Host of Kamailio's `evapi` (its `bind_addr`). Default: none; lines arrive by `handler`, `push` or `lines`. */
  readonly host?: string
  /** Port of `evapi`. Default 8448. */
  readonly port?: number
  /** Timeout for connecting, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /**
   * Required by `handler` as `Authorization: Bearer …`. Default: no authentication; then mount the handler where only
   * the proxy can reach it.
   */
  readonly token?: string
  /**
   * A call that has been open for longer has ended, milliseconds: its end was missed, and a proxy cannot be queried for
   * its open calls. Default 43,260,000 (12 h 1 min), a minute above the longest that Kamailio keeps a dialog by default
   * (`default_timeout` of its module dialog, 43,200 s).
   */
  readonly maxCallMs?: number
}

/** Default of `maxCallMs`. */
export const DEFAULT_MAX_CALL_MS = 43_260_000
/** One second to one year. */
export const checkMaxCallMs = integerBetween(1_000, 31_536_000_000)

/** The options with their defaults. */
export interface CheckedKamailioOptions extends CheckedSourceOptions {
  readonly accountOf: KamailioAccountOf
  /** `undefined`: the source does not connect. */
  readonly evapi:
    | { readonly host: string; readonly port: number; readonly connectTimeoutMs: number }
    | undefined
  readonly token: string | undefined
  readonly maxCallMs: number
}

const CHECKS = {
  accountOf: checkFunction,
  host: checkSingleLine,
  port: integerBetween(1, 65_535),
  connectTimeoutMs: integerBetween(1, 2_147_483_647),
  token: checkSingleLine,
  maxCallMs: checkMaxCallMs,
}

/** @throws `InvalidOption` naming the option */
export function checkKamailioOptions(options: KamailioSourceOptions): CheckedKamailioOptions {
  const shared = checkSourceOptions('kamailioSource', options, CHECKS, ['accountOf'])
  const {
    accountOf,
    host,
    port = 8448,
    connectTimeoutMs = 10_000,
    token,
    maxCallMs = DEFAULT_MAX_CALL_MS,
  } = options
  if (options.port !== undefined && host === undefined)
    throw invalidOption('host', 'is missing: port needs it')
  const evapi = host === undefined ? undefined : { host, port, connectTimeoutMs }
  return { ...shared, accountOf, evapi, token, maxCallMs }
}

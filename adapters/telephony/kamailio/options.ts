/** The options of `kamailioSource`, and their checks. */
import {
  type CheckedSourceOptions,
  callable,
  checkSourceOptions,
  oneLine,
  type SourceOptions,
  whole,
  wrong,
} from '../source/options.js'
import type { KamailioAccountOf } from './accounts.js'

/** Options of `kamailioSource`. */
export interface KamailioSourceOptions extends SourceOptions {
  /** The id of the account that a call belongs to; `accountByDomain` is a ready one. */
  readonly accountOf: KamailioAccountOf
  /** Where Kamailio's `evapi` listens (its `bind_addr`). Default: nowhere; lines come by `handler` or `push`. */
  readonly host?: string
  /** Its port. Default 8448. */
  readonly port?: number
  /** How long connecting may take, milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** What `handler` asks for as `Authorization: Bearer …`. Default: nothing; then mount it where only the proxy comes. */
  readonly token?: string
  /**
   * A call that has been open for so long has ended, milliseconds: its end was missed, for a proxy cannot be asked
   * which calls are open. Default 12 h 1 min, a minute above the longest that Kamailio keeps a dialog by default
   * (`default_timeout` of its module dialog, 43,200 s).
   */
  readonly maxCallMs?: number
}

/** Default of `maxCallMs`. */
export const MAX_CALL_MS = 43_260_000
/** A second to a year. */
export const maxCallMsCheck = whole(1_000, 31_536_000_000)

/** The options with their defaults. */
export interface CheckedKamailioOptions extends CheckedSourceOptions {
  readonly accountOf: KamailioAccountOf
  readonly evapi:
    | { readonly host: string; readonly port: number; readonly connectTimeoutMs: number }
    | undefined
  readonly token: string | undefined
  readonly maxCallMs: number
}

const OWN = {
  accountOf: callable,
  host: oneLine,
  port: whole(1, 65_535),
  connectTimeoutMs: whole(1, 2_147_483_647),
  token: oneLine,
  maxCallMs: maxCallMsCheck,
}

/** @throws `InvalidOption` naming the option */
export function checkKamailioOptions(options: KamailioSourceOptions): CheckedKamailioOptions {
  const shared = checkSourceOptions('kamailioSource', options, OWN, ['accountOf'])
  const { accountOf, host, port = 8448, connectTimeoutMs = 10_000, token, maxCallMs = MAX_CALL_MS } = options
  if (options.port !== undefined && host === undefined) throw wrong('host', 'is missing: port needs it')
  const evapi = host === undefined ? undefined : { host, port, connectTimeoutMs }
  const { publish, limits, maxOpenLegs, log, clock, random } = shared
  return { publish, limits, maxOpenLegs, log, clock, random, accountOf, evapi, token, maxCallMs }
}

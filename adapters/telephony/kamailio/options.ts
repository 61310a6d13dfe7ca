/** Options of `kamailioSource`: validation and defaults. */
import {
  checkFunction,
  checkSingleLine,
  integerBetween,
  optionWithDefault,
  requiredOption,
  type SourceOptions,
} from '../source/options.js'
import type { KamailioAccountOf } from './accounts.js'

/** Options of `kamailioSource`. */
export interface KamailioSourceOptions extends SourceOptions {
  /** Returns the id of a call's account; `accountByDomain` is ready-made. Called with every line until it returns one. */
  readonly accountOf: KamailioAccountOf
  /** Host of Kamailio's `evapi` (its `bind_addr`). Default: none; lines arrive by `handler`, `push` or `lines`. */
  readonly host?: string | undefined
  /** Port of `evapi`. Default 8448. */
  readonly port?: number | undefined
  /** Timeout for connecting, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Required by `handler` as `Authorization: Bearer …`. Default: no authentication; then mount the handler where only
   * the proxy can reach it.
   */
  readonly token?: string | undefined
  /**
   * A call that has been open for longer has ended, milliseconds: its end was missed, and a proxy cannot be queried for
   * its open calls. Default 43,260,000 (12 h 1 min), a minute above the longest that Kamailio keeps a dialog by default
   * (`default_timeout` of its module dialog, 43,200 s).
   */
  readonly maxCallMs?: number | undefined
}

/** The row of `maxCallMs`: one second to one year. */
export const MAX_CALL_OPTION = optionWithDefault(integerBetween(1_000, 31_536_000_000), 43_260_000)

/** The table of `KamailioSourceOptions`. */
export const KAMAILIO_OPTIONS = {
  accountOf: requiredOption(checkFunction),
  host: { check: checkSingleLine },
  port: optionWithDefault(integerBetween(1, 65_535), 8448),
  connectTimeoutMs: optionWithDefault(integerBetween(1, 2_147_483_647), 10_000),
  token: { check: checkSingleLine },
  maxCallMs: MAX_CALL_OPTION,
}

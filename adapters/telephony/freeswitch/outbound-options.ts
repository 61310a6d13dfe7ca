/** The options of `freeswitchOutbound`, their checks and their defaults. */
import {
  type CheckedSourceOptions,
  callable,
  checkSourceOptions,
  oneLine,
  texts,
  whole,
} from '../source/options.js'
import type { FreeswitchFacts } from './facts.js'
import { type FreeswitchOptions, SHARED_CHECKS } from './options.js'

/** Options of `freeswitchOutbound`. */
export interface FreeswitchOutboundOptions extends Omit<FreeswitchOptions, 'silenceMs'> {
  /** Address to listen at. Default `127.0.0.1`. */
  readonly host?: string
  /** Port to listen at; 0: any that is free. Default 8084, FreeSWITCH's own default for `socket`. */
  readonly port?: number
  /**
   * Addresses that may connect: the protocol has no password in this direction, and who connects can make calls up.
   * Default: this machine's own (`127.0.0.1`, `::1`).
   */
  readonly allow?: readonly string[]
  /** Most connections, each of one leg; one more is refused, which is a `problem`. Default 10,000. */
  readonly maxConnections?: number
  /**
   * The dial plan application that each leg goes on with, and its argument: `transfer 2001 XML public`. The dial plan
   * stands still while we are connected, so somebody must say how it goes on. Default: a transfer to where the leg was
   * going, for which the dial plan needs a guard (see `freeswitchOutbound`).
   */
  readonly goOnWith?: (facts: FreeswitchFacts) => string
}

/** The defaults. */
export const OUTBOUND_DEFAULTS = Object.freeze({
  host: '127.0.0.1',
  port: 8084,
  allow: Object.freeze(['127.0.0.1', '::1']) as readonly string[],
  maxConnections: 10_000,
})

const { silenceMs: _, ...CHECKS } = SHARED_CHECKS

/** @throws `InvalidOption` naming the option */
export function checkOutboundOptions(given: FreeswitchOutboundOptions): CheckedSourceOptions {
  return checkSourceOptions(
    'freeswitchOutbound',
    given,
    {
      ...CHECKS,
      host: oneLine,
      port: whole(0, 65_535),
      allow: texts,
      maxConnections: whole(1, 1_000_000),
      goOnWith: callable,
    },
    ['accountOf'],
  )
}

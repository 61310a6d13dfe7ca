/** Options of `freeswitchOutbound`: validation and defaults. */
import { isIP } from 'node:net'
import {
  type CheckedSourceOptions,
  checkFunction,
  checkSingleLine,
  checkSourceOptions,
  checkStrings,
  integerBetween,
  invalidOption,
} from '../source/options.js'
import type { FreeswitchFacts } from './account-resolver.js'
import { type FreeswitchOptions, SHARED_CHECKS } from './options.js'

/** Options of `freeswitchOutbound`. */
export interface FreeswitchOutboundOptions extends Omit<FreeswitchOptions, 'silenceMs'> {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string
  /** Port to listen on; 0: any free port. Default 8084, FreeSWITCH's default for `socket`. */
  readonly port?: number
  /**
   * Addresses that may connect. The protocol has no password in this direction, and a peer can report invented calls.
   * Default: loopback (`127.0.0.1`, `::1`).
   */
  readonly allow?: readonly string[]
  /** Maximum number of connections, one per leg; further ones are refused, with a `problem`. Default 10,000. */
  readonly maxConnections?: number
  /**
   * Returns the dial plan application that continues a leg, with its argument: `transfer 2001 XML public`. The dial plan
   * is suspended while the leg is connected, so it needs such a command. Default: a transfer to the leg's original
   * destination, for which the dial plan needs a guard (see `freeswitchOutbound`).
   */
  readonly continueWith?: (facts: FreeswitchFacts) => string
}

export const OUTBOUND_DEFAULTS = Object.freeze({
  host: '127.0.0.1',
  port: 8084,
  allow: Object.freeze(['127.0.0.1', '::1']) as readonly string[],
  maxConnections: 10_000,
})

const { silenceMs: _, ...CHECKS } = SHARED_CHECKS

/** @throws `InvalidOption` naming the option */
export function checkOutboundOptions(options: FreeswitchOutboundOptions): CheckedSourceOptions {
  return checkSourceOptions(
    'freeswitchOutbound',
    options,
    {
      ...CHECKS,
      host: checkSingleLine,
      port: integerBetween(0, 65_535),
      allow: checkAddresses,
      maxConnections: integerBetween(1, 1_000_000),
      continueWith: checkFunction,
    },
    ['accountOf'],
  )
}

/** Checks for an array of IP addresses: a name would be compared with addresses and never match. */
function checkAddresses(field: string, value: unknown): void {
  checkStrings(field, value)
  if (!(value as readonly string[]).every((address) => isIP(address) !== 0)) {
    throw invalidOption(field, 'must be an array of IP addresses')
  }
}

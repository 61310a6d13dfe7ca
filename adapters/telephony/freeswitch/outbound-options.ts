/** Options of `freeswitchOutbound`: validation and defaults. */
import { isIP } from 'node:net'
import {
  checkFunction,
  checkSingleLine,
  checkStrings,
  integerBetween,
  invalidOption,
  optionWithDefault,
} from '../source/options.js'
import type { FreeswitchFacts } from './account-resolver.js'
import { FREESWITCH_OPTIONS, type FreeswitchOptions } from './options.js'

/** Options of `freeswitchOutbound`. */
export interface FreeswitchOutboundOptions extends FreeswitchOptions {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Port to listen on; 0: any free port. Default 8084, FreeSWITCH's default for `socket`. */
  readonly port?: number | undefined
  /**
   * Addresses that may connect. The protocol has no password in this direction, and a peer can report invented calls.
   * Default: loopback (`127.0.0.1`, `::1`).
   */
  readonly allow?: readonly string[] | undefined
  /** Maximum number of connections, one per leg; further ones are refused, with a `problem`. Default 10,000. */
  readonly maxConnections?: number | undefined
  /**
   * Returns the dial plan application that continues a leg, with its argument: `transfer 2001 XML public`. The dial plan
   * is suspended while the leg is connected, so it needs such a command. Default: a transfer to the leg's original
   * destination, for which the dial plan needs a guard (see `freeswitchOutbound`).
   */
  readonly continueWith?: ((facts: FreeswitchFacts) => string) | undefined
}

/** The table of `FreeswitchOutboundOptions`. */
export const OUTBOUND_OPTIONS = {
  ...FREESWITCH_OPTIONS,
  host: optionWithDefault(checkSingleLine, '127.0.0.1'),
  port: optionWithDefault(integerBetween(0, 65_535), 8084),
  allow: optionWithDefault(checkAddresses, ['127.0.0.1', '::1']),
  maxConnections: optionWithDefault(integerBetween(1, 1_000_000), 10_000),
  continueWith: { check: checkFunction },
}

/** Checks for an array of IP addresses: a name would be compared with addresses and never match. */
function checkAddresses(field: string, value: unknown): void {
  checkStrings(field, value)
  if (!(value as readonly string[]).every((address) => isIP(address) !== 0)) {
    throw invalidOption(field, 'must be an array of IP addresses')
  }
}

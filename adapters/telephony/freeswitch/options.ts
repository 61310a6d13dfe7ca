/** Options of `freeswitchSource`: validation and defaults. */
import { OPTIONAL_HOOKS_OPTION, type OptionalHooksOption } from '../source/optional-hooks.js'
import {
  checkFunction,
  checkHostName,
  checkSingleLine,
  checkStrings,
  integerBetween,
  invalidOption,
  OPEN_LEGS_OPTION,
  type OpenLegsOption,
  oneOf,
  optionWithDefault,
  requiredOption,
  type SourceOptions,
} from '../source/options.js'
import type { FreeswitchAccountOf } from './account-resolver.js'
import type { EventFormat } from './event.js'

/** Options of both modes, inbound (`freeswitchSource`) and outbound (`freeswitchOutbound`). */
export interface FreeswitchOptions extends SourceOptions, OptionalHooksOption {
  /** Returns the id of a leg's account. Called at each event of the leg until it returns one. */
  readonly accountOf: FreeswitchAccountOf
  /**
   * Names of channel variables for `customChannelVars`, beside KAZOO's (`ecallmgr_…`); without `variable_`.
   * Default: none.
   */
  readonly customVariables?: readonly string[] | undefined
  /**
   * Further events to subscribe to, for an `accountOf` that reads the account from them: `CHANNEL_EXECUTE` where the
   * dial plan sets the account and then neither rings nor answers. Default: none.
   */
  readonly extraEvents?: readonly string[] | undefined
  /** How the switch writes events. Default `json`: `plain` loses bytes (a raw `%41` arrives as `A`). */
  readonly format?: EventFormat | undefined
}

/** Options of `freeswitchSource`. */
export interface FreeswitchSourceOptions extends FreeswitchOptions, OpenLegsOption {
  /** Host name or address of the switch. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Port of the event socket. Default 8021. */
  readonly port?: number | undefined
  /** Password of the event socket. Default `ClueCon`, FreeSWITCH's default. */
  readonly password?: string | undefined
  /** Timeout for connecting, and again for logging in, in milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Sends a probe after this many milliseconds without data, and disconnects when it goes unanswered for as long.
   * Default 10,000.
   */
  readonly silenceMs?: number | undefined
}

/** The table of `FreeswitchOptions`. */
export const FREESWITCH_OPTIONS = {
  accountOf: requiredOption(checkFunction),
  customVariables: optionWithDefault(checkStrings, []),
  extraEvents: optionWithDefault(checkEventNames, []),
  ...OPTIONAL_HOOKS_OPTION,
  format: optionWithDefault(oneOf('json', 'plain'), 'json'),
}

/** The table of `FreeswitchSourceOptions`. */
export const FREESWITCH_SOURCE_OPTIONS = {
  ...FREESWITCH_OPTIONS,
  ...OPEN_LEGS_OPTION,
  host: optionWithDefault(checkHostName, '127.0.0.1'),
  port: optionWithDefault(integerBetween(1, 65_535), 8021),
  password: optionWithDefault(checkSingleLine, 'ClueCon'),
  connectTimeoutMs: optionWithDefault(integerBetween(1, 600_000), 10_000),
  silenceMs: optionWithDefault(integerBetween(100, 3_600_000), 10_000),
}

/** The names become part of a command, so nothing but event names may pass. */
function checkEventNames(field: string, value: unknown): void {
  checkStrings(field, value)
  if ((value as readonly string[]).some((name) => !/^[A-Z][A-Z_]*$/.test(name)))
    throw invalidOption(field, 'must be names of FreeSWITCH events: CHANNEL_EXECUTE, …')
}

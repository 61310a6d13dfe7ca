/** The options of `freeswitchSource`, their checks and their defaults. */
import {
  type CheckedSourceOptions,
  callable,
  checkSourceOptions,
  hostName,
  type OptionCheck,
  oneLine,
  oneOf,
  type SourceOptions,
  texts,
  whole,
  wrong,
} from '../source/options.js'
import type { EventFormat } from './event.js'
import type { FreeswitchAccountOf } from './facts.js'

/** What both modes share. */
export interface FreeswitchOptions extends SourceOptions {
  /** The id of the account that a leg belongs to, asked with each event of the leg until it tells. */
  readonly accountOf: FreeswitchAccountOf
  /** Channel variables that go into `customChannelVars`, without `variable_`, beside KAZOO's (`ecallmgr_…`). */
  readonly customVariables?: readonly string[]
  /**
   * Events of the switch to subscribe to beside those that are needed, for an `accountOf` that finds its answer in
   * them: `CHANNEL_EXECUTE` where the dial plan sets the account and then neither rings nor answers. Default: none.
   */
  readonly extraEvents?: readonly string[]
  /** How the switch writes events. Default `json`: `plain` loses bytes (a raw `%41` arrives as `A`). */
  readonly format?: EventFormat
  /** A silence of so long is asked for a sign of life, one of twice so long ends the connection. Default 20,000. */
  readonly silenceMs?: number
}

/** Options of `freeswitchSource`. */
export interface FreeswitchSourceOptions extends FreeswitchOptions {
  /** Host or address of the switch. Default `127.0.0.1`. */
  readonly host?: string
  /** Port of its event socket. Default 8021. */
  readonly port?: number
  /** The event socket's password. Default `ClueCon`, the switch's own. */
  readonly password?: string
  /** How long connecting, and then logging in, may take, milliseconds. Default 10,000. */
  readonly connectTimeoutMs?: number
}

/** The defaults. */
export const FREESWITCH_DEFAULTS = Object.freeze({
  host: '127.0.0.1',
  port: 8021,
  password: 'ClueCon',
  format: 'json' as EventFormat,
  connectTimeoutMs: 10_000,
  silenceMs: 20_000,
})

/** Checks of what both modes share. */
export const SHARED_CHECKS: Readonly<Record<string, OptionCheck>> = {
  accountOf: callable,
  customVariables: texts,
  extraEvents: eventNames,
  format: oneOf('json', 'plain'),
  silenceMs: whole(100, 3_600_000),
}

/** @throws `InvalidOption` naming the option */
export function checkFreeswitchOptions(given: FreeswitchSourceOptions): CheckedSourceOptions {
  return checkSourceOptions(
    'freeswitchSource',
    given,
    {
      ...SHARED_CHECKS,
      host: hostName,
      port: whole(1, 65_535),
      password: oneLine,
      connectTimeoutMs: whole(1, 600_000),
    },
    ['accountOf'],
  )
}

/** Names of events: nothing else may get into the command that subscribes to them. */
function eventNames(field: string, value: unknown): void {
  texts(field, value)
  if ((value as readonly string[]).some((name) => !/^[A-Z][A-Z_]*$/.test(name)))
    throw wrong(field, 'must be names of events of the switch: CHANNEL_EXECUTE, …')
}

/** The options that all sources share, their defaults, and the checks of option values. */
import { isIP } from 'node:net'
import { type ChannelEvent, type Clock, HookswitchError, type Log } from 'hookswitch'
import {
  checkOptionNames,
  type Metrics,
  type OpenLegs,
  type Random,
  systemClock,
  systemRandom,
} from 'hookswitch/adapter'
import type { AccountBufferLimits } from './account-buffer.js'

/** Options of every source. */
export interface SourceOptions {
  /**
   * `hs.publish`, or a function that wraps it; the options name the source. A rejection with `QueueFull`, `StoreUnavailable` or `Closing` is retried
   * until it succeeds or the source is closed; one with `Internal`, or with an error of your own, up to ten times.
   */
  readonly publish: (event: ChannelEvent, options: { readonly source: string }) => Promise<unknown>
  /**
   * How long the events of a leg wait for its account to become known, milliseconds. Default 10,000. Events that wait
   * longer are emitted as `account_unknown`; with FreeSWITCH the data of the leg are queried, and its events wait until it
   * ends.
   */
  readonly accountWaitMs?: number | undefined
  /** Maximum number of open legs. Above it the oldest is dropped and reported as a `problem`. Default 100,000. */
  readonly maxOpenLegs?: number | undefined
  /** The log. Default: none. */
  readonly log?: Log | undefined
  /**
   * Receives the figures of the source, labelled with its switch: the option `metrics` of `createHookswitch`. Default:
   * none.
   */
  readonly metrics?: Pick<Metrics, 'watch'> | undefined
  /** The clock. Default: the system's. */
  readonly clock?: Clock | undefined
  /** The random numbers that jitter reconnects. Default: the system's. */
  readonly random?: Random | undefined
}

/** The option of the sources whose switch can be queried for its open calls. */
export interface OpenLegsOption {
  /**
   * `hs.openLegs`: keeps the open legs in the store. A leg that ends while this process is down then gets its
   * `channel_destroy` at the next start, and later events of the others have their own times. Default: none; open legs
   * are known only while the process runs.
   */
  readonly openLegs?: OpenLegs | undefined
}

/** Limits of the events that wait for an account. */
export const WAITING_LIMITS = Object.freeze({
  /** Maximum number of events of one leg. */
  maxEventsPerLeg: 100,
  /** Maximum number of legs. */
  maxLegs: 10_000,
  /** Maximum number of events of all legs. */
  maxEvents: 100_000,
})

/** The shared options with defaults applied. */
export interface CheckedSourceOptions {
  readonly publish: SourceOptions['publish']
  readonly bufferLimits: AccountBufferLimits
  readonly maxOpenLegs: number
  readonly log: Log | undefined
  readonly metrics: SourceOptions['metrics']
  readonly openLegs: OpenLegs | undefined
  readonly clock: Clock
  readonly random: Random
}

/** Throws `InvalidOption` if the value is invalid. */
type OptionCheck = (field: string, value: unknown) => void

/** The row of an option in the table of a source. */
interface OptionRow {
  readonly check: OptionCheck
  readonly default?: unknown
  readonly isRequired?: true
}

/** The options of a source by name; without a value, the first required one is named. */
type OptionTable = Readonly<Record<string, OptionRow>>

/** An option that every host must set. */
export function requiredOption(check: OptionCheck): {
  readonly check: OptionCheck
  readonly isRequired: true
} {
  return { check, isRequired: true }
}

/** An option with a default. */
export function optionWithDefault<Value>(
  check: OptionCheck,
  value: Value,
): { readonly check: OptionCheck; readonly default: Value } {
  return { check, default: value }
}

/** The values of the options: those that are required or have a default are defined. */
type OptionValues<Options, Table> = {
  readonly [Name in keyof Options]-?: Name extends keyof Table
    ? Table[Name] extends { readonly default: unknown } | { readonly isRequired: true }
      ? Exclude<Options[Name], undefined>
      : Options[Name] | undefined
    : Options[Name] | undefined
}

/** The options of every source. The defaults of `clock` and `random` are created for each source. */
export const SHARED_OPTIONS = {
  publish: requiredOption(checkFunction),
  accountWaitMs: optionWithDefault(integerBetween(0, 86_400_000), 10_000),
  maxOpenLegs: optionWithDefault(integerBetween(1, 10_000_000), 100_000),
  log: { check: hasMethods('debug', 'info', 'warn', 'error') },
  metrics: { check: hasMethods('watch') },
  clock: { check: hasMethods('now', 'monotonic', 'sleep', 'yield') },
  random: { check: hasMethods('bytes', 'fraction') },
} satisfies Record<keyof SourceOptions, OptionRow>

/** The row of `OpenLegsOption`. */
export const OPEN_LEGS_OPTION = { openLegs: { check: hasMethods('write', 'list') } } satisfies OptionTable

/**
 * Checks the options of a source, shared and specific, and applies the defaults.
 *
 * @param factory name of the function that takes the options
 * @param specific the options that only this source has
 * @throws `InvalidOption` with the name of the option
 */
export function checkSourceOptions<Options extends SourceOptions, Table extends OptionTable>(
  factory: string,
  given: Options,
  specific: Table,
): CheckedSourceOptions & OptionValues<Options, typeof SHARED_OPTIONS & Table> {
  const values = checkOptions(factory, given, { ...SHARED_OPTIONS, ...specific })
  return {
    ...values,
    bufferLimits: { ...WAITING_LIMITS, maxWaitMs: values.accountWaitMs },
    clock: values.clock ?? systemClock(),
    random: values.random ?? systemRandom(),
  } as CheckedSourceOptions & typeof values
}

/**
 * Checks options and applies the defaults.
 *
 * @throws `InvalidOption` with the name of the option
 */
export function checkOptions<Options extends object, Table extends OptionTable>(
  factory: string,
  given: Options,
  table: Table,
): OptionValues<Options, Table> {
  checkOptionNames(factory, given ?? null, Object.keys(table))
  const options = given as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) table[name]?.check(name, value)
  }
  const values = Object.entries(table).map(([name, { isRequired, default: fallback }]) => {
    if (isRequired && options[name] === undefined)
      throw invalidOption(name, `is missing: ${factory} needs it`)
    return [name, options[name] ?? fallback]
  })
  return Object.fromEntries(values)
}

/**
 * The option of `close`: how long events that were received may still be published, in milliseconds. Default 5,000.
 *
 * @throws `InvalidOption` naming the option
 */
export function drainMsOf(options: { readonly drainMs?: number | undefined } | undefined): number {
  checkOptionNames('close', options, ['drainMs'])
  const { drainMs = 5_000 } = options ?? {}
  integerBetween(0, 2_147_483_647)('drainMs', drainMs)
  return drainMs
}

/** Creates the error of an invalid option. The message never contains the value, which may be a password. */
export function invalidOption(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field })
}

/** Checks for a function. */
export function checkFunction(field: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidOption(field, 'must be a function')
}

/** Checks for a non-empty string without line breaks, so that it cannot inject a line into a switch's protocol. */
export function checkSingleLine(field: string, value: unknown): void {
  if (typeof value !== 'string' || value === '' || /[\r\n\0]/.test(value)) {
    throw invalidOption(field, 'must be a non-empty string of one line')
  }
}

/** Checks for a host name or an IP address without a port. */
export function checkHostName(field: string, value: unknown): void {
  checkSingleLine(field, value)
  const text = value as string
  if (/[\s/@[\]]/.test(text)) throw invalidOption(field, 'must be a host name or an address')
  if (text.includes(':') && isIP(text) !== 6) {
    throw invalidOption(field, 'must not contain a port: use the option port')
  }
}

/** Returns a check for an integer in a range, both ends included. */
export function integerBetween(min: number, max: number): OptionCheck {
  return (field, value) => {
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      throw invalidOption(field, `must be a whole number from ${min} to ${max}`)
    }
  }
}

/** Returns a check for one of these strings. */
export function oneOf(...values: readonly string[]): OptionCheck {
  return (field, value) => {
    if (!values.includes(value as string))
      throw invalidOption(field, `must be ${values.map((text) => `'${text}'`).join(' or ')}`)
  }
}

/** Checks for an array of non-empty strings. */
export function checkStrings(field: string, value: unknown): void {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string' || item === '')) {
    throw invalidOption(field, 'must be an array of non-empty strings')
  }
}

/** Checks for `true`, `false` or `TlsOptions`. */
export function checkTls(field: string, value: unknown): void {
  if (typeof value === 'boolean') return
  if (typeof value !== 'object' || value === null)
    throw invalidOption(field, 'must be true, false or an object')
  for (const [name, given] of Object.entries(value)) {
    if (name === 'servername') checkHostName(`${field}.servername`, given)
    else if (name !== 'ca')
      throw invalidOption(`${field}.${name}`, 'is not an option: it has ca and servername')
    else checkStrings(`${field}.ca`, typeof given === 'string' ? [given] : given)
  }
}

function hasMethods(...methods: readonly string[]): OptionCheck {
  return (field, value) => {
    const missing = methods.find(
      (method) => typeof (value as Record<string, unknown> | null)?.[method] !== 'function',
    )
    if (missing !== undefined) throw invalidOption(field, `must have a method ${missing}`)
  }
}

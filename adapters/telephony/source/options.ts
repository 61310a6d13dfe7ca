/** The options that all sources share, and their checks. */
import { isIP } from 'node:net'
import {
  type ChannelEvent,
  type Clock,
  HookswitchError,
  type Log,
  type Random,
  systemClock,
  systemRandom,
} from 'hookswitch'
import type { HoldLimits } from './account-hold.js'

/** Options of every source. */
export interface SourceOptions {
  /**
   * `hs.publish`, or a function in front of it. What it rejects with `QueueFull`, `StoreUnavailable` or `Closing` is tried
   * again until it is taken or the source is closed; with `Internal` or an error of your own, ten times.
   */
  readonly publish: (event: ChannelEvent) => Promise<unknown>
  /**
   * How long the events of a leg wait for its account to become known, milliseconds. Default 10,000. What waits longer
   * is given to listeners of `account_unknown`.
   */
  readonly accountWaitMs?: number
  /** Most legs open at once; one more and the oldest is forgotten, which is a `problem`. Default 100,000. */
  readonly maxOpenLegs?: number
  /** Where the source logs; default: nowhere. */
  readonly log?: Log
  /** Time. Default: the machine's. */
  readonly clock?: Clock
  /** Chance: jitter of reconnects. Default: the system's. */
  readonly random?: Random
}

/** Their defaults. */
export const SOURCE_DEFAULTS = Object.freeze({
  accountWaitMs: 10_000,
  maxOpenLegs: 100_000,
  /** Most events of one leg that wait for its account, most legs that do. */
  maxEventsWaiting: 100,
  maxLegsWaiting: 10_000,
})

/** The shared options with their defaults. */
export interface CheckedSourceOptions {
  readonly publish: SourceOptions['publish']
  readonly limits: HoldLimits
  readonly maxOpenLegs: number
  readonly log: Log | undefined
  readonly clock: Clock
  readonly random: Random
}

/** Throws `InvalidOption` for a value that is none. */
export type OptionCheck = (field: string, value: unknown) => void

const SHARED: Readonly<Record<keyof SourceOptions, OptionCheck>> = {
  publish: callable,
  accountWaitMs: whole(0, 86_400_000),
  maxOpenLegs: whole(1, 10_000_000),
  log: doorWith('debug', 'info', 'warn', 'error'),
  clock: doorWith('now', 'monotonic', 'sleep', 'yield'),
  random: doorWith('bytes', 'fraction'),
}

/**
 * Checks the options of a source: the shared ones and its own.
 *
 * @param maker the name of the function that takes them
 * @param own checks of its own options, by name
 * @param required names of those that must be there
 * @throws `InvalidOption` naming the option
 */
export function checkSourceOptions(
  maker: string,
  given: unknown,
  own: Readonly<Record<string, OptionCheck>>,
  required: readonly string[],
): CheckedSourceOptions {
  if (typeof given !== 'object' || given === null) throw wrong('options', `of ${maker} must be an object`)
  const options = given as Readonly<Record<string, unknown>>
  const checks: Readonly<Record<string, OptionCheck>> = { ...SHARED, ...own }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) throw wrong(name, `is not an option of ${maker}`)
    if (value !== undefined) checks[name]?.(name, value)
  }
  for (const name of ['publish', ...required]) {
    if (options[name] === undefined) throw wrong(name, `is missing: ${maker} needs it`)
  }
  const shared = options as unknown as SourceOptions
  return {
    publish: shared.publish,
    limits: {
      holdMs: shared.accountWaitMs ?? SOURCE_DEFAULTS.accountWaitMs,
      maxPerLeg: SOURCE_DEFAULTS.maxEventsWaiting,
      maxLegs: SOURCE_DEFAULTS.maxLegsWaiting,
    },
    maxOpenLegs: shared.maxOpenLegs ?? SOURCE_DEFAULTS.maxOpenLegs,
    log: shared.log,
    clock: shared.clock ?? systemClock(),
    random: shared.random ?? systemRandom(),
  }
}

/** The error of a wrong option; never shows the value, which may be a password. */
export function wrong(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field} ${message}`, { field })
}

/** A function. */
export function callable(field: string, value: unknown): void {
  if (typeof value !== 'function') throw wrong(field, 'must be a function')
}

/** A text that goes on one line: no line may be smuggled into what is said to a switch. */
export function oneLine(field: string, value: unknown): void {
  if (typeof value !== 'string' || value === '' || /[\r\n\0]/.test(value)) {
    throw wrong(field, 'must be a text of one line')
  }
}

/** A host name or address, without a port. */
export function hostName(field: string, value: unknown): void {
  oneLine(field, value)
  const text = value as string
  if (/[\s/@[\]]/.test(text)) throw wrong(field, 'must be a host name or an address')
  if (text.includes(':') && isIP(text) !== 6)
    throw wrong(field, 'must have no port: that is an option of its own')
}

/** A whole number in a range. */
export function whole(least: number, most: number): OptionCheck {
  return (field, value) => {
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
      throw wrong(field, `must be a whole number from ${least} to ${most}`)
    }
  }
}

/** One of these texts. */
export function oneOf(...values: readonly string[]): OptionCheck {
  return (field, value) => {
    if (!values.includes(value as string))
      throw wrong(field, `must be ${values.map((text) => `'${text}'`).join(' or ')}`)
  }
}

/** Texts. */
export function texts(field: string, value: unknown): void {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string' || item === '')) {
    throw wrong(field, 'must be a list of texts')
  }
}

function doorWith(...methods: readonly string[]): OptionCheck {
  return (field, value) => {
    const lacking = methods.find(
      (method) => typeof (value as Record<string, unknown> | null)?.[method] !== 'function',
    )
    if (lacking !== undefined) throw wrong(field, `must have a method ${lacking}`)
  }
}

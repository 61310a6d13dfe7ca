/** The options of the WebSocket service, checked. Pure. */
import { type Clock, HookswitchError, type Log } from 'hookswitch'
import { checkOptionNames, clientAddressResolver, systemClock } from 'hookswitch/adapter'

/** Options of `blackhole`. */
export interface BlackholeOptions {
  /** Open sockets; a handshake above it gets 503. Default 1,000. */
  readonly maxSockets?: number | undefined
  /** Open sockets of one client address, for IPv6 of its /64; a handshake above it gets 429. Default 100. */
  readonly maxSocketsPerAddress?: number | undefined
  /** Bindings of one socket. Default 200. */
  readonly maxBindings?: number | undefined
  /** Largest frame of a client in bytes; a larger one closes its socket with code 1009. Default 65,536. */
  readonly maxFrameBytes?: number | undefined
  /** Bytes that may wait for one client; more closes its socket with code 1013. Default 1,048,576. */
  readonly maxBufferedBytes?: number | undefined
  /** Time without a frame from the client after which its socket is closed, in milliseconds. Default 3,600,000. */
  readonly idleMs?: number | undefined
  /** Addresses and networks (CIDR) of proxies whose `X-Forwarded-For` names the client's address. Default: none. */
  readonly trustProxy?: readonly string[] | undefined
  /** The log. Default: none. */
  readonly log?: Log | undefined
  /** The clock. Default: the system's. */
  readonly clock?: Clock | undefined
}

/** Options with their defaults. */
export interface BlackholeSettings {
  readonly maxSockets: number
  readonly maxSocketsPerAddress: number
  readonly maxBindings: number
  readonly maxFrameBytes: number
  readonly maxBufferedBytes: number
  readonly idleMs: number
  /** Address of a client, by that of its connection and `X-Forwarded-For`. */
  readonly addressOf: ReturnType<typeof clientAddressResolver>
  readonly log: Log | undefined
  readonly clock: Clock
}

/** Default, minimum and maximum of the options that are numbers. */
const NUMBERS = {
  maxSockets: [1_000, 1, 1_000_000],
  maxSocketsPerAddress: [100, 1, 1_000_000],
  maxBindings: [200, 1, 100_000],
  maxFrameBytes: [65_536, 1_024, 1_048_576],
  maxBufferedBytes: [1_048_576, 131_072, 1_073_741_824],
  idleMs: [3_600_000, 1_000, 2_147_483_647],
} as const

type NumberOption = keyof typeof NUMBERS

const NAMES = [...(Object.keys(NUMBERS) as NumberOption[]), 'trustProxy', 'log', 'clock'] as const

/** @throws HookswitchError `InvalidOption` naming the option */
export function checkBlackholeOptions(options: BlackholeOptions): BlackholeSettings {
  checkOptionNames('blackhole', options, NAMES)
  const { trustProxy = [], log, clock = systemClock() } = options
  if (!Array.isArray(trustProxy)) throw invalid('trustProxy', 'must be a list of addresses and networks')
  if (!hasMethods(log ?? { debug() {}, info() {}, warn() {}, error() {} }, LOG_METHODS)) {
    throw invalid('log', `must have the methods ${LOG_METHODS.join(', ')}`)
  }
  if (!hasMethods(clock, CLOCK_METHODS)) {
    throw invalid('clock', `must have the methods ${CLOCK_METHODS.join(', ')}`)
  }
  const numbers = Object.fromEntries(
    (Object.keys(NUMBERS) as NumberOption[]).map((name) => [name, numberOf(name, options[name])]),
  ) as Record<NumberOption, number>
  return { ...numbers, addressOf: clientAddressResolver(trustProxy), log, clock }
}

const LOG_METHODS = ['debug', 'info', 'warn', 'error']
const CLOCK_METHODS = ['now', 'monotonic', 'sleep', 'yield']

const hasMethods = (value: unknown, names: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')

function numberOf(name: NumberOption, value: number | undefined): number {
  const [standard, minimum, maximum] = NUMBERS[name]
  if (value === undefined) return standard
  if (Number.isSafeInteger(value) && value >= minimum && value <= maximum) return value
  throw invalid(name, `must be an integer from ${minimum} to ${maximum}`)
}

function invalid(name: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${name} ${problem}`, { field: name })
}

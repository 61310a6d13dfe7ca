import type { Directory } from './accounts/directory.js'
import { LIVE_TOKEN_DEFAULTS } from './auth/live-tokens.js'
import { LOGIN_LIMIT_DEFAULTS } from './auth/login-limits.js'
import type { POLICY_PRESETS, PolicyFunction, RetryPolicy } from './delivery/policy.js'
import {
  anything,
  type Check,
  door,
  flag,
  functions,
  invalid,
  number,
  oneOf,
  origins,
  texts,
  whole,
} from './option-checks.js'
import { addressPolicyOf, checkedCatalogue, policyOf } from './option-values.js'
import type { Clock, Log, Random, Resolver, Sender } from './ports.js'
import type { CompiledPolicy } from './values/address-policy.js'
import type { CatalogueEntry, CustomHook } from './webhooks/catalogue.js'
import { HEALTH_PRESETS, type HealthRules } from './webhooks/health.js'
import type { BodyFormat } from './webhooks/webhook.js'

/** Options of `createHookswitch`; all but `store` are optional. Unknown keys throw. */
export interface HookswitchOptions<AStore> {
  /** Where everything is kept: `memoryStore()` to begin with. */
  readonly store: AStore
  /** The host's own accounts. Default: those in the store, managed by `hs.accounts`. */
  readonly directory?: Directory
  /**
   * The key for secrets at rest, at least 16 characters; of a list the first encrypts, all decrypt. Default: the
   * environment's `HOOKSWITCH_SECRET`, else the store's own; the memory store makes one that dies with it.
   */
  readonly secret?: string | readonly string[]
  /** Seconds that a token lives. Default 86,400: one day (the specification, section 8). */
  readonly tokenTtlSeconds?: number
  /** Tokens kept in memory in front of the store. Default 10,000. */
  readonly tokenCacheSize?: number
  /** Logins at once from one address. Default 100. */
  readonly loginBurst?: number
  /** Logins a second from one address in the long run. Default 10. */
  readonly loginRefillPerSecond?: number
  /** When failed deliveries are tried again. Default `telephony`: 2 s × 3^n, at most 10 min, ±20 %. */
  readonly retryPolicy?: RetryPolicy | keyof typeof POLICY_PRESETS
  /** Functions that policies of kind `custom` name. */
  readonly policies?: Readonly<Record<string, PolicyFunction>>
  /** `kazoo`: KAZOO's own behaviour where ours is another one by default: form data, its retries. */
  readonly preset?: 'kazoo'
  /** Further kinds of events. */
  readonly hooks?: readonly CustomHook[]
  /** Format of webhooks that name none. Default `json`; `form-data` under the preset `kazoo`. */
  readonly defaultFormat?: BodyFormat
  /** Milliseconds for one attempt: DNS, connect, TLS, headers and body. Default 10,000. */
  readonly attemptTimeoutMs?: number
  /** Requests in flight to one webhook. Default 10. */
  readonly inFlightPerEndpoint?: number
  /** Requests in flight for one account's webhooks. Default 100. */
  readonly inFlightPerAccount?: number
  /** Requests in flight in all. Default 500. */
  readonly inFlight?: number
  /** Deliveries that may be waiting; above it `publish` rejects with `QueueFull`. Default 1,000,000. */
  readonly maxPending?: number
  /** Attempts kept of one webhook. Default 1,000. */
  readonly attemptsPerWebhook?: number
  /** Days that attempts and ended deliveries are kept. Default 30. */
  readonly retentionDays?: number
  /** Opens loopback addresses and `localhost` names, for development. Default false. */
  readonly allowLocal?: boolean
  /** Host names, addresses and CIDRs that may be called although they are not public. */
  readonly allow?: readonly string[]
  /** Origins that browsers may call from: `'*'`, or a list. Default: none. */
  readonly cors?: string | readonly string[]
  /** CIDRs of proxies whose `X-Forwarded-For` counts. Default: none. */
  readonly trustProxy?: readonly string[]
  /** Adds the route on which events come in over HTTP. Default false. */
  readonly ingest?: boolean
  /** A pino-shaped logger. Default: silent. */
  readonly log?: Log
  /** Time. Default: the system's. */
  readonly clock?: Clock
  /** Chance. Default: the system's. */
  readonly random?: Random
  /** What sends. Default: undici behind the address guard. */
  readonly sender?: Sender
  /** DNS. Default: c-ares and the hosts file. */
  readonly resolver?: Resolver
}

/** Defaults of all options that are plain values. */
export const OPTION_DEFAULTS = Object.freeze({
  tokenTtlSeconds: 86_400,
  tokenCacheSize: LIVE_TOKEN_DEFAULTS.max,
  loginBurst: LOGIN_LIMIT_DEFAULTS.loginBurst,
  loginRefillPerSecond: LOGIN_LIMIT_DEFAULTS.loginRefillPerSecond,
  attemptTimeoutMs: 10_000,
  inFlightPerEndpoint: 10,
  inFlightPerAccount: 100,
  inFlight: 500,
  maxPending: 1_000_000,
  attemptsPerWebhook: 1000,
  retentionDays: 30,
  allowLocal: false,
  ingest: false,
})

/** Options, checked, with everything derived that is plain data. */
export interface Settled<AStore>
  extends Required<Pick<HookswitchOptions<AStore>, keyof typeof OPTION_DEFAULTS>> {
  readonly store: AStore
  readonly directory: Directory | undefined
  readonly secrets: readonly string[] | undefined
  readonly retryPolicy: RetryPolicy
  readonly healthRules: HealthRules
  readonly policies: Readonly<Record<string, PolicyFunction>>
  readonly catalogue: readonly CatalogueEntry[]
  readonly addressPolicy: CompiledPolicy
  readonly defaultFormat: BodyFormat
  readonly cors: readonly string[]
  readonly trustProxy: readonly string[]
}

const MIN_SECRET_LENGTH = 16

const SECONDS_OF_YEAR = 31_536_000

/** Every option has its check here: what is not in the table is unknown. */
const CHECKS: Readonly<Record<keyof HookswitchOptions<unknown>, Check>> = {
  store: door('open', 'close'),
  directory: door(
    'lineage',
    'descendants',
    'accountsByRealm',
    'accountsByName',
    'holderOfApiKey',
    'holderOfCredentials',
    'credentialVersion',
    'readApiKey',
  ),
  secret: (field, value) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (list.length === 0) throw invalid(field, 'must not be an empty list')
    // The value itself must never stand in a message.
    const short = (secret: unknown) => typeof secret !== 'string' || secret.length < MIN_SECRET_LENGTH
    if (list.some(short)) throw invalid(field, `must have at least ${MIN_SECRET_LENGTH} characters`)
  },
  tokenTtlSeconds: whole(1, 10 * SECONDS_OF_YEAR),
  tokenCacheSize: whole(1, 100_000_000),
  /** Infinity: no limit. */
  loginBurst: (field, value) => (value === Number.POSITIVE_INFINITY ? undefined : number(1)(field, value)),
  loginRefillPerSecond: number(0.001),
  retryPolicy: anything,
  policies: functions,
  preset: oneOf('kazoo'),
  hooks: anything,
  defaultFormat: oneOf('json', 'form-data'),
  attemptTimeoutMs: whole(1, 600_000),
  inFlightPerEndpoint: whole(1, 100_000),
  inFlightPerAccount: whole(1, 100_000),
  inFlight: whole(1, 100_000),
  maxPending: whole(1, Number.MAX_SAFE_INTEGER),
  attemptsPerWebhook: whole(1, 1_000_000),
  retentionDays: number(0.001),
  allowLocal: flag,
  allow: texts,
  cors: origins,
  trustProxy: texts,
  ingest: flag,
  log: door('debug', 'info', 'warn', 'error'),
  clock: door('now', 'monotonic', 'sleep', 'yield'),
  random: door('bytes', 'fraction'),
  sender: door('send', 'close'),
  resolver: door('resolve', 'close'),
}

/**
 * Checks options and derives what is plain data.
 *
 * @param environmentSecret `HOOKSWITCH_SECRET`, used where there is no option `secret`
 * @throws `InvalidOption` naming the option, unknown ones too
 */
export function checkOptions<AStore>(
  options: HookswitchOptions<AStore>,
  environmentSecret: string | undefined,
): Settled<AStore> {
  if (typeof options !== 'object' || options === null) throw invalid('options', 'must be an object')
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof typeof CHECKS] : undefined
    if (!check) throw invalid(name, 'is not an option')
    if (value !== undefined) check(name, value)
  }
  if (options.store === undefined) throw invalid('store', 'is required')
  if (options.secret === undefined && environmentSecret !== undefined) {
    CHECKS.secret('HOOKSWITCH_SECRET', environmentSecret)
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const plain = { ...OPTION_DEFAULTS, ...given } as Settled<AStore>
  const secret = options.secret ?? environmentSecret
  return {
    ...plain,
    directory: options.directory,
    secrets: typeof secret === 'string' ? [secret] : secret,
    retryPolicy: policyOf(options),
    healthRules: HEALTH_PRESETS[options.preset ?? 'standard'],
    policies: options.policies ?? {},
    catalogue: checkedCatalogue(options.hooks),
    addressPolicy: addressPolicyOf(plain.allowLocal, options.allow ?? []),
    defaultFormat: options.defaultFormat ?? (options.preset === 'kazoo' ? 'form-data' : 'json'),
    cors: typeof options.cors === 'string' ? [options.cors] : (options.cors ?? []),
    trustProxy: options.trustProxy ?? [],
  }
}

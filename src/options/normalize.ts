/** Validates the options of `createHookswitch` and derives from them everything that is plain data. */
import type { Store } from 'hookswitch/store'
import type { Directory } from '../accounts/directory.js'
import type { PolicyFunction, RetryPolicy } from '../delivery/policy.js'
import { checkOptionNames } from '../errors.js'
import type { CompiledAddressPolicy } from '../values/address-policy.js'
import { type Defined, defined } from '../values/defined.js'
import { isId } from '../values/ids.js'
import { type ForwardProxy, parseProxy } from '../values/tls-and-proxy.js'
import type { CatalogueEntry } from '../webhooks/catalogue.js'
import type { HealthRules } from '../webhooks/health.js'
import type { BodyFormat } from '../webhooks/webhook.js'
import { MAX_AGE_SECONDS, MAX_RATE, MAX_RETRIES, MIN_RATE } from '../webhooks/webhook-schema.js'
import { LIMIT_NAMES, type Limits } from './limits.js'
import { type HookswitchOptions, OPTION_DEFAULTS } from './options.js'
import { resolveAddressPolicy, resolveCatalogue, resolveHealthRules, resolveRetries } from './presets.js'
import {
  boolean,
  booleanOr,
  checkSecret,
  functionMap,
  invalidOption,
  numberAtLeast,
  numberBetween,
  objectWithMethods,
  oneOf,
  originList,
  proxyUrl,
  stringList,
  tlsOptions,
  unchecked,
  type Validator,
  wholeNumber,
} from './validators.js'

/** Validated options with defaults applied and presets resolved. */
export interface NormalizedOptions
  extends Required<Defined<Pick<HookswitchOptions, keyof typeof OPTION_DEFAULTS>>> {
  readonly store: Store
  readonly directory: Directory | undefined
  /** Encryption keys for secrets at rest: the first encrypts, all decrypt. */
  readonly secrets: readonly string[] | undefined
  readonly retryPolicy: RetryPolicy
  /** Retries of webhooks that specify none. */
  readonly defaultRetries: number
  /** Maximum age of the deliveries of webhooks that specify none, in seconds. */
  readonly defaultMaxAgeSeconds: number
  /** Most requests per second to a webhook that specifies none. Absent: no limit. */
  readonly defaultRateLimit?: number
  /** Limit of the history, in bytes. Absent: no limit. */
  readonly maxHistoryBytes?: number
  readonly healthRules: HealthRules
  readonly policies: Readonly<Record<string, PolicyFunction>>
  readonly catalogue: readonly CatalogueEntry[]
  readonly addressPolicy: CompiledAddressPolicy
  readonly defaultFormat: BodyFormat
  readonly hold?: boolean
  readonly nodeName?: string
  readonly operators: readonly string[]
  readonly restrictUsers: boolean
  readonly cors: readonly string[]
  readonly trustProxy: readonly string[]
  readonly proxy: ForwardProxy | undefined
}

const SECONDS_PER_YEAR = 31_536_000

const numberOrInfinity =
  (min: number): Validator =>
  (field, value) =>
    value === Number.POSITIVE_INFINITY ? undefined : numberAtLeast(min)(field, value)

const matching =
  (pattern: RegExp, min: number, max: number, description: string): Validator =>
  (field, value) => {
    if (typeof value === 'string' && value.length >= min && value.length <= max && pattern.test(value)) return
    throw invalidOption(field, `must be ${description}`)
  }

/** The validator of every option. A key without one is unknown. */
const VALIDATORS: Readonly<Record<keyof HookswitchOptions, Validator>> = {
  store: objectWithMethods('open', 'close'),
  directory: objectWithMethods(
    'lineage',
    'descendants',
    'accountsByRealm',
    'accountsByName',
    'holderOfApiKey',
    'holderOfCredentials',
    'credentialVersion',
    'readApiKey',
  ),
  hold: boolean,
  nodeName: matching(/^[A-Za-z0-9._-]+$/, 1, 63, 'letters, digits, dots, hyphens and underscores'),
  operators: (field, value) => {
    stringList(field, value)
    if ((value as readonly string[]).some((id) => !isId(id)))
      throw invalidOption(field, 'must be ids of accounts')
  },
  restrictUsers: boolean,
  subaccounts: boolean,
  uniqueAccountNames: boolean,
  accountRealmSuffix: matching(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/, 1, 200, 'a lower-case domain name'),
  defaultTimezone: matching(/^[^\p{Cc}\p{Cs}]*$/u, 5, 32, 'a time zone of 5 to 32 characters'),
  secret: (field, value) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (list.length === 0) throw invalidOption(field, 'must not be an empty array')
    for (const secret of list) checkSecret(field, secret)
  },
  tokenTtlSeconds: wholeNumber(1, 10 * SECONDS_PER_YEAR),
  tokenCacheSize: wholeNumber(1, 100_000_000),
  loginBurst: numberOrInfinity(1),
  loginRefillPerSecond: numberAtLeast(0.001),
  replayBurst: numberOrInfinity(1),
  replayRefillPerSecond: numberAtLeast(0.001),
  retryPolicy: unchecked,
  defaultRetries: wholeNumber(0, MAX_RETRIES),
  defaultMaxAgeSeconds: wholeNumber(1, MAX_AGE_SECONDS),
  defaultRateLimit: numberBetween(MIN_RATE, MAX_RATE),
  orderingPatienceSeconds: wholeNumber(0, MAX_AGE_SECONDS),
  policies: functionMap,
  preset: oneOf('kazoo'),
  pauses: boolean,
  autoDisable: unchecked,
  hooks: unchecked,
  defaultFormat: oneOf('json', 'form-data'),
  attemptTimeoutMs: wholeNumber(1, 600_000),
  inFlightPerEndpoint: wholeNumber(1, 100_000),
  inFlightPerAccount: wholeNumber(1, 100_000),
  inFlightPerOrigin: wholeNumber(1, 100_000),
  inFlight: wholeNumber(1, 100_000),
  probeSockets: wholeNumber(1, 100_000),
  maxPending: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  maxPendingPerAccount: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  maxPendingPerWebhook: wholeNumber(1, Number.MAX_SAFE_INTEGER),
  maxEventsPerRequest: wholeNumber(1, 10_000),
  maxDeliveriesPerRequest: wholeNumber(1, 1_000_000),
  recordSuccesses: boolean,
  statistics: boolean,
  attemptsPerWebhook: wholeNumber(1, 1_000_000),
  retentionDays: numberAtLeast(0.001),
  unwantedRetentionSeconds: wholeNumber(0, SECONDS_PER_YEAR),
  maxHistoryBytes: wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER),
  maxStreams: wholeNumber(1, 100_000),
  maxStreamsPerAccount: wholeNumber(1, 100_000),
  maxStreamsPerToken: wholeNumber(1, 100_000),
  allowLocal: boolean,
  allow: stringList,
  cors: originList,
  trustProxy: stringList,
  tokenInQuery: booleanOr('cross-origin'),
  // Below the size of one body some requests could never be sent.
  maxUnfinishedBodyBytes: wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER),
  maxUnfinishedBodyBytesPerAddress: wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER),
  ingest: boolean,
  accessLog: boolean,
  ref: boolean,
  log: objectWithMethods('debug', 'info', 'warn', 'error'),
  metrics: objectWithMethods('count', 'observe', 'watch'),
  tracing: objectWithMethods('begin'),
  clock: objectWithMethods('now', 'monotonic', 'sleep', 'yield'),
  random: objectWithMethods('bytes', 'fraction'),
  tls: tlsOptions,
  proxy: proxyUrl,
  sender: objectWithMethods('send', 'close'),
  resolver: objectWithMethods('resolve', 'close'),
}

/**
 * Validates options, applies defaults and resolves presets.
 *
 * @param environmentSecret `HOOKSWITCH_SECRET`, used without the option `secret`
 * @throws `InvalidOption` naming the option; an unknown option too
 */
export function normalizeOptions(
  options: HookswitchOptions,
  environmentSecret: string | undefined,
): NormalizedOptions {
  checkOptionNames('createHookswitch', options ?? null, Object.keys(VALIDATORS))
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) VALIDATORS[name as keyof typeof VALIDATORS](name, value)
  }
  if (options.store === undefined) throw invalidOption('store', 'is required')
  for (const name of ['tls', 'proxy', 'resolver'] as const) {
    if (options.sender !== undefined && options[name] !== undefined) {
      throw invalidOption(name, 'has no effect together with the option sender')
    }
  }
  if (options.secret === undefined && environmentSecret !== undefined) {
    VALIDATORS.secret('HOOKSWITCH_SECRET', environmentSecret)
  }
  const plain = { ...OPTION_DEFAULTS, ...defined(options) }
  const secret = options.secret ?? environmentSecret
  return {
    ...plain,
    directory: options.directory,
    secrets: typeof secret === 'string' ? [secret] : secret,
    ...resolveRetries(defined(options)),
    healthRules: resolveHealthRules(options),
    policies: options.policies ?? {},
    catalogue: resolveCatalogue(options.hooks),
    addressPolicy: resolveAddressPolicy(plain.allowLocal, options.allow ?? []),
    defaultFormat: options.defaultFormat ?? (options.preset === 'kazoo' ? 'form-data' : 'json'),
    operators: options.operators ?? [],
    restrictUsers: options.restrictUsers ?? options.preset !== 'kazoo',
    cors: typeof options.cors === 'string' ? [options.cors] : (options.cors ?? []),
    trustProxy: options.trustProxy ?? [],
    proxy: options.proxy === undefined ? undefined : parseProxy(options.proxy),
  }
}

/**
 * Validates limits for a running instance; returns those that have a value.
 *
 * @throws `InvalidOption` naming the limit; an option that cannot change too
 */
export function checkLimits(limits: Limits): Limits {
  checkOptionNames('setLimits', limits ?? null, LIMIT_NAMES)
  const given = Object.entries(limits).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) VALIDATORS[name as keyof Limits](name, value)
  return Object.fromEntries(given)
}

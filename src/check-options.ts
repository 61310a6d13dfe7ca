import type { Directory } from './accounts/directory.js'
import type { PolicyFunction, RetryPolicy } from './delivery/policy.js'
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
  proxyUrl,
  texts,
  tlsOptions,
  whole,
} from './option-checks.js'
import { addressPolicyOf, checkedCatalogue, healthRulesOf, policyOf } from './option-values.js'
import { type HookswitchOptions, OPTION_DEFAULTS } from './options.js'
import type { CompiledPolicy } from './values/address-policy.js'
import { type ForwardProxy, parseProxy } from './values/way-out.js'
import type { CatalogueEntry } from './webhooks/catalogue.js'
import type { HealthRules } from './webhooks/health.js'
import type { BodyFormat } from './webhooks/webhook.js'

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
  readonly proxy: ForwardProxy | undefined
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
  replayBurst: (field, value) => (value === Number.POSITIVE_INFINITY ? undefined : number(1)(field, value)),
  replayRefillPerSecond: number(0.001),
  retryPolicy: anything,
  policies: functions,
  preset: oneOf('kazoo'),
  breaker: anything,
  autoDisable: anything,
  hooks: anything,
  defaultFormat: oneOf('json', 'form-data'),
  attemptTimeoutMs: whole(1, 600_000),
  inFlightPerEndpoint: whole(1, 100_000),
  inFlightPerAccount: whole(1, 100_000),
  inFlightPerOrigin: whole(1, 100_000),
  inFlight: whole(1, 100_000),
  maxPending: whole(1, Number.MAX_SAFE_INTEGER),
  recordSuccesses: flag,
  attemptsPerWebhook: whole(1, 1_000_000),
  retentionDays: number(0.001),
  allowLocal: flag,
  allow: texts,
  cors: origins,
  trustProxy: texts,
  ingest: flag,
  log: door('debug', 'info', 'warn', 'error'),
  metrics: door('count', 'observe', 'watch'),
  tracing: door('begin'),
  clock: door('now', 'monotonic', 'sleep', 'yield'),
  random: door('bytes', 'fraction'),
  tls: tlsOptions,
  proxy: proxyUrl,
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
  for (const name of ['tls', 'proxy', 'resolver'] as const) {
    if (options.sender !== undefined && options[name] !== undefined) {
      throw invalid(name, 'does nothing beside the option sender')
    }
  }
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
    healthRules: healthRulesOf(options),
    policies: options.policies ?? {},
    catalogue: checkedCatalogue(options.hooks),
    addressPolicy: addressPolicyOf(plain.allowLocal, options.allow ?? []),
    defaultFormat: options.defaultFormat ?? (options.preset === 'kazoo' ? 'form-data' : 'json'),
    cors: typeof options.cors === 'string' ? [options.cors] : (options.cors ?? []),
    trustProxy: options.trustProxy ?? [],
    proxy: options.proxy === undefined ? undefined : parseProxy(options.proxy),
  }
}

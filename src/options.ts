import type { Directory } from './accounts/directory.js'
import { LIVE_TOKEN_DEFAULTS } from './auth/live-tokens.js'
import { LOGIN_LIMIT_DEFAULTS } from './auth/login-limits.js'
import type { POLICY_PRESETS, PolicyFunction, RetryPolicy } from './delivery/policy.js'
import { REPLAY_LIMIT_DEFAULTS } from './delivery/replay-limits.js'
import type { Metrics } from './metrics.js'
import type { Clock, Log, Random, Resolver, Sender, Tracing } from './ports.js'
import type { TlsOptions } from './values/way-out.js'
import type { CustomHook } from './webhooks/catalogue.js'
import type { AutoDisableRule, HealthRules } from './webhooks/health.js'
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
  /** Tests and replays of one webhook at once, asked for over HTTP. Default 20; `Infinity`: no limit. */
  readonly replayBurst?: number
  /** Tests and replays of one webhook a second in the long run. Default 1. */
  readonly replayRefillPerSecond?: number
  /** When failed deliveries are tried again. Default `telephony`: 2 s × 3^n, at most 10 min, ±20 %. */
  readonly retryPolicy?: RetryPolicy | keyof typeof POLICY_PRESETS
  /** Functions that policies of kind `custom` name. */
  readonly policies?: Readonly<Record<string, PolicyFunction>>
  /** `kazoo`: KAZOO's own behaviour where ours is another one by default: form data, its retries. */
  readonly preset?: 'kazoo'
  /**
   * When a webhook that fails is left alone for a while. Default: after 10 failures in a row for 30 s × 2^n ± 20 %, at
   * most 10 min; off under the preset `kazoo`. `false`: never.
   */
  readonly breaker?: Partial<NonNullable<HealthRules['breaker']>> | false
  /**
   * When a webhook that fails is disabled. Default: 24 h without a success in which 20 deliveries were given up; under
   * the preset `kazoo` 6 failed tries in 60 s. `false`: never.
   */
  readonly autoDisable?: AutoDisableRule | false
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
  /** Requests in flight to one origin (scheme, host, port), whose ever webhooks lead there. Default 100. */
  readonly inFlightPerOrigin?: number
  /** Requests in flight in all. Default 500. */
  readonly inFlight?: number
  /** Deliveries that may be waiting; above it `publish` rejects with `QueueFull`. Default 1,000,000. */
  readonly maxPending?: number
  /** False: only failed attempts are recorded, as KAZOO does by default. Default true. */
  readonly recordSuccesses?: boolean
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
  /** Where measurements go: `hookswitch/prometheus`, `hookswitch/opentelemetry` or the host's own. Default: nowhere. */
  readonly metrics?: Metrics
  /** Where spans go: `hookswitch/opentelemetry` or the host's own. Default: nowhere. */
  readonly tracing?: Tracing
  /** Time. Default: the system's. */
  readonly clock?: Clock
  /** Chance. Default: the system's. */
  readonly random?: Random
  /** TLS to receivers: own authorities, a client certificate, versions. Verification is never off. Default: Node's. */
  readonly tls?: TlsOptions
  /**
   * The HTTP proxy that requests go through, `http://user:password@host:port` or https. Names are resolved and judged
   * here all the same, the proxy is told addresses. Default: none; proxy variables of the environment do not count.
   */
  readonly proxy?: string
  /** What sends, in place of all that `tls`, `proxy` and `resolver` choose. Default: undici behind the address guard. */
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
  replayBurst: REPLAY_LIMIT_DEFAULTS.replayBurst,
  replayRefillPerSecond: REPLAY_LIMIT_DEFAULTS.replayRefillPerSecond,
  attemptTimeoutMs: 10_000,
  inFlightPerEndpoint: 10,
  inFlightPerAccount: 100,
  inFlightPerOrigin: 100,
  inFlight: 500,
  maxPending: 1_000_000,
  recordSuccesses: true,
  attemptsPerWebhook: 1000,
  retentionDays: 30,
  allowLocal: false,
  ingest: false,
})

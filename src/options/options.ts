/** The options of `createHookswitch` and their defaults. `options/normalize` validates them. */
import type { Metrics, Random, Resolver, Sender, Tracing } from 'hookswitch/adapter'
import type { Store } from 'hookswitch/store'
import type { Directory } from '../accounts/directory.js'
import { LOGIN_RATE_LIMITER_DEFAULTS } from '../auth/login-rate-limiter.js'
import { TOKEN_CACHE_DEFAULTS } from '../auth/token-cache.js'
import type { PolicyFunction, RetryPolicy } from '../delivery/policy.js'
import { REPLAY_LIMIT_DEFAULTS } from '../delivery/replay-rate-limiter.js'
import type { Clock, Log } from '../ports.js'
import { BODY_LIMIT_DEFAULTS } from '../values/body-limits.js'
import type { TlsOptions } from '../values/tls-and-proxy.js'
import type { CustomHook } from '../webhooks/catalogue.js'
import type { WebhookSettings } from '../webhooks/webhook.js'

/**
 * Options of `createHookswitch`. Only `store` is required. Unknown keys throw `InvalidOption`.
 *
 * @typeParam Hooks the custom hooks, inferred from `hooks`; by default any
 */
export interface HookswitchOptions<Hooks extends readonly CustomHook[] = readonly CustomHook[]> {
  /** Where accounts, webhooks, events and deliveries are stored: `memoryStore()`, `sqliteStore()`, `postgresStore()`. */
  readonly store: Store
  /** The host's own accounts. Default: accounts in the store, managed by `hs.accounts`. */
  readonly directory?: Directory | undefined
  /**
   * Holds the deliveries of all accounts from the start on, on all nodes, until `hs.operator.release` is called: they are accepted
   * and not sent. To look at a restored backup. Default false.
   */
  readonly hold?: boolean | undefined
  /** Name of this node in responses and in the list of nodes: 1 to 63 letters, digits, `.`, `_`, `-`. Default: a random id. */
  readonly nodeName?: string | undefined
  /**
   * Ids of accounts whose API keys and admins act on every account over HTTP. Accounts below them are ordinary ones.
   * Default: none.
   */
  readonly operators?: readonly string[] | undefined
  /**
   * Whether users without admin rights (`privLevel: 'user'`) only read their own account over HTTP and change their own
   * document. Default true; false with `preset: 'kazoo'`: they use webhooks as admins do.
   */
  readonly restrictUsers?: boolean | undefined
  /** Whether every admin may create accounts below its own over HTTP; false: operators alone. Default true. */
  readonly subaccounts?: boolean | undefined
  /** Whether names that clients give accounts over HTTP must differ in their letters and digits. Default true. */
  readonly uniqueAccountNames?: boolean | undefined
  /** Suffix of the realms that are generated for accounts over HTTP. Default `hookswitch.invalid`. */
  readonly accountRealmSuffix?: string | undefined
  /** Time zone of accounts that have none. Default `Etc/UTC`. */
  readonly defaultTimezone?: string | undefined
  /**
   * Encryption key for secrets at rest, at least 16 characters. Of an array the first encrypts and all decrypt, for
   * rotation. Default: the environment variable `HOOKSWITCH_SECRET`, else the store's own key. The memory store creates
   * a key for the lifetime of the process.
   */
  readonly secret?: string | readonly string[] | undefined
  /** Lifetime of a token, in seconds. Default 86,400 (one day; specification, section 8). */
  readonly tokenTtlSeconds?: number | undefined
  /** Tokens cached in memory. Default 10,000. */
  readonly tokenCacheSize?: number | undefined
  /** Logins that one address may make in a burst. Default 100; `Infinity`: no limit. */
  readonly loginBurst?: number | undefined
  /** Logins per second that one address may make after a burst. Default 10. */
  readonly loginRefillPerSecond?: number | undefined
  /** Tests, replays and resumptions of one webhook, or replays of one account, over HTTP, in a burst. Default 20; `Infinity`: no limit. */
  readonly replayBurst?: number | undefined
  /** Tests, replays and resumptions of one webhook, or replays of one account, over HTTP, per second after a burst. Default 1. */
  readonly replayRefillPerSecond?: number | undefined
  /**
   * When failed deliveries are retried: a policy, or the name of a preset. Default `standard` (5 s, 30 s, 2 min, 10 min,
   * 30 min, then every hour, ±20 %); `kazoo` with the option `preset: 'kazoo'`.
   */
  readonly retryPolicy?: RetryPolicy | 'standard' | 'kazoo' | 'patient' | undefined
  /**
   * Retries of webhooks without `retries`, 0 to 30. Default 5; with the retry policy `patient` 9, with `kazoo` 2, the first
   * attempt included.
   */
  readonly defaultRetries?: number | undefined
  /**
   * Maximum age of the deliveries of webhooks without `maxAgeSeconds`, in seconds: longer than the first delay of the retry
   * policy, unless `defaultRetries` is 0. Default 86,400 (one day); 345,600 (four days) with the retry policy `patient`.
   */
  readonly defaultMaxAgeSeconds?: number | undefined
  /**
   * Most requests per second to a webhook without `rateLimit`, per node: 0.001 to 10,000, fractions allowed. Default: no
   * limit.
   */
  readonly defaultRateLimit?: number | undefined
  /**
   * How long a failed event holds back the next events of its call while its receiver takes others, in seconds, for webhooks
   * with `ordering: 'call'`. 0: not at all. Default 60.
   */
  readonly orderingPatienceSeconds?: number | undefined
  /** Functions by name, for retry policies of kind `custom`. Default: none. */
  readonly policies?: Readonly<Record<string, PolicyFunction>> | undefined
  /**
   * `kazoo`: KAZOO's behaviour where it differs from the defaults: form data, its retries, its auto-disable rule and no
   * pauses. Default: none.
   */
  readonly preset?: 'kazoo' | undefined
  /**
   * Whether a webhook is paused while its receiver is unavailable or rejects everything, and probed until it takes events
   * again. Default true; false with `preset: 'kazoo'`.
   */
  readonly pauses?: boolean | undefined
  /**
   * When a failing webhook is disabled. Default: after 5 days without a success in which 20 deliveries were given up; with
   * `preset: 'kazoo'` after 6 failed tries in 60 s. `silent`: no success for `afterMs` with at least `exhausted` deliveries
   * given up. `burst`: `failures` failures within `withinMs`. `false`: never.
   */
  readonly autoDisable?:
    | { readonly kind: 'silent'; readonly afterMs: number; readonly exhausted: number }
    | { readonly kind: 'burst'; readonly failures: number; readonly withinMs: number }
    | false
    | undefined
  /** Custom kinds of events. Default: none. */
  readonly hooks?: Hooks | undefined
  /** Body format of webhooks without a `format`. Default `json`; `form-data` with `preset: 'kazoo'`. */
  readonly defaultFormat?: WebhookSettings['format'] | undefined
  /** Limit of one attempt (DNS, connect, TLS, headers and body), in milliseconds. Default 10,000. */
  readonly attemptTimeoutMs?: number | undefined
  /** Requests in flight to one webhook. Default 10. */
  readonly inFlightPerEndpoint?: number | undefined
  /** Requests in flight to the webhooks of one account. Default 100. */
  readonly inFlightPerAccount?: number | undefined
  /** Requests in flight to one origin (scheme, host and port) over all webhooks. Default 100. */
  readonly inFlightPerOrigin?: number | undefined
  /** Requests in flight in total. Default 500. */
  readonly inFlight?: number | undefined
  /** Sockets for probes of paused webhooks, beside `inFlight`. Default 1,000. */
  readonly probeSockets?: number | undefined
  /**
   * Deliveries that wait, on all nodes. Above it the oldest of the webhook for which most wait expire as `queue_full`.
   * Default 1,000,000.
   */
  readonly maxPending?: number | undefined
  /**
   * Deliveries that wait for the webhooks of one account, on one node. Above it the oldest of its webhook for which most
   * wait expire as `queue_full`. Default: a fifth of `maxPending`.
   */
  readonly maxPendingPerAccount?: number | undefined
  /** Deliveries that wait for one webhook. Above it the oldest expire as `queue_full`. Default 50,000. */
  readonly maxPendingPerWebhook?: number | undefined
  /** Events in one list, of `publish` or over HTTP (`ingest`); above it the list is refused. Default 1,000; at most 10,000. */
  readonly maxEventsPerRequest?: number | undefined
  /**
   * Deliveries that the events of one list make, for each event one per matching webhook; above it the list is refused. One
   * event alone is always accepted. Default 20,000.
   */
  readonly maxDeliveriesPerRequest?: number | undefined
  /** False: records only failed attempts, as KAZOO does by default. Default true. */
  readonly recordSuccesses?: boolean | undefined
  /**
   * Whether attempts are counted over time, for `hs.webhooks.stats` and `hs.webhooks.health`. Default true; about 1 µs per
   * attempt, and one transaction per 500 rows every 10 s.
   */
  readonly statistics?: boolean | undefined
  /** Attempts kept per webhook of deliveries that were delivered. Default 1,000. What was not delivered does not count. */
  readonly attemptsPerWebhook?: number | undefined
  /** Days for which attempts and ended deliveries are kept, those that were not delivered whatever their number. Default 30. */
  readonly retentionDays?: number | undefined
  /**
   * Seconds for which accepted events that no webhook wanted are kept, for `hookswitch why`; at most 10,000 of an account and
   * 1,000,000 in all. A crash may lose the last second of them. 0: they are not kept. Default 86,400 (one day).
   */
  readonly unwantedRetentionSeconds?: number | undefined
  /**
   * About how many bytes events, attempts and ended deliveries may take in the store, at least 1 MiB. Above it the oldest that
   * were delivered are removed first, then the oldest of the rest. Default: no limit.
   */
  readonly maxHistoryBytes?: number | undefined
  /** Open live streams of this node (`hs.stream`, `GET stream`). Default 1,000. */
  readonly maxStreams?: number | undefined
  /** Open live streams of one account on this node. Default 50. */
  readonly maxStreamsPerAccount?: number | undefined
  /** Open live streams of one token on this node. Default 10. */
  readonly maxStreamsPerToken?: number | undefined
  /** Allows loopback addresses and `localhost` names, for development. Default false. */
  readonly allowLocal?: boolean | undefined
  /** Host names, addresses and CIDRs that requests may go to although they are not public. Default: none. */
  readonly allow?: readonly string[] | undefined
  /** Origins from which browsers may call the HTTP API: `'*'`, one origin or an array. Default: none. */
  readonly cors?: string | readonly string[] | undefined
  /** Addresses and CIDRs of proxies whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustProxy?: readonly string[] | undefined
  /**
   * Whether the HTTP API reads a token in the query, `?auth_token=`, as clients of KAZOO send it. URLs are logged by proxies
   * and stored by browsers, so turn it off where no client needs it. `cross-origin`: not in requests that a browser marks
   * as sent by a page of the same origin, or as typed by its user (`Sec-Fetch-Site`); for services whose origin also
   * serves `hookswitch/portal`. Default true.
   */
  readonly tokenInQuery?: boolean | 'cross-origin' | undefined
  /**
   * Bytes of request bodies of the HTTP API that are not complete, of all clients together; above it 503. From 1,048,576.
   * Default 67,108,864 (64 MiB).
   */
  readonly maxUnfinishedBodyBytes?: number | undefined
  /**
   * The same for one client address, as `trustProxy` gives it; above it 429. From 1,048,576. Default 8,388,608 (8 MiB).
   */
  readonly maxUnfinishedBodyBytesPerAddress?: number | undefined
  /** Adds the HTTP route that accepts events. Default false. */
  readonly ingest?: boolean | undefined
  /**
   * Logs every HTTP request at the level `info`: method, path without query, route, status, bytes, duration, client address
   * (as `trustProxy` gives it), request id, and account and user of the token. Default false.
   */
  readonly accessLog?: boolean | undefined
  /**
   * Whether a started instance keeps the process alive until it is closed, like `ref` of Node's timers. Default false: a
   * process that has nothing else to do ends, although deliveries wait.
   */
  readonly ref?: boolean | undefined
  /** A pino-compatible logger. Default: silent. */
  readonly log?: Log | undefined
  /** Receives metrics: `hookswitch/prometheus`, `hookswitch/opentelemetry` or the host's own. Default: none. */
  readonly metrics?: Metrics | undefined
  /** Receives trace spans: `hookswitch/opentelemetry` or the host's own. Default: none. */
  readonly tracing?: Tracing | undefined
  /** Source of time. Default: the system's clocks. */
  readonly clock?: Clock | undefined
  /** Source of randomness. Default: the system's. */
  readonly random?: Random | undefined
  /** TLS to receivers: own authorities, client certificate, versions. Verification is always on. Default: Node's. */
  readonly tls?: TlsOptions | undefined
  /**
   * HTTP proxy for requests to receivers, as `http://user:password@host:port` or https. Host names are resolved and
   * checked locally; the proxy receives addresses. Default: none; proxy variables of the environment are ignored.
   */
  readonly proxy?: string | undefined
  /** Sends requests, in place of everything that `tls`, `proxy` and `resolver` configure. Default: undici with the address check. */
  readonly sender?: Sender | undefined
  /** DNS resolver. Default: c-ares and the hosts file. */
  readonly resolver?: Resolver | undefined
}

/** Defaults of the options that are plain values. */
export const OPTION_DEFAULTS = Object.freeze({
  subaccounts: true,
  uniqueAccountNames: true,
  accountRealmSuffix: 'hookswitch.invalid',
  defaultTimezone: 'Etc/UTC',
  tokenTtlSeconds: 86_400,
  tokenCacheSize: TOKEN_CACHE_DEFAULTS.max,
  loginBurst: LOGIN_RATE_LIMITER_DEFAULTS.loginBurst,
  loginRefillPerSecond: LOGIN_RATE_LIMITER_DEFAULTS.loginRefillPerSecond,
  replayBurst: REPLAY_LIMIT_DEFAULTS.replayBurst,
  replayRefillPerSecond: REPLAY_LIMIT_DEFAULTS.replayRefillPerSecond,
  orderingPatienceSeconds: 60,
  attemptTimeoutMs: 10_000,
  inFlightPerEndpoint: 10,
  inFlightPerAccount: 100,
  inFlightPerOrigin: 100,
  inFlight: 500,
  probeSockets: 1000,
  maxPending: 1_000_000,
  maxPendingPerWebhook: 50_000,
  maxEventsPerRequest: 1000,
  maxDeliveriesPerRequest: 20_000,
  recordSuccesses: true,
  statistics: true,
  attemptsPerWebhook: 1000,
  retentionDays: 30,
  unwantedRetentionSeconds: 86_400,
  maxStreams: 1000,
  maxStreamsPerAccount: 50,
  maxStreamsPerToken: 10,
  allowLocal: false,
  tokenInQuery: true,
  ...BODY_LIMIT_DEFAULTS,
  ingest: false,
  accessLog: false,
  ref: false,
})

/**
 * The table of all settings of `hookswitch serve`: the only place that defines them. The flags, variables and keys of the
 * configuration file, their check, `--help`, the JSON Schema, `config print` and docs/operate/settings.md are derived from
 * it (`setting-names`, `config-schema`, `help`).
 *
 * To add a setting, add a row. Its name is its key in the file, and determines its flag and its variable:
 * `tls.caFile` is `--tls-ca-file` and `HOOKSWITCH_TLS_CA_FILE`.
 */
import type { HookswitchOptions } from 'hookswitch'
import { OPTION_DEFAULTS, POLICY_PRESETS } from 'hookswitch/adapter'
import type { SettingSchema } from './setting-schema.js'
import { type SwitchItem, switchItemSchema } from './switch-schema.js'

/** What is known of a setting besides its name. */
interface Setting<Value = unknown> {
  readonly schema: SettingSchema
  /** Stands for the value in the help, `undefined` for flags without a value (true or false). */
  readonly argument: string | undefined
  /** One line for help, schema and documentation. */
  readonly about: string
  /** Holds where nothing else is given. */
  readonly default?: Value
  /** The default in words, where it is not one value. */
  readonly defaultText?: string
  /** `value`: the whole value is secret. `url`: the password inside it is. */
  readonly secret?: 'value' | 'url'
  /** SIGHUP applies a changed value. Others need a restart. */
  readonly reloadable?: true
  /** False: there is no flag, because the list of processes would show the value. */
  readonly hasFlag?: false
  /** False: the file cannot contain it. */
  readonly isInFile?: false
  /** A further name of the flag. */
  readonly alias?: string
}

/** The type of a setting's value, with what stands for it in the help. */
interface SettingType<Value> {
  readonly schema: SettingSchema
  readonly argument?: string
  /** Exists in types only. */
  readonly value?: Value
}

type Details<Value> = Omit<Setting<NoInfer<Value>>, 'schema' | 'argument'>

function setting<Value>({ schema, argument }: SettingType<Value>, details: Details<Value>): Setting<Value> {
  return { schema, argument, ...details }
}

const integer = (minimum: number, maximum: number, argument = 'N'): SettingType<number> => ({
  schema: { type: 'integer', minimum, maximum },
  argument,
})
const number = (minimum: number, maximum?: number): SettingType<number> => ({
  schema: { type: 'number', minimum, ...(maximum !== undefined && { maximum }) },
  argument: 'N',
})
/** A number, or `unlimited`. */
const burst: SettingType<number | 'unlimited'> = {
  schema: {
    anyOf: [
      { type: 'number', minimum: 1 },
      { type: 'string', const: 'unlimited' },
    ],
  },
  argument: 'N|unlimited',
}
const boolean: SettingType<boolean> = { schema: { type: 'boolean' } }
const text = (argument: string, expected?: string, pattern?: string): SettingType<string> => ({
  schema: { type: 'string', minLength: 1, ...(pattern && { pattern }), ...(expected && { expected }) },
  argument,
})
const oneOf = <Word extends string>(...words: readonly Word[]): SettingType<Word> => ({
  schema: { type: 'string', enum: words },
  argument: words.join('|'),
})
const list = (argument: string, expected: string, pattern: string): SettingType<readonly string[]> => ({
  schema: { type: 'array', items: { type: 'string', pattern, expected } },
  argument,
})
const switches = (
  name: Parameters<typeof switchItemSchema>[0],
  argument: string,
): SettingType<readonly SwitchItem[]> => ({
  schema: { type: 'array', items: switchItemSchema(name) },
  argument,
})

const PORT = [0, 65_535] as const
const MS = [1, 2_147_483_647] as const
const MS_PER_YEAR = 31_536_000_000
const WEEK_MS = 604_800_000
/** `*`, or an origin as browsers send it: lower case, without a path or trailing slash (RFC 6454 section 6.2). */
const ORIGIN = '^(\\*|[a-z][a-z0-9+.\\-]*://[^\\s/?#@A-Z]+)$'
const NO_SPACE = '^[^\\s,]+$'
const DOMAIN = '^[a-z0-9_\\-]{1,38}(\\.[a-z0-9_\\-]{1,38}){0,4}$'
const TIME_ZONE = '^[A-Za-z0-9_+/\\-]{5,32}$'

const LISTENING = {
  config: setting(text('FILE'), {
    about: 'read settings from this file: JSON, or YAML if its name ends in .yaml or .yml',
    isInFile: false,
  }),
  port: setting(integer(...PORT), {
    about: 'listen on this port; 0 chooses a free one',
    default: 8000,
  }),
  host: setting(text('HOST'), { about: 'listen on this address', default: '127.0.0.1' }),
  adminPort: setting(integer(...PORT), {
    about: 'serve /healthz, /readyz and /metrics on this port',
    defaultText: 'off',
  }),
  adminHost: setting(text('HOST'), {
    about: 'the address of --admin-port, which answers without a token',
    default: '127.0.0.1',
  }),
  nodeName: setting(
    text('NAME', '1 to 63 letters, digits, dots, hyphens and underscores', '^[A-Za-z0-9._\\-]{1,63}$'),
    {
      about: 'name of this node in its log, in responses and in the list of nodes',
      defaultText: 'a random one, not in the log',
    },
  ),
  portal: setting(boolean, {
    about: 'serve the page on which users see and change their webhooks, at /portal',
    default: true,
  }),
  portalTitle: setting(text('TEXT'), { about: 'name of the page for its users', default: 'Webhooks' }),
  portalLogo: setting(text('FILE'), {
    about: 'logo on the page: an SVG or PNG file of at most 64 KiB',
  }),
  portalAccent: setting(text('COLOR', 'a colour like #4a3fc7', '^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$'), {
    about:
      'colour of buttons and links on the page; its lightness is changed where text would not be readable',
    default: '#4a3fc7',
  }),
  portalLanguage: setting(oneOf('auto', 'en', 'de'), {
    about: 'language of users of the page who have chosen none; auto is that of their browser',
    default: 'auto',
  }),
  portalHelpUrl: setting(text('URL'), { about: 'URL of your own help for users of the page' }),
  portalColorScheme: setting(oneOf('auto', 'light', 'dark'), {
    about: 'colours for users of the page who have chosen none; auto is those of their system',
    default: 'auto',
  }),
  'blackhole.port': setting(integer(...PORT), {
    about: "serve call events over WebSockets on this port, by KAZOO's protocol (blackhole, 5555 there)",
    defaultText: 'off',
  }),
  'blackhole.maxSockets': setting(integer(1, 1_000_000), {
    about: 'open WebSockets above which a handshake gets 503',
    default: 1_000,
  }),
  'blackhole.maxSocketsPerAddress': setting(integer(1, 1_000_000), {
    about: 'open WebSockets of one client address above which a handshake gets 429',
    default: 100,
  }),
  'blackhole.maxBindings': setting(integer(1, 100_000), {
    about: 'bindings of one WebSocket',
    default: 200,
  }),
  cors: setting(list('ORIGIN', 'an origin like https://ui.example.com or *', ORIGIN), {
    about: 'permit browser pages of this origin to call the API',
  }),
  trustProxy: setting(list('CIDR', 'an address or network', NO_SPACE), {
    about: 'trust X-Forwarded-For from proxies in this network',
  }),
  'http.headersTimeoutMs': setting(integer(...MS), {
    about: 'limit for the headers of a request',
    default: 10_000,
  }),
  'http.requestTimeoutMs': setting(integer(...MS), {
    about: 'limit for a whole request with its body',
    default: 30_000,
  }),
  'http.keepAliveTimeoutMs': setting(integer(...MS), {
    about: 'how long an idle connection stays open; keep it above what the proxy in front keeps one',
    default: 65_000,
  }),
  'http.maxHeaderBytes': setting(integer(1_024, 1_048_576), {
    about: 'limit for the target and headers of a request',
    default: 16_384,
  }),
  'http.maxConnections': setting(integer(1, 2_147_483_647), {
    about: 'open connections above which further ones are closed',
    defaultText: "10000, or half of the process's file limit",
  }),
  'http.writeTimeoutMs': setting(integer(...MS), {
    about: 'limit for a client to take the next part of a response; then its connection is closed',
    default: 30_000,
  }),
  'http.maxUnsentBytes': setting(integer(1_048_576, Number.MAX_SAFE_INTEGER), {
    about: 'bytes of responses that clients have not taken, above which the slowest connections are closed',
    default: 67_108_864,
  }),
  maxUnfinishedBodyBytes: setting(integer(1_048_576, Number.MAX_SAFE_INTEGER), {
    about: 'bytes of request bodies that are not complete, above which a request gets 503',
    default: OPTION_DEFAULTS.maxUnfinishedBodyBytes,
  }),
  maxUnfinishedBodyBytesPerAddress: setting(integer(1_048_576, Number.MAX_SAFE_INTEGER), {
    about: 'bytes of those of one client address, above which a request gets 429',
    default: OPTION_DEFAULTS.maxUnfinishedBodyBytesPerAddress,
  }),
}

const STORE = {
  data: setting(text('FILE'), {
    about: 'store data in this SQLite file, created at the first start',
    defaultText: './hookswitch.db',
  }),
  // `postgresChoice` checks the URL.
  postgres: setting<string>(
    { schema: { type: 'string' }, argument: 'URL' },
    {
      about: 'store data in a PostgreSQL database, which several nodes may share',
      secret: 'url',
    },
  ),
  memory: setting(boolean, { about: 'store data in memory; it is lost when the program ends' }),
  schema: setting(text('NAME'), {
    about: 'the schema of the PostgreSQL database, created at the first start',
    defaultText: 'hookswitch',
  }),
  postgresMaxConnections: setting(integer(2, 10_000), {
    about: 'connections to PostgreSQL',
    defaultText: '8',
  }),
  postgresAnswerWithinMs: setting(integer(100, 2_147_483_647), {
    about: 'limit for the answer of PostgreSQL to one statement',
    defaultText: '10000',
  }),
  secret: setting<string | readonly string[]>(
    {
      schema: {
        anyOf: [
          { type: 'string', minLength: 16, expected: 'a key of at least 16 characters' },
          { type: 'array', minItems: 1, items: { type: 'string', minLength: 16 } },
        ],
        expected: 'a key of at least 16 characters, or a list of keys',
      },
      argument: 'KEY',
    },
    {
      about:
        'the key that encrypts secrets at rest; of a list the first encrypts and all decrypt. Required with PostgreSQL, the same on every node',
      defaultText: 'with a file the content of FILE.key, in memory a random one',
      secret: 'value',
      hasFlag: false,
    },
  ),
}

const ACCOUNTS = {
  accounts: setting(text('FILE.json'), {
    about:
      'accounts to create or update at start: an array of {"id","name","realm","parentId","enabled","apiKey","users":[{"username","password"}]}, only name and realm are required',
    reloadable: true,
  }),
  accountsPrune: setting(boolean, {
    about:
      'remove accounts that the file of --accounts no longer lists; otherwise they are named in a warning',
    default: false,
  }),
  accountsPruneLimit: setting(integer(0, 100_000_000), {
    about: 'accounts that --accounts-prune removes at once, operators too; more are refused',
    defaultText: 'a tenth of the listed accounts, and no operator',
  }),
  operators: setting(list('ID', 'the id of an account', '^[A-Za-z0-9_-]{1,64}$'), {
    about: 'accounts whose API key and admins act on every account over HTTP',
    alias: '--operator',
  }),
  restrictUsers: setting(boolean, {
    about: 'users without admin rights only read, and change their own document',
    defaultText: 'true; false with --preset kazoo',
  }),
  subaccounts: setting(boolean, {
    about: 'admins create accounts below their own over HTTP; otherwise operators alone do',
    default: true,
  }),
  uniqueAccountNames: setting(boolean, {
    about: 'refuse a second account of the same name over HTTP',
    default: true,
  }),
  accountRealmSuffix: setting(text('DOMAIN', 'a lower-case domain name', DOMAIN), {
    about: 'domain of the realms of accounts that are created over HTTP without one',
    default: OPTION_DEFAULTS.accountRealmSuffix,
  }),
  defaultTimezone: setting(text('ZONE', 'a time zone of 5 to 32 characters', TIME_ZONE), {
    about: 'time zone of accounts that name none',
    default: OPTION_DEFAULTS.defaultTimezone,
  }),
  tokenTtlSeconds: setting(integer(1, 315_360_000, 'SECONDS'), {
    about: 'lifetime of a token',
    default: OPTION_DEFAULTS.tokenTtlSeconds,
    alias: '--token-ttl',
    reloadable: true,
  }),
  tokenCacheSize: setting(integer(1, 100_000_000), {
    about: 'tokens cached in memory',
    default: OPTION_DEFAULTS.tokenCacheSize,
  }),
  tokenInQuery: setting(boolean, {
    about:
      'accept a token in the query too, as ?auth_token=; by default not from pages of the same origin, unless --no-portal',
    default: true,
  }),
  loginBurst: setting(burst, {
    about: 'logins from one address before it is rate-limited',
    default: OPTION_DEFAULTS.loginBurst,
    reloadable: true,
  }),
  loginRefillPerSecond: setting(number(0.001), {
    about: 'logins a second from one address in the long run',
    default: OPTION_DEFAULTS.loginRefillPerSecond,
    reloadable: true,
  }),
}

const EVENTS = {
  ingest: setting(boolean, {
    about: 'accept events over HTTP: PUT /v1/accounts/ACCOUNT/events',
    default: false,
  }),
  hooks: setting<NonNullable<HookswitchOptions['hooks']>>(
    {
      schema: {
        type: 'array',
        expected: 'a list of {"id","name","description","schema","sample"}',
        items: {
          type: 'object',
          required: ['id'],
          properties: {
            id: {
              type: 'string',
              pattern: '^[a-z][a-z0-9_]{0,63}$',
              expected: 'a name of lower-case letters, digits and _',
            },
            name: { type: 'string' },
            description: { type: 'string' },
            schema: { type: 'object', expected: 'a JSON Schema of data' },
            sample: {
              anyOf: [{ type: 'object' }, { type: 'array', minItems: 1, items: { type: 'object' } }],
            },
          },
          additionalProperties: false,
        },
      },
      argument: 'JSON',
    },
    { about: 'further kinds of events' },
  ),
}

const SWITCHES = {
  freeswitch: setting(switches('freeswitch', 'HOST:PORT'), {
    about: "read events from this FreeSWITCH's event socket, default port 8021",
  }),
  freeswitchOutbound: setting(switches('freeswitchOutbound', 'HOST:PORT'), {
    about: "listen here for FreeSWITCHes whose dial plan runs 'socket', default port 8084",
  }),
  asteriskAmi: setting(switches('asteriskAmi', 'USER@HOST:PORT'), {
    about: "read events from this Asterisk's manager interface, default port 5038",
  }),
  asteriskAri: setting(switches('asteriskAri', 'URL'), {
    about: "read events from this Asterisk's REST interface, http://USER@HOST:8088/ari",
  }),
  kamailio: setting(switches('kamailio', 'HOST:PORT'), {
    about: "read events from this Kamailio's evapi, default port 8448",
  }),
  accountFrom: setting(text('SOURCE'), {
    about:
      'where to read the account of a call: variable:NAME, sip-header:NAME, context, endpoint or account-code ' +
      "(an account id), or realm (an account's realm). For the switches without a parameter account-from, " +
      'except Kamailio, which always uses the realm',
  }),
  freeswitchPassword: setting(text('PASSWORD'), {
    about: 'the password of the FreeSWITCHes that name none',
    defaultText: 'ClueCon',
    secret: 'value',
    hasFlag: false,
  }),
  amiSecret: setting(text('PASSWORD'), {
    about: 'the password of the Asterisk manager interfaces that name none',
    secret: 'value',
    hasFlag: false,
  }),
  ariPassword: setting(text('PASSWORD'), {
    about: 'the password of the Asterisk REST interfaces that name none',
    secret: 'value',
    hasFlag: false,
  }),
}

const RECEIVERS = {
  preset: setting(oneOf('kazoo'), {
    about:
      'behave as KAZOO does where our defaults differ: form data, retries as total tries 2 s apart on transport ' +
      'errors only, disabling after 6 failed tries in 60 s',
  }),
  defaultRetries: setting(integer(0, 30), {
    about: 'retries of webhooks that name none',
    defaultText: '5; 9 with the retry policy patient, 2 with kazoo',
  }),
  defaultMaxAgeSeconds: setting(integer(1, 2_147_483_647), {
    about:
      'deliveries that were accepted longer ago than this are not sent, unless the webhook says otherwise',
    defaultText: '86400 (one day); 345600 (four days) with the retry policy patient',
  }),
  defaultRateLimit: setting(number(0.001, 10_000), {
    about: 'most requests per second to a webhook that names no rate_limit, per node; fractions are allowed',
    defaultText: 'no limit',
  }),
  defaultFormat: setting(oneOf('json', 'form-data'), {
    about: 'body format of webhooks that name none',
    defaultText: 'json; form-data with --preset kazoo',
  }),
  allow: setting(list('HOST|CIDR', 'a host, an address or a network', NO_SPACE), {
    about: 'permit webhooks to this private host or network',
  }),
  allowLocal: setting(boolean, {
    about: 'permit webhooks to loopback addresses and localhost',
    default: OPTION_DEFAULTS.allowLocal,
  }),
  proxy: setting(text('URL'), {
    about: 'send requests to receivers through this HTTP proxy: http://USER:PASSWORD@HOST:PORT',
    secret: 'url',
  }),
  'tls.caFile': setting(text('FILE'), {
    about: 'certificates of the authorities to trust instead of those of Node, PEM',
  }),
  'tls.certFile': setting(text('FILE'), { about: 'client certificate for receivers, PEM' }),
  'tls.keyFile': setting(text('FILE'), { about: 'private key of the client certificate, PEM' }),
  'tls.passphrase': setting(text('TEXT'), {
    about: 'decrypts the private key',
    secret: 'value',
    hasFlag: false,
  }),
  'tls.minVersion': setting(oneOf('TLSv1.2', 'TLSv1.3'), {
    about: 'lowest TLS version',
    defaultText: 'TLSv1.2',
  }),
  'tls.maxVersion': setting(oneOf('TLSv1.2', 'TLSv1.3'), {
    about: 'highest TLS version',
    defaultText: 'TLSv1.3',
  }),
}

const DELAY: SettingSchema = { type: 'number', minimum: 0, maximum: WEEK_MS }
const rule = (
  kind: string,
  properties: Readonly<Record<string, SettingSchema>>,
  required: readonly string[],
) =>
  ({
    type: 'object',
    properties: { kind: { type: 'string', const: kind }, ...properties },
    required: ['kind', ...required],
    additionalProperties: false,
  }) as const
const policy = (
  kind: string,
  properties: Readonly<Record<string, SettingSchema>>,
  required: readonly string[],
) =>
  rule(
    kind,
    {
      ...properties,
      jitter: { type: 'number', minimum: 0, maximum: 1 },
      retryOn: { type: 'string', enum: ['failure', 'transport'] },
      retriesCountTries: { type: 'boolean' },
    },
    required,
  )
const off: SettingSchema = { type: 'boolean', const: false }

/** A retry policy in a configuration: fields that are left out have the defaults of `exponential` and the others. */
export interface PolicySetting {
  readonly kind: 'exponential' | 'constant' | 'schedule'
  readonly baseMs?: number
  readonly factor?: number
  readonly capMs?: number
  readonly delayMs?: number
  readonly delaysMs?: readonly number[]
  readonly jitter?: number
  readonly retryOn?: 'failure' | 'transport'
  readonly retriesCountTries?: boolean
}

const DELIVERY = {
  hold: setting(boolean, {
    about:
      "hold all deliveries from the start on, on all nodes, until 'hookswitch webhooks release --all': they are accepted and not sent",
    default: false,
  }),
  retryPolicy: setting<keyof typeof POLICY_PRESETS | PolicySetting>(
    {
      schema: {
        anyOf: [
          { type: 'string', enum: Object.keys(POLICY_PRESETS) },
          policy(
            'exponential',
            { baseMs: DELAY, factor: { type: 'number', minimum: 1, maximum: 100 }, capMs: DELAY },
            [],
          ),
          policy('constant', { delayMs: DELAY }, ['delayMs']),
          policy('schedule', { delaysMs: { type: 'array', minItems: 1, items: DELAY } }, ['delaysMs']),
        ],
        expected: `${Object.keys(POLICY_PRESETS).join(', ')} or an object with a kind`,
      },
      argument: 'NAME|JSON',
    },
    {
      about: 'when failed deliveries are retried: standard, kazoo, patient, or {"kind":"exponential", …}',
      defaultText: 'standard; kazoo with --preset kazoo',
    },
  ),
  pauses: setting(boolean, {
    about: 'pause a webhook while its receiver is unavailable or rejects everything',
    defaultText: 'true; false with --preset kazoo',
  }),
  autoDisable: setting<NonNullable<HookswitchOptions['autoDisable']>>(
    {
      schema: {
        anyOf: [
          rule(
            'silent',
            {
              afterMs: { type: 'integer', minimum: 0, maximum: MS_PER_YEAR },
              exhausted: { type: 'integer', minimum: 0, maximum: 1_000_000 },
            },
            ['afterMs', 'exhausted'],
          ),
          rule(
            'burst',
            {
              failures: { type: 'integer', minimum: 1, maximum: 1_000_000 },
              withinMs: { type: 'integer', minimum: 1, maximum: MS_PER_YEAR },
            },
            ['failures', 'withinMs'],
          ),
          off,
        ],
        expected: 'false or an object whose kind is silent or burst',
      },
      argument: 'JSON|false',
    },
    {
      about:
        'when a failing webhook is disabled: {"kind":"silent","afterMs","exhausted"}, {"kind":"burst","failures","withinMs"}, or false',
      defaultText: '5 days without a success and 20 deliveries given up',
    },
  ),
  orderingPatienceSeconds: setting(integer(0, 2_147_483_647), {
    about: 'how long a failed event holds back the next events of its call while its receiver takes others',
    default: OPTION_DEFAULTS.orderingPatienceSeconds,
  }),
  attemptTimeoutMs: setting(integer(1, 600_000), {
    about: 'limit for one attempt',
    default: OPTION_DEFAULTS.attemptTimeoutMs,
  }),
  inFlight: setting(integer(1, 100_000), {
    about: 'requests in flight in all',
    default: OPTION_DEFAULTS.inFlight,
  }),
  probeSockets: setting(integer(1, 100_000), {
    about: 'sockets for probes of paused webhooks, beside those requests',
    default: OPTION_DEFAULTS.probeSockets,
  }),
  inFlightPerAccount: setting(integer(1, 100_000), {
    about: "requests in flight for one account's webhooks",
    default: OPTION_DEFAULTS.inFlightPerAccount,
    reloadable: true,
  }),
  inFlightPerEndpoint: setting(integer(1, 100_000), {
    about: 'requests in flight to one webhook',
    default: OPTION_DEFAULTS.inFlightPerEndpoint,
    reloadable: true,
  }),
  inFlightPerOrigin: setting(integer(1, 100_000), {
    about: 'requests in flight to one origin',
    default: OPTION_DEFAULTS.inFlightPerOrigin,
  }),
  maxPending: setting(integer(1, Number.MAX_SAFE_INTEGER), {
    about: 'deliveries that may wait; above it the oldest of the largest backlog expire',
    default: OPTION_DEFAULTS.maxPending,
    reloadable: true,
  }),
  maxPendingPerAccount: setting(integer(1, Number.MAX_SAFE_INTEGER), {
    about: 'deliveries that may wait for the webhooks of one account; a fifth of the former without it',
    reloadable: true,
  }),
  maxPendingPerWebhook: setting(integer(1, Number.MAX_SAFE_INTEGER), {
    about: 'deliveries that may wait for one webhook; above it its oldest expire',
    default: OPTION_DEFAULTS.maxPendingPerWebhook,
    reloadable: true,
  }),
  maxEventsPerRequest: setting(integer(1, 10_000), {
    about: 'events in one request to the API; above it the request is refused',
    default: OPTION_DEFAULTS.maxEventsPerRequest,
    reloadable: true,
  }),
  maxDeliveriesPerRequest: setting(integer(1, 1_000_000), {
    about: 'deliveries that the events of one request make; above it the request is refused',
    default: OPTION_DEFAULTS.maxDeliveriesPerRequest,
    reloadable: true,
  }),
  maxStreams: setting(integer(1, 100_000), {
    about: 'open streams of this node',
    default: OPTION_DEFAULTS.maxStreams,
  }),
  maxStreamsPerAccount: setting(integer(1, 100_000), {
    about: 'open streams of one account',
    default: OPTION_DEFAULTS.maxStreamsPerAccount,
  }),
  maxStreamsPerToken: setting(integer(1, 100_000), {
    about: 'open streams of one token',
    default: OPTION_DEFAULTS.maxStreamsPerToken,
  }),
  recordSuccesses: setting(boolean, {
    about: 'record successful attempts too',
    default: OPTION_DEFAULTS.recordSuccesses,
  }),
  statistics: setting(boolean, {
    about: 'count attempts over time',
    default: OPTION_DEFAULTS.statistics,
  }),
  attemptsPerWebhook: setting(integer(1, 1_000_000), {
    about: 'attempts stored of one webhook, of deliveries that were delivered',
    default: OPTION_DEFAULTS.attemptsPerWebhook,
    reloadable: true,
  }),
  retentionDays: setting(number(0.001), {
    about: 'days for which attempts and ended deliveries are stored',
    default: OPTION_DEFAULTS.retentionDays,
    reloadable: true,
  }),
  unwantedRetentionSeconds: setting(integer(0, 31_536_000), {
    about:
      'seconds for which accepted events that no webhook wanted are kept, for `hookswitch why`; 0: not at all',
    default: OPTION_DEFAULTS.unwantedRetentionSeconds,
    reloadable: true,
  }),
  maxHistoryBytes: setting(integer(1_048_576, Number.MAX_SAFE_INTEGER), {
    about: 'bytes that events, attempts and ended deliveries may take; default: no limit',
  }),
  replayBurst: setting(burst, {
    about:
      'tests, replays and resumptions of one webhook, or replays of one account, before they are rate-limited',
    default: OPTION_DEFAULTS.replayBurst,
    reloadable: true,
  }),
  replayRefillPerSecond: setting(number(0.001), {
    about:
      'tests, replays and resumptions of one webhook, or replays of one account, a second in the long run',
    default: OPTION_DEFAULTS.replayRefillPerSecond,
    reloadable: true,
  }),
}

const LOG = {
  log: setting(oneOf('json', 'pretty'), {
    about: 'log format',
    defaultText: 'pretty on a terminal, otherwise json',
  }),
  accessLog: setting(boolean, {
    about:
      'log every HTTP request: method, path without query, route, status, bytes, duration, client address, request id, account, user',
    default: false,
  }),
  logLevel: setting(oneOf('debug', 'info', 'warn', 'error'), {
    about: 'log entries of this level and above',
    default: 'info',
    reloadable: true,
  }),
}

/** Every setting by its name. */
export const SETTINGS = {
  ...LISTENING,
  ...STORE,
  ...ACCOUNTS,
  ...EVENTS,
  ...SWITCHES,
  ...RECEIVERS,
  ...DELIVERY,
  ...LOG,
}

/** The settings in groups, as the help and the documentation list them. */
export const SETTING_GROUPS: readonly (readonly [title: string, names: readonly SettingName[]])[] = [
  ['Listening', namesOf(LISTENING)],
  ['Store', namesOf(STORE)],
  ['Accounts and tokens', namesOf(ACCOUNTS)],
  ['Events', namesOf(EVENTS)],
  ['Switches', namesOf(SWITCHES)],
  ['Requests to receivers', namesOf(RECEIVERS)],
  ['Delivery', namesOf(DELIVERY)],
  ['Log', namesOf(LOG)],
]

/** The name of a setting: its key in the file. */
export type SettingName = keyof typeof SETTINGS

type ValueOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends Setting<infer Value> ? Value : never

/** The values that hold, by name. A setting without a value and without a default is absent. */
export type SettingValues = { readonly [Name in SettingName]?: ValueOf<Name> }

export const SETTING_NAMES = namesOf(SETTINGS)

/** Settings that are options of `createHookswitch` with the same name and value. */
export const OPTION_SETTINGS = [
  'nodeName',
  'hold',
  'tokenTtlSeconds',
  'tokenCacheSize',
  'loginRefillPerSecond',
  'ingest',
  'hooks',
  'tokenInQuery',
  'maxUnfinishedBodyBytes',
  'maxUnfinishedBodyBytesPerAddress',
  'preset',
  'operators',
  'restrictUsers',
  'subaccounts',
  'uniqueAccountNames',
  'accountRealmSuffix',
  'defaultTimezone',
  'defaultRetries',
  'defaultMaxAgeSeconds',
  'defaultRateLimit',
  'orderingPatienceSeconds',
  'defaultFormat',
  'accessLog',
  'allow',
  'allowLocal',
  'proxy',
  'pauses',
  'autoDisable',
  'attemptTimeoutMs',
  'inFlight',
  'probeSockets',
  'inFlightPerAccount',
  'inFlightPerEndpoint',
  'inFlightPerOrigin',
  'maxPending',
  'maxPendingPerAccount',
  'maxPendingPerWebhook',
  'maxEventsPerRequest',
  'maxDeliveriesPerRequest',
  'maxStreams',
  'maxStreamsPerAccount',
  'maxStreamsPerToken',
  'recordSuccesses',
  'statistics',
  'attemptsPerWebhook',
  'retentionDays',
  'unwantedRetentionSeconds',
  'maxHistoryBytes',
  'replayRefillPerSecond',
  'cors',
  'trustProxy',
] as const satisfies readonly (SettingName & keyof HookswitchOptions)[]

/** The row of a setting. */
export function settingOf(name: SettingName): Setting {
  return SETTINGS[name] as Setting
}

function namesOf<Table extends object>(table: Table): readonly (keyof Table & SettingName)[] {
  return Object.keys(table) as (keyof Table & SettingName)[]
}

/** Parses and checks the flags of `hookswitch serve`. Reads and opens nothing. */
import { defined, includes, readFlags, wrongFlag } from './read-flags.js'
import type { StoreFlags } from './store-options.js'
import type { SwitchFlags } from './switch-options.js'

/** The flags of `hookswitch serve`, with defaults. */
export interface ServeFlags extends StoreFlags, SwitchFlags {
  readonly port: number
  readonly host: string
  readonly accounts?: string
  /** Removes accounts that the file no longer lists. */
  readonly accountsPrune: boolean
  /** Ids of accounts whose admins act on every account. */
  readonly operators: readonly string[]
  readonly tokenTtlSeconds?: number
  readonly preset?: 'kazoo'
  readonly ingest: boolean
  readonly allowLocal: boolean
  readonly log?: 'json' | 'pretty'
  readonly cors: readonly string[]
  readonly allow: readonly string[]
  readonly trustProxy: readonly string[]
  readonly loginBurst?: number
  readonly adminPort?: number
}

const DEFAULTS = Object.freeze({ port: 8000, host: '127.0.0.1' })

const NAMES = {
  switches: ['memory', 'ingest', 'allow-local', 'accounts-prune'],
  lists: [
    'cors',
    'allow',
    'trust-proxy',
    'operator',
    'freeswitch',
    'freeswitch-outbound',
    'asterisk-ami',
    'asterisk-ari',
    'kamailio',
  ],
  values: [
    'data',
    'postgres',
    'schema',
    'port',
    'host',
    'accounts',
    'token-ttl',
    'preset',
    'log',
    'login-burst',
    'admin-port',
    'account-from',
  ],
} as const

/** `*`, or an origin as browsers send it: lower case, without a path or trailing slash (RFC 6454 section 6.2). */
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[^\s/?#@A-Z]+)$/

/** @throws `InvalidOption`; its `field` is the flag as written */
export function parseServeFlags(argv: readonly string[]): ServeFlags {
  const { has, list, value } = readFlags('serve', argv, NAMES)
  const host = value('host') ?? DEFAULTS.host
  if (host === '') throw wrongFlag('--host', 'must not be empty')
  const port = integer('--port', value('port'), 0, 65_535) ?? DEFAULTS.port
  const adminPort = integer('--admin-port', value('admin-port'), 0, 65_535)
  if (adminPort === port && port !== 0) throw wrongFlag('--admin-port', 'must differ from --port')
  const invalidOrigin = list('cors').find((origin) => !ORIGIN.test(origin))
  if (invalidOrigin !== undefined)
    throw wrongFlag('--cors', `must be an origin like https://ui.example.com or *, not '${invalidOrigin}'`)
  const invalidOperator = list('operator').find((id) => !/^[A-Za-z0-9_-]{1,64}$/.test(id))
  if (invalidOperator !== undefined)
    throw wrongFlag('--operator', `must be the id of an account, not '${invalidOperator}'`)
  if (has('accounts-prune') && value('accounts') === undefined)
    throw wrongFlag('--accounts-prune', 'needs --accounts')
  return {
    port,
    host,
    memory: has('memory'),
    ingest: has('ingest'),
    allowLocal: has('allow-local'),
    cors: list('cors'),
    allow: list('allow'),
    trustProxy: list('trust-proxy'),
    operators: list('operator'),
    accountsPrune: has('accounts-prune'),
    freeswitch: list('freeswitch'),
    freeswitchOutbound: list('freeswitch-outbound'),
    asteriskAmi: list('asterisk-ami'),
    asteriskAri: list('asterisk-ari'),
    kamailio: list('kamailio'),
    ...defined({
      data: value('data'),
      postgres: value('postgres'),
      schema: value('schema'),
      accounts: value('accounts'),
      tokenTtlSeconds: integer('--token-ttl', value('token-ttl'), 1, 2_147_483_647),
      preset: oneOf('--preset', value('preset'), ['kazoo'] as const),
      log: oneOf('--log', value('log'), ['json', 'pretty'] as const),
      loginBurst: integer('--login-burst', value('login-burst'), 1, 2_147_483_647),
      adminPort,
      accountFrom: value('account-from'),
    }),
  }
}

function integer(flag: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw wrongFlag(flag, `must be an integer from ${min} to ${max}, not '${text}'`)
}

function oneOf<Name extends string>(flag: string, text: string | undefined, names: readonly Name[]) {
  if (text === undefined || includes(names, text)) return text
  throw wrongFlag(flag, `must be ${names.join(' or ')}, not '${text}'`)
}

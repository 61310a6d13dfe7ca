/** The flags of `hookswitch serve`: text in, checked values out. Nothing is read or opened here. */
import { parseArgs } from 'node:util'
import { HookswitchError } from 'hookswitch'

/** What `hookswitch serve` was asked for, defaults filled in. */
export interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly accounts?: string
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

const SWITCHES = ['memory', 'ingest', 'allow-local'] as const
const LISTS = ['cors', 'allow', 'trust-proxy'] as const
const VALUES = [
  'port',
  'host',
  'accounts',
  'token-ttl',
  'preset',
  'log',
  'login-burst',
  'admin-port',
] as const
/** Flags of stores that are not here yet: named so that nobody takes their refusal for a typing error. */
const DURABLE = ['data', 'postgres'] as const

/** `*`, or an origin as browsers send it: lower case, no path, not even a slash (RFC 6454, 6.2). */
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[^\s/?#@A-Z]+)$/

/** A wrong flag: one sentence that begins with its name. */
export function wrongFlag(flag: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${flag}: ${problem}`, { field: flag })
}

/** @throws `InvalidOption`; its `field` is the flag as it was written */
export function parseServeFlags(argv: readonly string[]): ServeFlags {
  const given = tokensOf(argv)
  const last = (name: (typeof VALUES)[number]) => given.values.get(name)?.[0]
  const list = (name: (typeof LISTS)[number]) => given.values.get(name) ?? []
  const host = last('host') ?? DEFAULTS.host
  if (host === '') throw wrongFlag('--host', 'must not be empty')
  const port = integer('--port', last('port'), 0, 65_535) ?? DEFAULTS.port
  const adminPort = integer('--admin-port', last('admin-port'), 0, 65_535)
  if (adminPort === port && port !== 0) throw wrongFlag('--admin-port', 'must differ from --port')
  const stray = list('cors').find((origin) => !ORIGIN.test(origin))
  if (stray !== undefined)
    throw wrongFlag('--cors', `must be an origin like https://ui.example.com or *, not '${stray}'`)
  return {
    port,
    host,
    ingest: given.switches.has('ingest'),
    allowLocal: given.switches.has('allow-local'),
    cors: list('cors'),
    allow: list('allow'),
    trustProxy: list('trust-proxy'),
    ...defined({
      accounts: last('accounts'),
      tokenTtlSeconds: integer('--token-ttl', last('token-ttl'), 1, 2_147_483_647),
      preset: oneOf('--preset', last('preset'), ['kazoo'] as const),
      log: oneOf('--log', last('log'), ['json', 'pretty'] as const),
      loginBurst: integer('--login-burst', last('login-burst'), 1, 2_147_483_647),
      adminPort,
    }),
  }
}

interface Given {
  readonly switches: ReadonlySet<string>
  readonly values: ReadonlyMap<string, readonly string[]>
}

function tokensOf(argv: readonly string[]): Given {
  const options = Object.fromEntries([
    ...SWITCHES.map((name) => [name, { type: 'boolean' }] as const),
    ...[...LISTS, ...VALUES, ...DURABLE].map((name) => [name, { type: 'string' }] as const),
  ])
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const switches = new Set<string>()
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') throw wrongFlag(token.value, "is no flag, see 'hookswitch serve --help'")
    const { name, rawName, value } = token
    if (includes(DURABLE, name)) {
      throw wrongFlag(rawName, 'there is no durable store in this version yet, it keeps everything in memory')
    }
    if (includes(SWITCHES, name)) {
      if (value !== undefined) throw wrongFlag(rawName, 'takes no value')
      switches.add(name)
    } else if (includes(VALUES, name) || includes(LISTS, name)) {
      if (value === undefined || (!token.inlineValue && value.startsWith('--'))) {
        throw wrongFlag(rawName, 'needs a value')
      }
      const before = values.get(name)
      if (before && !includes(LISTS, name)) throw wrongFlag(rawName, 'was given twice')
      values.set(name, [...(before ?? []), value])
    } else throw wrongFlag(rawName, "is unknown, see 'hookswitch serve --help'")
  }
  return { switches, values }
}

function includes<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name)
}

function integer(flag: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw wrongFlag(flag, `must be an integer from ${least} to ${most}, not '${text}'`)
}

function oneOf<Name extends string>(flag: string, text: string | undefined, names: readonly Name[]) {
  if (text === undefined || includes(names, text)) return text
  throw wrongFlag(flag, `must be ${names.join(' or ')}, not '${text}'`)
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

function defined<T extends object>(entries: T): Defined<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Defined<T>
}

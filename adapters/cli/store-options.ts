/** Chooses the store from flags and environment. Opens nothing. */
import { wrongFlag } from './read-flags.js'

/** The flags that choose a store, as text. */
export interface StoreFlags {
  readonly memory: boolean
  readonly data?: string
  readonly postgres?: string
  readonly schema?: string
}

/** A SQLite file, used by this process only. */
export interface FileChoice {
  readonly store: 'sqlite'
  readonly path: string
}

/** A PostgreSQL database, which several nodes may share. */
export interface PostgresChoice {
  readonly store: 'postgres'
  /** The flag or variable that gave the URL. */
  readonly flag: '--postgres' | '--to' | 'HOOKSWITCH_POSTGRES'
  readonly connectionString: string
  readonly schema?: string
}

export type StoreChoice = { readonly store: 'memory' } | FileChoice | PostgresChoice

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PATH = './hookswitch.db'

/**
 * Chooses the store of the flags, otherwise of the environment, otherwise a file in the working directory.
 *
 * @throws `InvalidOption` naming the flag or the variable; the message never quotes a URL, which may contain a password
 */
export function chooseStore(flags: StoreFlags, env: Environment): StoreChoice {
  const { data, schema } = flags
  const given = [
    ...(data === undefined ? [] : ['--data']),
    ...(flags.postgres === undefined ? [] : ['--postgres']),
    ...(flags.memory ? ['--memory'] : []),
  ]
  const [first, second] = given
  if (first && second) throw wrongFlag(second, `cannot be combined with ${first}`)
  const choice = first ? fromFlags(flags) : fromEnvironment(env, schema)
  if (schema !== undefined && choice.store !== 'postgres') {
    throw wrongFlag('--schema', 'is for PostgreSQL, which --postgres or HOOKSWITCH_POSTGRES names')
  }
  return choice
}

function fromFlags({ memory, data, postgres, schema }: StoreFlags): StoreChoice {
  if (memory) return { store: 'memory' }
  if (postgres !== undefined) return postgresChoice('--postgres', postgres, schema)
  return fileChoice('--data', data ?? DEFAULT_PATH)
}

function fromEnvironment({ HOOKSWITCH_POSTGRES: url }: Environment, schema: string | undefined): StoreChoice {
  // An empty variable is refused: with a local file instead, other nodes would miss the events.
  return url === undefined
    ? { store: 'sqlite', path: DEFAULT_PATH }
    : postgresChoice('HOOKSWITCH_POSTGRES', url, schema)
}

/** @throws `InvalidOption` naming the flag */
export function fileChoice(flag: string, path: string): FileChoice {
  if (path === '') throw wrongFlag(flag, 'must not be empty')
  if (path === ':memory:') throw wrongFlag(flag, 'must name a file; for memory use --memory')
  if (/^postgres(ql)?:/i.test(path)) throw wrongFlag(flag, 'must name a file; a URL belongs to --postgres')
  return { store: 'sqlite', path }
}

/** @throws `InvalidOption` naming the flag */
export function postgresChoice(
  flag: PostgresChoice['flag'],
  connectionString: string,
  schema?: string,
): PostgresChoice {
  if (!isPostgresUrl(connectionString)) {
    const like = 'must be a URL like postgres://user:password@host:5432/database'
    throw wrongFlag(flag, `${like}, with special characters of the password percent-encoded (%40)`)
  }
  return { store: 'postgres', flag, connectionString, ...(schema === undefined ? {} : { schema }) }
}

/** Host and database for the log, without user and password. */
export function targetOf(choice: PostgresChoice): { readonly host?: string; readonly database?: string } {
  const { host, pathname, searchParams } = new URL(choice.connectionString)
  const server = decodeURIComponent(host) || searchParams.get('host') || undefined
  const database = decodeURIComponent(pathname.slice(1)) || undefined
  return { ...(server && { host: server }), ...(database && { database }) }
}

/** Rejects a password with an unencoded `#`, `?` or `/`, which would turn the user into a host. */
function isPostgresUrl(text: string): boolean {
  try {
    const { host, pathname, hash, searchParams } = new URL(text)
    decodeURIComponent(host + pathname)
    const isWhole = hash === '' && !/[/@]/.test(pathname.slice(1))
    return /^postgres(ql)?:\/\//i.test(text) && isWhole && [...searchParams.keys()].every(isParameter)
  } catch {
    return false
  }
}

const isParameter = (name: string) => /^\w+$/.test(name)

/** Which store the command line asks for. Nothing is opened here. */
import { wrongFlag } from './read-flags.js'

/** The flags that name a store, as text. */
export interface StoreFlags {
  readonly memory: boolean
  readonly data?: string
  readonly postgres?: string
  readonly schema?: string
}

/** Everything in one file: of this process alone. */
export interface FileChoice {
  readonly store: 'sqlite'
  readonly path: string
}

/** Everything in a PostgreSQL database, which several nodes may share. */
export interface PostgresChoice {
  readonly store: 'postgres'
  /** Where the URL was given. */
  readonly flag: '--postgres' | '--to' | 'HOOKSWITCH_POSTGRES'
  readonly connectionString: string
  readonly schema?: string
}

export type StoreChoice = { readonly store: 'memory' } | FileChoice | PostgresChoice

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PATH = './hookswitch.db'

/**
 * The store of the flags, else of the environment, else a file in the working directory.
 *
 * @throws `InvalidOption` naming the flag or the variable; a URL is never quoted, there are passwords in it
 */
export function chooseStore(flags: StoreFlags, env: Environment): StoreChoice {
  const { data, schema } = flags
  const given = [
    ...(data === undefined ? [] : ['--data']),
    ...(flags.postgres === undefined ? [] : ['--postgres']),
    ...(flags.memory ? ['--memory'] : []),
  ]
  const [first, second] = given
  if (first && second) throw wrongFlag(second, `cannot go with ${first}, everything is kept in one place`)
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
  // An empty one is refused: events that went to a file of this machine would be missed by the other nodes.
  return url === undefined
    ? { store: 'sqlite', path: DEFAULT_PATH }
    : postgresChoice('HOOKSWITCH_POSTGRES', url, schema)
}

/** @throws `InvalidOption` naming the flag */
export function fileChoice(flag: string, path: string): FileChoice {
  if (path === '') throw wrongFlag(flag, 'must not be empty')
  if (path === ':memory:') throw wrongFlag(flag, 'must name a file, for memory use --memory')
  if (/^postgres(ql)?:/i.test(path)) throw wrongFlag(flag, 'must name a file, a URL goes with --postgres')
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
    throw wrongFlag(flag, `${like}, with special characters of the password as %40`)
  }
  return { store: 'postgres', flag, connectionString, ...(schema === undefined ? {} : { schema }) }
}

/** Where everything is kept, for the log: never the user, never the password. */
export function placeOf(choice: PostgresChoice): { readonly host?: string; readonly database?: string } {
  const { host, pathname, searchParams } = new URL(choice.connectionString)
  const server = decodeURIComponent(host) || searchParams.get('host') || undefined
  const database = decodeURIComponent(pathname.slice(1)) || undefined
  return { ...(server && { host: server }), ...(database && { database }) }
}

/** What ends a password too early (`#`, `?`, `/`) would make a host of the user, so nothing may look like it. */
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

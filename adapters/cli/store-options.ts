/** Chooses the store from the settings. Opens nothing. */
import { type ConnectionTarget, connectionTarget } from 'hookswitch/adapter'
import { wrongFlag } from './read-flags.js'
import { type Settings, wrongSetting } from './read-settings.js'

/** A SQLite file, used by this process only. */
export interface FileChoice {
  readonly store: 'sqlite'
  readonly path: string
}

/** A PostgreSQL database, which several nodes may share. */
export interface PostgresChoice {
  readonly store: 'postgres'
  /** The flag, variable or place in a file that gave the URL, for errors. */
  readonly flag: string
  readonly connectionString: string
  readonly schema?: string
  readonly maxConnections?: number
  readonly answerWithinMs?: number
}

export type StoreChoice = { readonly store: 'memory' } | FileChoice | PostgresChoice

/** The file where no store is chosen. */
export const DEFAULT_PATH = './hookswitch.db'

/** Settings that choose a store. */
const STORES = ['data', 'postgres', 'memory'] as const

/** The settings that choose a store, or flags with the same names. */
interface StoreSettings extends Pick<Settings, 'labelOf' | 'nameOf'> {
  readonly values: Partial<
    Pick<
      Settings['values'],
      (typeof STORES)[number] | 'schema' | 'postgresMaxConnections' | 'postgresAnswerWithinMs'
    >
  >
}

/**
 * Chooses the store of the settings, otherwise a file in the working directory.
 *
 * @throws `InvalidOption` naming the setting; the message never quotes a URL, which may contain a password
 */
export function chooseStore(
  settings: StoreSettings & { readonly values: { readonly memory?: never } },
): FileChoice | PostgresChoice
export function chooseStore(settings: StoreSettings): StoreChoice
export function chooseStore(settings: StoreSettings): StoreChoice {
  const { data, postgres, schema, postgresMaxConnections, postgresAnswerWithinMs } = settings.values
  const [first, second] = STORES.filter((name) => settings.values[name] !== undefined)
  if (first && second)
    throw wrongSetting(settings, second, `cannot be combined with ${settings.nameOf(first)}`)
  if (schema !== undefined && first !== 'postgres') {
    const sentence = 'is for PostgreSQL, which --postgres or HOOKSWITCH_POSTGRES names'
    throw wrongSetting(settings, 'schema', sentence)
  }
  if (first === 'memory') return { store: 'memory' }
  if (postgres === undefined) return fileChoice(settings.labelOf('data'), data ?? DEFAULT_PATH)
  return {
    ...postgresChoice(settings.labelOf('postgres'), postgres, schema),
    ...(postgresMaxConnections === undefined ? {} : { maxConnections: postgresMaxConnections }),
    ...(postgresAnswerWithinMs === undefined ? {} : { answerWithinMs: postgresAnswerWithinMs }),
  }
}

/** @throws `InvalidOption` naming the flag */
export function fileChoice(flag: string, path: string): FileChoice {
  if (path === '') throw wrongFlag(flag, 'must not be empty')
  if (path === ':memory:') throw wrongFlag(flag, 'must name a file; for memory use --memory')
  if (/^(?:postgres(?:ql)?|socket):/i.test(path))
    throw wrongFlag(flag, 'must name a file; a URL belongs to --postgres')
  return { store: 'sqlite', path }
}

/** @throws `InvalidOption` naming the flag */
export function postgresChoice(
  flag: PostgresChoice['flag'],
  connectionString: string,
  schema?: string,
): PostgresChoice {
  if (!connectionTarget(connectionString)) {
    const like = 'must be a URL like postgres://user:password@host:5432/database'
    throw wrongFlag(
      flag,
      `${like}, with special characters of the password percent-encoded (%40) and one host`,
    )
  }
  return { store: 'postgres', flag, connectionString, ...(schema === undefined ? {} : { schema }) }
}

/** Host and database for the log, without user and password. */
export function targetOf({ connectionString }: PostgresChoice): ConnectionTarget {
  return connectionTarget(connectionString) ?? {}
}

/** Creates the chosen store. Loads only the driver that the store needs. */
import { resolve } from 'node:path'
import { errorCode, HookswitchError, memoryStore } from 'hookswitch'
import type { Settings } from './read-settings.js'
import { type StoreChoice, targetOf } from './store-options.js'

type Store = ReturnType<typeof memoryStore>

/** @throws the store's error about its options; `storeProblem` makes it name the flag */
export async function createStore(choice: StoreChoice): Promise<Store> {
  if (choice.store === 'memory') return memoryStore()
  if (choice.store === 'sqlite') {
    const { sqliteStore } = await import('hookswitch/sqlite')
    return sqliteStore({ path: choice.path })
  }
  const { postgresStore } = await import('hookswitch/postgres')
  const { store: _, flag: __, ...options } = choice
  return postgresStore(options)
}

/** Log fields that describe the store, without user and password. */
export function storeFields(choice: StoreChoice): Readonly<Record<string, string>> {
  const { store } = choice
  if (store === 'memory') return { store }
  if (store === 'sqlite') return { store, path: resolve(choice.path) }
  return { store, ...targetOf(choice), ...(choice.schema === undefined ? {} : { schema: choice.schema }) }
}

/** Settings of the options of a store. */
const SETTING_OF_OPTION = {
  schema: 'schema',
  secret: 'secret',
  maxConnections: 'postgresMaxConnections',
  answerWithinMs: 'postgresAnswerWithinMs',
} as const

/** Makes an error of the store name the setting that chose the store; returns other errors unchanged. */
export function storeProblem(settings: Settings, choice: StoreChoice, thrown: unknown): unknown {
  if (choice.store === 'memory') return thrown
  const labels = Object.fromEntries(
    Object.entries(SETTING_OF_OPTION).map(([option, name]) => [option, settings.labelOf(name)]),
  )
  // Without the setting, the secret is in the key file.
  if (choice.store === 'sqlite' && settings.values.secret === undefined) labels.secret = `${choice.path}.key`
  const label = settings.labelOf(choice.store === 'sqlite' ? 'data' : 'postgres')
  return problemWithFlag(label, thrown, labels)
}

/** Flags of the options of a store that have their own. */
const FLAG_OF: Readonly<Record<string, string>> = { schema: '--schema', secret: 'HOOKSWITCH_SECRET' }

/**
 * @param storeFlag the flag that chose the store
 * @param flags flags of the options of a store
 */
export function problemWithFlag(
  storeFlag: string,
  thrown: unknown,
  flags: Readonly<Record<string, string>> = FLAG_OF,
): unknown {
  const code = errorCode(thrown)
  if (code !== 'StoreUnavailable' && code !== 'StoreCorrupt' && code !== 'InvalidOption') return thrown
  const { message, field = '', retryAfterSeconds } = thrown as HookswitchError
  // A key file that is missing is not repaired by a restart.
  const isWrongKey = code === 'StoreCorrupt' && field === 'secret'
  const flag = isWrongKey ? storeFlag : (flags[field] ?? storeFlag)
  const problem = field !== '' && message.startsWith(field) ? message.slice(field.length) : message
  return new HookswitchError(isWrongKey ? 'InvalidOption' : code, `${flag}: ${problem.replace(/^:? /, '')}`, {
    field: flag,
    cause: thrown,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

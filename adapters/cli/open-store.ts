/** Makes the store of a choice; a driver is loaded only for the store that needs it. */
import { resolve } from 'node:path'
import { errorCode, HookswitchError, memoryStore } from 'hookswitch'
import { placeOf, type StoreChoice } from './store-choice.js'

type Store = ReturnType<typeof memoryStore>

/** @throws what the store says of its options: `storeProblem` puts it under the flag */
export async function makeStore(choice: StoreChoice): Promise<Store> {
  if (choice.store === 'memory') return memoryStore()
  if (choice.store === 'sqlite') {
    const { sqliteStore } = await import('hookswitch/sqlite')
    return sqliteStore({ path: choice.path })
  }
  const { postgresStore } = await import('hookswitch/postgres')
  const { connectionString, schema } = choice
  return postgresStore({ connectionString, ...(schema === undefined ? {} : { schema }) })
}

/** What the log says of the store. */
export function storeFields(choice: StoreChoice): Readonly<Record<string, string>> {
  const { store } = choice
  if (store === 'memory') return { store }
  if (store === 'sqlite') return { store, path: resolve(choice.path) }
  return { store, ...placeOf(choice), ...(choice.schema === undefined ? {} : { schema: choice.schema }) }
}

/** An error of the store as one sentence that begins with the flag which named it; every other error as it is. */
export function storeProblem(choice: StoreChoice, thrown: unknown): unknown {
  if (choice.store === 'memory') return thrown
  return problemUnder(choice.store === 'sqlite' ? '--data' : choice.flag, thrown)
}

/** What of a store is not named with it. */
const FLAG_OF: Readonly<Record<string, string>> = { schema: '--schema', secret: 'HOOKSWITCH_SECRET' }

/** @param named the flag that named the store */
export function problemUnder(named: string, thrown: unknown): unknown {
  const code = errorCode(thrown)
  if (code !== 'StoreUnavailable' && code !== 'StoreCorrupt' && code !== 'InvalidOption') return thrown
  const { message, field = '', retryAfterSeconds } = thrown as HookswitchError
  const flag = FLAG_OF[field] ?? named
  const problem = field !== '' && message.startsWith(field) ? message.slice(field.length) : message
  return new HookswitchError(code, `${flag}: ${problem.replace(/^:? /, '')}`, {
    field: flag,
    cause: thrown,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

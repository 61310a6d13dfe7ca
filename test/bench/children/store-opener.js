// @ts-check
/** Opens a store, which migrates it, and closes it. */
import { systemClock } from 'hookswitch'

const location = JSON.parse(String(process.argv[2]))
const noop = () => {}
const log = { debug: noop, info: noop, warn: noop, error: noop }
const store =
  location.kind === 'sqlite'
    ? (await import('hookswitch/sqlite')).sqliteStore({ path: location.path, inThread: true })
    : (await import('hookswitch/postgres')).postgresStore({
        connectionString: location.connectionString,
        schema: location.schema,
      })
await store.open({ clock: systemClock(), log })
await store.close()
process.exit(0)

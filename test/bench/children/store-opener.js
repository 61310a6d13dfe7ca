// @ts-check
/** Opens a store, which migrates it, and closes it. */
import { readFileSync } from 'node:fs'
import { systemClock } from 'hookswitch/adapter'

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
const { user, system } = process.cpuUsage()
const written = /write_bytes: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]
console.log(`  processor time, s                         ${((user + system) / 1e6).toFixed(1)}`)
console.log(`  written by its process, MB                ${(Number(written) / 2 ** 20).toFixed(0)}`)
process.exit(0)

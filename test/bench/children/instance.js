/** Starts hookswitch on a store of any kind. Importing this file does not load the package. */
import { accountName } from './events.js'
import './profile-worker-threads.js'

/** The encryption secret of all stores of a run. */
const SECRET = 'the secret of the benchmark'

/** Enough for a store that commits in groups. */
const CONCURRENCY = 64

/** Limit of logged warnings and errors in a process. */
const MAX_LINES = 10

/** Creates a store without opening it. @param {import('../stores.js').StoreLocation} location */
export async function createStore({ kind, ...options }) {
  if (kind === 'sqlite') return (await import('hookswitch/sqlite')).sqliteStore(options)
  if (kind === 'postgres') return (await import('hookswitch/postgres')).postgresStore(options)
  return (await import('hookswitch')).memoryStore(options)
}

let lines = 0
const print = ({ reason }, message) => {
  lines += 1
  if (lines <= MAX_LINES) console.error(reason === undefined ? message : `${message}: ${reason}`)
}
/** Prints warnings and errors, which may explain the figures. */
export const LOG = { debug() {}, info() {}, warn: print, error: print }

/**
 * @param {import('hookswitch/store').Store} store
 * @param {object} options of `createHookswitch`
 */
export async function startWithStore(store, options = {}) {
  const { createHookswitch } = await import('hookswitch')
  const hs = createHookswitch({ store, secret: SECRET, allowLocal: true, log: LOG, ...options })
  await hs.start()
  return {
    ...hs,
    close(closeOptions) {
      // Warnings about deliveries that can no longer be sent are expected.
      lines = MAX_LINES
      return hs.close(closeOptions)
    },
  }
}

/** @param {import('../stores.js').StoreLocation} location */
export const startInstance = async (location, options) => startWithStore(await createStore(location), options)

/**
 * Runs `work` for every item, with limited concurrency.
 *
 * @template Item
 * @param {Iterable<Item>} items
 * @param {(item: Item) => Promise<unknown>} work
 */
export async function forEachConcurrently(items, work, concurrency = CONCURRENCY) {
  const iterator = items[Symbol.iterator]()
  const next = async () => {
    for (let item = iterator.next(); !item.done; item = iterator.next()) await work(item.value)
  }
  await Promise.all(Array.from({ length: concurrency }, next))
}

/** The concurrency of writes at which a store is fast: 1 for the memory store. */
export const setUpConcurrency = (location) => (location.kind === 'memory' ? 1 : CONCURRENCY)

/** Creates accounts with webhooks; `settings(account, index)` returns the settings of each webhook. */
export async function createAccounts(
  hs,
  { accounts, perAccount, concurrency, settings, nameOf = accountName },
) {
  function* range(count) {
    for (let number = 0; number < count; number += 1) yield number
  }
  const createAccount = (account) => {
    const id = nameOf(account)
    return hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
  }
  const createWebhook = (number) => {
    const account = Math.floor(number / perAccount)
    const index = number % perAccount
    return hs.webhooks.create(nameOf(account), { name: `bench ${index}`, ...settings(account, index) })
  }
  await forEachConcurrently(range(accounts), createAccount, concurrency)
  await forEachConcurrently(range(accounts * perAccount), createWebhook, concurrency)
}

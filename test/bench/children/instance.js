/** An instance of hookswitch on a store of any kind. The package is loaded when it is asked for. */
import { accountName } from './events.js'
import './profiled-threads.js'

/** Of all stores of a run: only some of them keep one. */
const SECRET = 'the secret of the benchmark'

/** A store that commits groups gets some. */
const AT_ONCE = 64

/** Most lines that a process says of what went wrong. */
const MOST_LINES = 10

/** Opens nothing yet. @param {import('../places.js').Place} place */
export async function storeOf({ kind, ...where }) {
  if (kind === 'sqlite') return (await import('hookswitch/sqlite')).sqliteStore(where)
  if (kind === 'postgres') return (await import('hookswitch/postgres')).postgresStore(where)
  return (await import('hookswitch')).memoryStore(where)
}

let lines = 0
const say = ({ reason }, message) => {
  lines += 1
  if (lines <= MOST_LINES) console.error(reason === undefined ? message : `${message}: ${reason}`)
}
/** What a store or a node has to complain of belongs beside its figures. */
export const LOG = { debug() {}, info() {}, warn: say, error: say }

/**
 * @param {import('hookswitch/store').Store} store
 * @param {object} options of `createHookswitch`
 */
export async function startOn(store, options = {}) {
  const { createHookswitch } = await import('hookswitch')
  const hs = createHookswitch({ store, secret: SECRET, allowLocal: true, log: LOG, ...options })
  await hs.start()
  return {
    ...hs,
    close(how) {
      // What cannot be sent any more is no news.
      lines = MOST_LINES
      return hs.close(how)
    },
  }
}

/** @param {import('../places.js').Place} place */
export const startInstance = async (place, options) => startOn(await storeOf(place), options)

/**
 * Works through a list, so many at once.
 *
 * @template Item
 * @param {Iterable<Item>} items
 * @param {(item: Item) => Promise<unknown>} work
 */
export async function workThrough(items, work, atOnce = AT_ONCE) {
  const iterator = items[Symbol.iterator]()
  const next = async () => {
    for (let item = iterator.next(); !item.done; item = iterator.next()) await work(item.value)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}

/** One after the other where that is as quick. */
export const atOnceOn = (place) => (place.kind === 'memory' ? 1 : AT_ONCE)

/** Makes accounts with their webhooks: `settings(account, index)` are those of each. */
export async function makeAccounts(hs, { accounts, perAccount, atOnce, settings, nameOf = accountName }) {
  function* numbers(count) {
    for (let number = 0; number < count; number += 1) yield number
  }
  const makeAccount = (account) => {
    const id = nameOf(account)
    return hs.accounts.create({ id, name: id, realm: `${id}.example.com` })
  }
  const makeWebhook = (number) => {
    const account = Math.floor(number / perAccount)
    const index = number % perAccount
    return hs.webhooks.create(nameOf(account), { name: `bench ${index}`, ...settings(account, index) })
  }
  await workThrough(numbers(accounts), makeAccount, atOnce)
  await workThrough(numbers(accounts * perAccount), makeWebhook, atOnce)
}

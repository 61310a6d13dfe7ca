/** Tables of the service's accounts by id or realm, for sources. Read at start and again after a failed lookup. */
import type { Account, Clock, Log } from 'hookswitch'
import { systemClock } from 'hookswitch/adapter'

/** Finds the account of a call. */
export interface AccountLookup {
  /**
   * Returns a function that looks up a table of all accounts by realm or id. Calls with the same `make` share the table.
   * A failed lookup starts a new read in the background.
   *
   * @param make creates the lookup function of a table
   */
  by<Facts>(
    key: 'realm' | 'id',
    make: (table: Readonly<Record<string, string>>) => (facts: Facts) => string | undefined,
  ): (facts: Facts) => string | undefined
  /** The realm of an account; `undefined` for an unknown account. */
  realmOf(accountId: string | undefined): string | undefined
}

/** Shortest pause between reads: at least this long, and ten times the duration of the last read. */
const REREAD_AFTER_MS = 1_000
const REREAD_AFTER_READS = 10
/** A read that takes longer is abandoned. */
const READ_TIMEOUT_MS = 10_000

type Table = Readonly<Record<string, string>>
type Find = (facts: never) => string | undefined

/**
 * @param list reads all accounts
 * @param clock default: the system clock
 */
export async function accountLookup(
  list: () => Promise<readonly Account[]>,
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic' | 'sleep'> = systemClock(),
): Promise<AccountLookup> {
  const startedMs = clock.monotonic()
  let accounts = await list()
  const pauseAfter = (sinceMs: number) => {
    const nowMs = clock.monotonic()
    return nowMs + Math.max(REREAD_AFTER_MS, REREAD_AFTER_READS * (nowMs - sinceMs))
  }
  let nextMs = pauseAfter(startedMs)
  let isReading = false
  let realms: { readonly of: readonly Account[]; readonly byId: ReadonlyMap<string, string> } | undefined
  const tables = { realm: new Map<unknown, CachedTable>(), id: new Map<unknown, CachedTable>() }

  const reread = async () => {
    if (isReading || clock.monotonic() < nextMs) return
    isReading = true
    const sinceMs = clock.monotonic()
    try {
      const read = await withTimeout(list(), clock)
      // An unchanged list keeps its tables.
      if (!isSame(read, accounts)) accounts = read
    } catch (thrown) {
      log.warn({ error: String(thrown) }, 'accounts cannot be read: the last known accounts stay in use')
    } finally {
      nextMs = pauseAfter(sinceMs)
      isReading = false
    }
  }

  return {
    by<Facts>(key: 'realm' | 'id', make: (table: Table) => (facts: Facts) => string | undefined) {
      return (facts: Facts) => {
        let table = tables[key].get(make)
        if (table?.of !== accounts) {
          table = { of: accounts, find: make(tableOf(accounts, key)) }
          tables[key].set(make, table)
        }
        const id = table.find(facts as never)
        if (id === undefined) void reread()
        return id
      }
    },
    realmOf(accountId) {
      if (accountId === undefined) return undefined
      if (realms?.of !== accounts)
        realms = { of: accounts, byId: new Map(accounts.map(({ id, realm }) => [id, realm])) }
      const realm = realms.byId.get(accountId)
      if (realm === undefined) void reread()
      return realm
    },
  }
}

interface CachedTable {
  readonly of: readonly Account[]
  readonly find: Find
}

async function withTimeout<Value>(reading: Promise<Value>, clock: Pick<Clock, 'sleep'>): Promise<Value> {
  const settled = new AbortController()
  const late = clock.sleep(READ_TIMEOUT_MS, settled.signal).then(() => {
    throw new Error(`no answer within ${READ_TIMEOUT_MS / 1000} seconds`)
  })
  // The loser of the race may reject later.
  late.catch(() => {})
  reading.catch(() => {})
  try {
    return await Promise.race([reading, late])
  } finally {
    settled.abort()
  }
}

function isSame(some: readonly Account[], others: readonly Account[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ id, realm }, nth) => id === others[nth]?.id && realm === others[nth]?.realm)
  )
}

function tableOf(accounts: readonly Account[], key: 'realm' | 'id'): Table {
  return Object.fromEntries(accounts.map(({ id, realm }) => [key === 'realm' ? realm : id, id]))
}

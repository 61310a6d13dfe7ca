/** The accounts of the service as the tables that sources look calls up in: read at the start, and again when asked in vain. */
import { type Account, type Clock, type Log, systemClock } from 'hookswitch'

/** Where it is looked up whose call it is. */
export interface KnownAccounts {
  /**
   * A function that looks up in a table of all accounts, by realm or by id; who asks with the same `make` shares it.
   *
   * @param make what makes such a function of a table
   */
  lookUp<Facts>(
    by: 'realm' | 'id',
    make: (table: Readonly<Record<string, string>>) => (facts: Facts) => string | undefined,
  ): (facts: Facts) => string | undefined
}

/** An unknown caller must not make every call a query, and a slow store must not do nothing else. */
const AGAIN_AFTER_MS = 1_000
const AGAIN_AFTER_READS = 10
/** A read that hangs must not be the last one. */
const LONGEST_READ_MS = 10_000

type Table = Readonly<Record<string, string>>
type Find = (facts: never) => string | undefined

/**
 * @param list reads all accounts
 * @param clock default: the machine's
 */
export async function knownAccounts(
  list: () => Promise<readonly Account[]>,
  log: Pick<Log, 'warn'>,
  clock: Pick<Clock, 'monotonic' | 'sleep'> = systemClock(),
): Promise<KnownAccounts> {
  const startedMs = clock.monotonic()
  let accounts = await list()
  const pauseAfter = (sinceMs: number) => {
    const nowMs = clock.monotonic()
    return nowMs + Math.max(AGAIN_AFTER_MS, AGAIN_AFTER_READS * (nowMs - sinceMs))
  }
  let nextMs = pauseAfter(startedMs)
  let isReading = false
  const made = { realm: new Map<unknown, Made>(), id: new Map<unknown, Made>() }

  const readAgain = async () => {
    if (isReading || clock.monotonic() < nextMs) return
    isReading = true
    const sinceMs = clock.monotonic()
    try {
      const read = await inTime(list(), clock)
      // Tables are made of a list: of the same one there is nothing to make.
      if (!isSame(read, accounts)) accounts = read
    } catch (thrown) {
      log.warn({ error: String(thrown) }, 'the accounts cannot be read: those that are known go on')
    } finally {
      nextMs = pauseAfter(sinceMs)
      isReading = false
    }
  }

  return {
    lookUp<Facts>(by: 'realm' | 'id', make: (table: Table) => (facts: Facts) => string | undefined) {
      return (facts: Facts) => {
        let table = made[by].get(make)
        if (table?.of !== accounts) {
          table = { of: accounts, find: make(tableOf(accounts, by)) }
          made[by].set(make, table)
        }
        const id = table.find(facts as never)
        if (id === undefined) void readAgain()
        return id
      }
    },
  }
}

interface Made {
  readonly of: readonly Account[]
  readonly find: Find
}

async function inTime<Value>(reading: Promise<Value>, clock: Pick<Clock, 'sleep'>): Promise<Value> {
  const over = new AbortController()
  const late = clock.sleep(LONGEST_READ_MS, over.signal).then(() => {
    throw new Error(`no answer within ${LONGEST_READ_MS / 1000} seconds`)
  })
  // Of the two the loser is heard by nobody.
  late.catch(() => {})
  reading.catch(() => {})
  try {
    return await Promise.race([reading, late])
  } finally {
    over.abort()
  }
}

function isSame(some: readonly Account[], others: readonly Account[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ id, realm }, nth) => id === others[nth]?.id && realm === others[nth]?.realm)
  )
}

function tableOf(accounts: readonly Account[], by: 'realm' | 'id'): Table {
  return Object.fromEntries(accounts.map(({ id, realm }) => [by === 'realm' ? realm : id, id]))
}

/** The accounts of the service as the tables that sources look calls up in: read at the start, and again when asked in vain. */
import type { Account, Log } from 'hookswitch'

/** Where it is looked up whose call it is. */
export interface KnownAccounts {
  /**
   * A function that looks up in a table of all accounts, by realm or by id.
   *
   * @param make what makes such a function of a table
   */
  lookUp<Facts>(
    by: 'realm' | 'id',
    make: (table: Readonly<Record<string, string>>) => (facts: Facts) => string | undefined,
  ): (facts: Facts) => string | undefined
}

/** An unknown caller must not make every call a query. */
const AGAIN_AFTER_MS = 1_000

/**
 * @param list reads all accounts
 * @param monotonic milliseconds
 */
export async function knownAccounts(
  list: () => Promise<readonly Account[]>,
  log: Pick<Log, 'warn'>,
  monotonic: () => number = () => performance.now(),
): Promise<KnownAccounts> {
  let accounts = await list()
  let readMs = monotonic()
  let isReading = false

  const readAgain = async () => {
    if (isReading || monotonic() - readMs < AGAIN_AFTER_MS) return
    isReading = true
    try {
      accounts = await list()
    } catch (thrown) {
      log.warn({ error: String(thrown) }, 'the accounts cannot be read: those that are known go on')
    } finally {
      readMs = monotonic()
      isReading = false
    }
  }

  return {
    lookUp(by, make) {
      let made = { of: accounts, find: make(tableOf(accounts, by)) }
      return (facts) => {
        if (made.of !== accounts) made = { of: accounts, find: make(tableOf(accounts, by)) }
        const id = made.find(facts)
        if (id === undefined) void readAgain()
        return id
      }
    },
  }
}

function tableOf(accounts: readonly Account[], by: 'realm' | 'id'): Readonly<Record<string, string>> {
  return Object.fromEntries(accounts.map(({ id, realm }) => [by === 'realm' ? realm : id, id]))
}

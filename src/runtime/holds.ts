/** What this node holds back: all deliveries, or those of some accounts, as the store says. */
import type { Directory } from '../accounts/directory.js'
import { ALL_ACCOUNTS, type HoldStore } from '../delivery/hold-store.js'
import { notFound } from '../errors.js'
import type { Log } from '../ports.js'

/** What is held. Each hold is released by itself: an account may be held while all are. */
interface HeldAccounts {
  /** Whether the deliveries of all accounts are held. */
  readonly all: boolean
  /** Ids of accounts that are held by themselves, sorted. */
  readonly accountIds: readonly string[]
}

/** The holds, as this node has read them last. */
export interface Holds {
  /** Whether nothing may be sent for the webhooks of an account. */
  isHeld(accountId: string): boolean
  /** Reads what is held, now: other nodes change it too. */
  read(): Promise<HeldAccounts>
  /**
   * Holds an account, or releases it.
   *
   * @param accountId absent: all accounts; a release leaves those that are held by themselves
   * @returns what is held then, and whether that was changed
   * @throws `NotFound` for an account that does not exist, or neither is held nor exists
   */
  set(
    isHeld: boolean,
    accountId: string | undefined,
  ): Promise<{ readonly held: HeldAccounts; readonly isChanged: boolean }>
  /** Ends the hold of an account that was removed. */
  accountRemoved(accountId: string): Promise<void>
}

/** @param onChange called when this node has read that something else is held */
export function createHolds(
  holds: HoldStore,
  directory: Pick<Directory, 'lineage'>,
  log: Log,
  onChange: () => void,
): Holds {
  let held: ReadonlySet<string> = new Set()
  /** Reads that were begun, and the latest of those that have ended: an earlier one may end later, and is out of date then. */
  let begun = 0
  let latest = 0

  async function read(): Promise<HeldAccounts> {
    const turn = ++begun
    const scopes = await holds.list()
    const isLatest = turn > latest
    if (isLatest) latest = turn
    if (isLatest && (scopes.length !== held.size || scopes.some((scope) => !held.has(scope)))) {
      held = new Set(scopes)
      log.warn({ held: scopes.slice(0, MAX_NAMED), count: scopes.length }, sentenceOf(held))
      onChange()
    }
    return { all: held.has(ALL_ACCOUNTS), accountIds: scopes.filter((scope) => scope !== ALL_ACCOUNTS) }
  }

  async function assertAccount(accountId: string | undefined): Promise<void> {
    if (accountId !== undefined && (await directory.lineage(accountId)).length === 0)
      throw notFound(accountId, 'account')
  }

  return {
    isHeld: (accountId) => held.size > 0 && (held.has(ALL_ACCOUNTS) || held.has(accountId)),
    read,
    async set(isHeld, accountId) {
      const scope = scopeOf(accountId)
      if (isHeld) await assertAccount(accountId)
      const isChanged = await (isHeld ? holds.put(scope) : holds.remove(scope))
      if (!isHeld && !isChanged) await assertAccount(accountId)
      return { held: await read(), isChanged }
    },
    async accountRemoved(accountId) {
      if (await holds.remove(accountId)) await read()
    },
  }
}

/** What is no id, such as the null of a look-up that found nothing, must not concern all accounts. */
function scopeOf(accountId: string | undefined): string {
  if (accountId === undefined) return ALL_ACCOUNTS
  if (typeof accountId !== 'string' || accountId === ALL_ACCOUNTS) throw notFound(accountId, 'account')
  return accountId
}

/** Accounts in one line of the log. */
const MAX_NAMED = 20

function sentenceOf(held: ReadonlySet<string>): string {
  if (held.size === 0) return 'nothing is held any more: what waits is sent'
  const whose = held.has(ALL_ACCOUNTS) ? 'all deliveries are' : 'the deliveries of these accounts are'
  return `${whose} held: they are accepted, and sent when 'hookswitch webhooks release' says so`
}

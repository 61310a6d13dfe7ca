/** Accounts that the file of `--accounts` listed once and no longer lists: named in a warning, or removed. */
import { errorCode, type Hookswitch, HookswitchError, type Log } from 'hookswitch'
import type { AccountsFile } from './accounts-file.js'
import type { Settings } from './read-settings.js'

type Accounts = Pick<Hookswitch['accounts'], 'list' | 'remove'>

/** Accounts that the file no longer lists. */
interface Unlisted {
  readonly ids: readonly string[]
  /** Whether they are removed (`--accounts-prune`). */
  readonly isPruned: boolean
}

/** Ids in one warning. */
const MAX_NAMED = 20
/** Part of the listed accounts that is removed at once, unless `--accounts-prune-limit` permits more. */
const PRUNED_PART = 0.1

/**
 * Finds the accounts that any file has listed so far and this one does not. Accounts that were created otherwise, over HTTP for
 * instance, are not among them.
 *
 * @param label how errors name the file
 * @throws `InvalidInput` if `--accounts-prune` would remove an operator or more than a tenth, and `--accounts-prune-limit` does
 *   not permit it: the file was probably cut short
 */
export async function findUnlisted(
  accounts: Pick<Accounts, 'list'>,
  { accounts: entries, path }: Pick<AccountsFile, 'accounts' | 'path'>,
  { values, labelOf }: Pick<Settings, 'values' | 'labelOf'>,
): Promise<Unlisted> {
  const named = new Set(
    entries.map((entry) => {
      const { id, realm } = entry as { readonly id?: string; readonly realm: string }
      return id ?? realmKey(realm)
    }),
  )
  const listed = (await accounts.list()).filter(({ isListed }) => isListed)
  const ids = listed.flatMap(({ id, realm }) => (named.has(id) || named.has(realmKey(realm)) ? [] : [id]))
  const { accountsPrune = false, accountsPruneLimit, operators = [] } = values
  if (!accountsPrune) return { ids, isPruned: false }
  const refuse = (sentence: string) =>
    new HookswitchError(
      'InvalidInput',
      `${labelOf('accounts')}: ${path}: ${sentence}; nothing was changed: restore them, or pass --accounts-prune-limit ${ids.length}`,
      { field: '--accounts' },
    )
  const limit = accountsPruneLimit ?? Math.floor(listed.length * PRUNED_PART)
  if (ids.length > limit) {
    const named = accountsPruneLimit === undefined ? `a tenth of ${listed.length}` : `${limit}`
    throw refuse(`${ids.length} accounts are no longer listed, and --accounts-prune removes at most ${named}`)
  }
  const operator = ids.find((id) => operators.includes(id))
  if (operator !== undefined && accountsPruneLimit === undefined)
    throw refuse(`the operator '${operator}' is no longer listed, and --accounts-prune would remove it`)
  return { ids, isPruned: true }
}

/** No id contains a space. */
const realmKey = (realm: string) => `realm ${realm.trim().toLowerCase()}`

/** Handles the accounts that an earlier file listed. An account with others below it stays. */
export async function handleUnlisted(
  accounts: Pick<Accounts, 'remove'>,
  { ids, isPruned }: Unlisted,
  log: Log,
): Promise<void> {
  if (ids.length === 0) return
  const removed = isPruned ? await removeAll(accounts, ids) : new Set<string>()
  const kept = ids.filter((id) => !removed.has(id))
  if (removed.size > 0) {
    const named = [...removed].slice(0, MAX_NAMED)
    log.warn({ accounts: named, count: removed.size }, 'removed accounts that --accounts no longer lists')
  }
  if (kept.length === 0) return
  const fields = { accounts: kept.slice(0, MAX_NAMED), count: kept.length }
  if (isPruned) log.warn(fields, 'kept accounts that --accounts no longer lists: there are others below them')
  else log.warn(fields, '--accounts no longer lists these accounts; --accounts-prune removes them')
}

/** Removes accounts, those below others first. Resolves to the ids of those without others below them. */
async function removeAll(
  accounts: Pick<Accounts, 'remove'>,
  unlisted: readonly string[],
): Promise<ReadonlySet<string>> {
  const removed = new Set<string>()
  let count: number
  do {
    count = removed.size
    for (const id of unlisted) {
      if (removed.has(id)) continue
      try {
        await accounts.remove(id)
        removed.add(id)
      } catch (thrown) {
        // Another node removed it, or there are accounts below it.
        if (errorCode(thrown) !== 'Conflict' && errorCode(thrown) !== 'NotFound') throw thrown
      }
    }
  } while (removed.size > count)
  return removed
}

/** Accounts that the file of `--accounts` listed once and no longer lists: named in a warning, or removed. */
import { errorCode, type Hookswitch, type Log } from 'hookswitch'

interface UnlistedOptions {
  /** Removes them (`--accounts-prune`). */
  readonly prune: boolean
  readonly log: Log
}

/** Ids in one warning. */
const MAX_NAMED = 20

/** Ids of the accounts that any file has listed so far. Accounts that were created otherwise, over HTTP for instance, are not among them. */
export async function readListed(hs: Pick<Hookswitch, 'accounts'>): Promise<readonly string[]> {
  return (await hs.accounts.list()).flatMap(({ id, isListed }) => (isListed ? [id] : []))
}

/** Handles the accounts that an earlier file listed. An account with others below it stays. */
export async function handleUnlisted(
  hs: Pick<Hookswitch, 'accounts'>,
  unlisted: readonly string[],
  { prune, log }: UnlistedOptions,
): Promise<void> {
  if (unlisted.length === 0) return
  const removed = prune ? await removeAll(hs, unlisted) : new Set<string>()
  const kept = unlisted.filter((id) => !removed.has(id))
  if (removed.size > 0) {
    const named = [...removed].slice(0, MAX_NAMED)
    log.warn({ accounts: named, count: removed.size }, 'removed accounts that --accounts no longer lists')
  }
  if (kept.length === 0) return
  const fields = { accounts: kept.slice(0, MAX_NAMED), count: kept.length }
  if (prune) log.warn(fields, 'kept accounts that --accounts no longer lists: there are others below them')
  else log.warn(fields, '--accounts no longer lists these accounts; --accounts-prune removes them')
}

/** Removes accounts, those below others first. Resolves to the ids of those without others below them. */
async function removeAll(
  { accounts }: Pick<Hookswitch, 'accounts'>,
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

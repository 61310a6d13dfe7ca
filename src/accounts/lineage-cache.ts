import type { Clock } from '../ports.js'
import type { Account } from './account.js'
import type { Directory } from './directory.js'
import { positiveCache } from './positive-cache.js'

/** Who an account belongs to, remembered for a moment: every event and every request asks. */
export interface LineageCache {
  /** As `Directory.lineage`. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Forgets everything: a change of one account shows in the lineages of all below it. */
  changed(): void
}

/** Defaults of the lineage cache. */
export const LINEAGE_CACHE_DEFAULTS = Object.freeze({ maxAgeMs: 2_000, max: 10_000 })

/**
 * A bounded cache in front of `directory.lineage`, of accounts that exist only.
 *
 * @param options `maxAgeMs`: how late a change made elsewhere may show, default 2,000; `max`: accounts kept,
 *   default 10,000
 */
export function lineageCache(
  directory: Pick<Directory, 'lineage'>,
  clock: Pick<Clock, 'monotonic'>,
  options: { readonly maxAgeMs?: number; readonly max?: number } = {},
): LineageCache {
  const cache = positiveCache<readonly Account[]>(clock, { ...LINEAGE_CACHE_DEFAULTS, ...options })
  const ask = async (accountId: string) => {
    const lineage = await directory.lineage(accountId)
    return lineage.length > 0 ? lineage : undefined
  }
  const find = async (accountId: string) => (await cache.find(accountId, () => ask(accountId))) ?? []
  return {
    lineage(accountId) {
      const known = cache.get(accountId)
      return known ? Promise.resolve(known) : find(accountId)
    },
    changed: () => cache.forget(() => true),
  }
}

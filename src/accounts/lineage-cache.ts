import type { Clock } from '../ports.js'
import type { Account } from './account.js'
import type { Directory } from './directory.js'
import { singleFlightCache } from './single-flight-cache.js'

/** Caches lineages for a short time: every event and every request needs one. */
export interface LineageCache {
  /** As `Directory.lineage`. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Drops everything: a change of one account changes the lineages of all its descendants. */
  invalidate(): void
}

/** Defaults of the lineage cache. */
const LINEAGE_CACHE_DEFAULTS = Object.freeze({ maxAgeMs: 2_000, max: 10_000 })

/**
 * Creates a bounded cache in front of `directory.lineage`. Only existing accounts are cached.
 *
 * @param options `maxAgeMs`: how long a change made elsewhere may go unnoticed, default 2,000; `max`: accounts cached,
 *   default 10,000
 */
export function lineageCache(
  directory: Pick<Directory, 'lineage'>,
  clock: Pick<Clock, 'monotonic'>,
  options: { readonly maxAgeMs?: number; readonly max?: number } = {},
): LineageCache {
  const cache = singleFlightCache<readonly Account[]>(clock, { ...LINEAGE_CACHE_DEFAULTS, ...options })
  const load = async (accountId: string) => {
    const lineage = await directory.lineage(accountId)
    return lineage.length > 0 ? lineage : undefined
  }
  const getOrLoad = async (accountId: string) =>
    (await cache.getOrLoad(accountId, () => load(accountId))) ?? []
  return {
    lineage(accountId) {
      const cached = cache.get(accountId)
      return cached ? Promise.resolve(cached) : getOrLoad(accountId)
    },
    invalidate: () => cache.invalidate(() => true),
  }
}

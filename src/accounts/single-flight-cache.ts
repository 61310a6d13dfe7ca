import { LRUCache } from 'lru-cache'
import type { Clock } from '../ports.js'

/** A bounded cache of positive results. `invalidate` takes effect at once. */
interface SingleFlightCache<T> {
  /** The cached value, if it is fresh. */
  get(key: string): T | undefined
  /** The cached value, if it is fresh, else the result of `load`. Concurrent calls for one key share one load. */
  getOrLoad(key: string, load: () => Promise<T | undefined>): Promise<T | undefined>
  /** Drops the values that `matches` selects, and detaches all loads in progress. */
  invalidate(matches: (value: T, key: string) => boolean): void
  /** Number of cached values. */
  size(): number
}

interface CachedValue<T> {
  readonly value: T
  readonly startedMs: number
}

interface PendingLoad<T> {
  readonly result: Promise<T | undefined>
  readonly startedMs: number
}

/**
 * Caches positive results for `maxAgeMs`, counted from the **start** of the load, by the monotonic clock. A load that
 * was in progress when `invalidate` was called still resolves for its earlier callers, but its result is neither cached
 * nor shared with later callers, because it may have been read before the change. Failures and `undefined` are not
 * cached.
 *
 * @param options `max`: most values cached (the least recently used is evicted); `maxAgeMs`: milliseconds
 */
export function singleFlightCache<T extends object>(
  clock: Pick<Clock, 'monotonic'>,
  options: { readonly max: number; readonly maxAgeMs: number },
): SingleFlightCache<T> {
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const cached = new LRUCache<string, CachedValue<T>>({ maxSize: options.max, sizeCalculation: () => 1 })
  let pending = new Map<string, PendingLoad<T>>()

  const ifFresh = <E extends { readonly startedMs: number }>(entry: E | undefined): E | undefined =>
    entry && clock.monotonic() - entry.startedMs < options.maxAgeMs ? entry : undefined
  return {
    get: (key) => ifFresh(cached.get(key))?.value,
    async getOrLoad(key, load) {
      const available = ifFresh(cached.get(key))?.value ?? ifFresh(pending.get(key))?.result
      if (available) return available
      const generation = pending
      const started = { startedMs: clock.monotonic(), result: load() }
      generation.set(key, started)
      try {
        const value = await started.result
        if (generation === pending && generation.get(key) === started) {
          if (value) cached.set(key, { value, startedMs: started.startedMs })
          else cached.delete(key)
        }
        return value
      } finally {
        if (generation.get(key) === started) generation.delete(key)
      }
    },
    invalidate(matches) {
      pending = new Map()
      const dropped = [...cached.entries()].filter(([key, { value }]) => matches(value, key))
      for (const [key] of dropped) cached.delete(key)
    },
    size: () => cached.size,
  }
}

import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { singleFlightCache } from '../../src/accounts/single-flight-cache.js'

/** A cache of numbered values: each load returns the next number. */
function numberedCache() {
  const clock = manualClock()
  const cache = singleFlightCache<{ readonly number: number }>(clock, { max: 2, maxAgeMs: 2_000 })
  let loads = 0
  const get = (key: string) => cache.getOrLoad(key, async () => ({ number: ++loads }))
  return { clock, cache, get }
}

describe('the single-flight cache', () => {
  it('returns a cached value until maxAgeMs after the start of its load, and then loads again', async () => {
    const { clock, cache, get } = numberedCache()
    expect(await get('a')).toEqual({ number: 1 })
    await clock.advance(1_999)
    expect(await get('a')).toEqual({ number: 1 })
    expect(cache.get('a')).toEqual({ number: 1 })
    await clock.advance(1)
    expect(cache.get('a')).toBeUndefined()
    expect(await get('a')).toEqual({ number: 2 })
  })

  it('shares one load between concurrent calls', async () => {
    const { get } = numberedCache()
    expect(await Promise.all([get('a'), get('a')])).toEqual([{ number: 1 }, { number: 1 }])
  })

  it('does not share a load that began maxAgeMs before', async () => {
    const { clock, cache } = numberedCache()
    let finish = (_: { number: number }) => {}
    const slow = new Promise<{ number: number }>((resolve) => {
      finish = resolve
    })
    const early = cache.getOrLoad('a', () => slow)
    await clock.advance(2_000)
    expect(await cache.getOrLoad('a', async () => ({ number: 2 }))).toEqual({ number: 2 })
    finish({ number: 1 })
    expect(await early).toEqual({ number: 1 })
    expect(cache.get('a')).toEqual({ number: 2 })
  })

  it('does not cache failures and missing values', async () => {
    const { cache } = numberedCache()
    await expect(cache.getOrLoad('a', () => Promise.reject(new Error('out')))).rejects.toThrow('out')
    expect(await cache.getOrLoad('a', async () => undefined)).toBeUndefined()
    expect(await cache.getOrLoad('a', async () => ({ number: 7 }))).toEqual({ number: 7 })
  })

  it('neither caches nor shares a load that began before an invalidation', async () => {
    const { cache, get } = numberedCache()
    const before = get('a')
    cache.invalidate(() => true)
    expect(await get('a')).toEqual({ number: 2 })
    expect(await before).toEqual({ number: 1 })
    expect(cache.get('a')).toEqual({ number: 2 })
  })

  it('evicts the least recently used value above max', async () => {
    const { cache, get } = numberedCache()
    for (const key of ['a', 'b', 'c']) await get(key)
    expect(cache.size()).toBe(2)
    expect(cache.get('a')).toBeUndefined()
  })
})

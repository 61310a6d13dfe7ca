import * as fc from 'fast-check'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { TokenRow } from '../../src/auth/token.js'
import {
  TOKEN_CACHE_DEFAULTS,
  type TokenCache,
  type TokenCacheOptions,
  tokenCache,
} from '../../src/auth/token-cache.js'
import { propertyRuns } from '../support/property-runs.js'

const rowOf = (hash: string, accountId = 'acc'): TokenRow => ({
  hash,
  accountId,
  credentialVersion: '1',
  issuedMs: 0,
  expiresMs: 1,
})

/** A cache whose checks find every token valid, and the hashes of the checks. */
function createCache(options?: TokenCacheOptions) {
  const clock = manualClock()
  const cache = tokenCache(clock, options)
  const checked: string[] = []
  const load = (hash: string, accountId?: string) =>
    cache.getOrLoad(hash, async () => {
      checked.push(hash)
      return rowOf(hash, accountId)
    })
  return { clock, cache, checked, load }
}

/** A check that ends when the test says so. */
function heldCheck() {
  let finish = (_row: TokenRow | undefined) => {}
  const result = new Promise<TokenRow | undefined>((resolve) => {
    finish = resolve
  })
  return { check: () => result, finish }
}

const INVALIDATIONS: [string, (cache: TokenCache) => void][] = [
  ['the token', (cache) => cache.invalidateToken('a')],
  ['another token', (cache) => cache.invalidateToken('other')],
  ['the account', (cache) => cache.invalidateAccount('acc')],
  ['all tokens', (cache) => cache.invalidateAll()],
]

describe('the token cache', () => {
  it('checks a token once within recheckMs, 2,000 ms by default, and then again', async () => {
    const { clock, cache, checked, load } = createCache()
    expect(await load('a')).toEqual(rowOf('a'))
    await clock.advance(1_999)
    expect(await load('a')).toEqual(rowOf('a'))
    expect(cache.get('a')).toEqual(rowOf('a'))
    expect(checked).toEqual(['a'])
    await clock.advance(1)
    expect(cache.get('a')).toBeUndefined()
    await load('a')
    expect(checked).toEqual(['a', 'a'])
  })

  it('uses the given recheckMs, and the default of what is not given', async () => {
    const { clock, cache, load } = createCache({ recheckMs: 10 })
    await load('a')
    await clock.advance(9)
    expect(cache.get('a')).toEqual(rowOf('a'))
    await clock.advance(1)
    expect(cache.get('a')).toBeUndefined()
    expect(TOKEN_CACHE_DEFAULTS).toEqual({ max: 10_000, recheckMs: 2_000 })
    expect(Object.isFrozen(TOKEN_CACHE_DEFAULTS)).toBe(true)
  })

  it('caches nothing with a recheckMs of zero', async () => {
    const { cache, checked, load } = createCache({ recheckMs: 0 })
    await load('a')
    expect(cache.get('a')).toBeUndefined()
    await load('a')
    expect(checked).toEqual(['a', 'a'])
  })

  it('ignores changes of the wall clock', async () => {
    const { clock, cache, load } = createCache()
    await load('a')
    clock.jumpWall(86_400_000)
    expect(cache.get('a')).toEqual(rowOf('a'))
    clock.jumpWall(-2 * 86_400_000)
    await clock.advance(2_000)
    expect(cache.get('a')).toBeUndefined()
  })

  it('counts the age of a row from the start of its check', async () => {
    const { clock, cache } = createCache()
    const held = heldCheck()
    const loading = cache.getOrLoad('a', held.check)
    await clock.advance(1_500)
    held.finish(rowOf('a'))
    await loading
    await clock.advance(499)
    expect(cache.get('a')).toEqual(rowOf('a'))
    await clock.advance(1)
    expect(cache.get('a')).toBeUndefined()
  })

  it('leaves the expiry of a token to its caller', async () => {
    const { clock, cache, load } = createCache()
    await load('a')
    expect(clock.now()).toBeGreaterThan(rowOf('a').expiresMs)
    expect(cache.get('a')).toEqual(rowOf('a'))
  })

  it('shares one check between concurrent calls for one token, not between tokens', async () => {
    const { checked, load } = createCache()
    const rows = await Promise.all([load('a'), load('a'), load('b')])
    expect(rows.map((row) => row?.hash)).toEqual(['a', 'a', 'b'])
    expect(checked).toEqual(['a', 'b'])
  })

  it('caches neither invalid tokens nor failed checks', async () => {
    const { cache, load } = createCache()
    expect(await cache.getOrLoad('a', async () => undefined)).toBeUndefined()
    await expect(cache.getOrLoad('a', () => Promise.reject(new Error('out')))).rejects.toThrow('out')
    expect(cache.get('a')).toBeUndefined()
    expect(cache.size()).toBe(0)
    expect(await load('a')).toEqual(rowOf('a'))
  })

  it('drops one token', async () => {
    const { cache, load } = createCache()
    for (const hash of ['a', 'ab', 'b']) await load(hash)
    cache.invalidateToken('a')
    expect(['a', 'ab', 'b'].map((hash) => cache.get(hash)?.hash)).toEqual([undefined, 'ab', 'b'])
    expect(cache.size()).toBe(2)
  })

  it('drops the tokens of one account only', async () => {
    const { cache, load } = createCache()
    for (const [hash, accountId] of [
      ['a', 'acc'],
      ['b', 'acc'],
      ['c', 'acc-below'],
      ['acc', 'other'],
    ] as const)
      await load(hash, accountId)
    cache.invalidateAccount('acc')
    expect(['a', 'b', 'c', 'acc'].map((hash) => cache.get(hash)?.accountId)).toEqual([
      undefined,
      undefined,
      'acc-below',
      'other',
    ])
    expect(cache.size()).toBe(2)
  })

  it('drops all tokens', async () => {
    const { cache, checked, load } = createCache()
    for (const hash of ['a', 'b']) await load(hash, hash)
    cache.invalidateAll()
    expect(cache.size()).toBe(0)
    await load('a')
    expect(checked).toEqual(['a', 'b', 'a'])
  })

  it.each(INVALIDATIONS)(
    'neither caches nor shares a check that started before the invalidation of %s',
    async (_, invalidate) => {
      const { cache, checked, load } = createCache()
      const held = heldCheck()
      const earlier = cache.getOrLoad('a', held.check)
      invalidate(cache)
      expect(await load('a', 'later')).toEqual(rowOf('a', 'later'))
      expect(checked).toEqual(['a'])
      held.finish(rowOf('a', 'acc'))
      expect(await earlier).toEqual(rowOf('a', 'acc'))
      expect(cache.get('a')).toEqual(rowOf('a', 'later'))
    },
  )

  it.each(INVALIDATIONS)(
    'stays empty after a check that the invalidation of %s overtook',
    async (_, drop) => {
      const { cache } = createCache()
      const held = heldCheck()
      const earlier = cache.getOrLoad('a', held.check)
      drop(cache)
      held.finish(rowOf('a'))
      expect(await earlier).toEqual(rowOf('a'))
      expect(cache.get('a')).toBeUndefined()
      expect(cache.size()).toBe(0)
    },
  )

  it('evicts the least recently used token above max, which is checked again', async () => {
    const { cache, checked, load } = createCache({ max: 2 })
    await load('a')
    await load('b')
    cache.get('a')
    await load('c')
    expect(cache.size()).toBe(2)
    expect(['a', 'b', 'c'].map((hash) => cache.get(hash)?.hash)).toEqual(['a', undefined, 'c'])
    expect(await load('b')).toEqual(rowOf('b'))
    expect(checked).toEqual(['a', 'b', 'c', 'b'])
  })

  it('holds 10,000 tokens by default', async () => {
    const { cache, load } = createCache()
    for (let index = 0; index < 10_000; index += 1) await load(`${index}`)
    expect(cache.size()).toBe(10_000)
    await load('one more')
    expect(cache.size()).toBe(10_000)
    expect(cache.get('0')).toBeUndefined()
    expect(cache.get('1')).toEqual(rowOf('1'))
  })

  it('agrees with a simple model in any order of loads, waits and invalidations', async () => {
    const hash = fc.constantFrom('a', 'b', 'c')
    const accountOf = (token: string) => (token === 'c' ? 'other' : 'acc')
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ load: hash }) },
      { weight: 3, arbitrary: fc.record({ waitMs: fc.constantFrom(1, 999, 1_000, 1_999, 2_000) }) },
      fc.record({ dropToken: hash }),
      fc.record({ dropAccount: fc.constantFrom('acc', 'other') }),
      fc.constant({ dropAll: true }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { clock, cache, checked, load } = createCache()
        const startedMs = new Map<string, number>()
        const isFresh = (token: string) => clock.monotonic() - (startedMs.get(token) ?? -Infinity) < 2_000
        let checks = 0
        for (const taken of steps) {
          if ('load' in taken) {
            if (!isFresh(taken.load)) {
              checks += 1
              startedMs.set(taken.load, clock.monotonic())
            }
            expect(await load(taken.load, accountOf(taken.load))).toMatchObject({ hash: taken.load })
          } else if ('waitMs' in taken) {
            await clock.advance(taken.waitMs)
          } else if ('dropToken' in taken) {
            cache.invalidateToken(taken.dropToken)
            startedMs.delete(taken.dropToken)
          } else if ('dropAccount' in taken) {
            cache.invalidateAccount(taken.dropAccount)
            for (const token of ['a', 'b', 'c'])
              if (accountOf(token) === taken.dropAccount) startedMs.delete(token)
          } else {
            cache.invalidateAll()
            startedMs.clear()
          }
          for (const token of ['a', 'b', 'c']) expect(cache.get(token) !== undefined).toBe(isFresh(token))
          expect(checked).toHaveLength(checks)
        }
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})

import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.js'
import { lineageCache } from '../../src/accounts/lineage-cache.js'
import { manualClock } from '../../src/testkit/clock.js'

const account = (name: string) => ({ id: 'a', name }) as Account

/** A directory whose calls stay pending until the test settles them. */
function slowDirectory() {
  const pending: { resolve(lineage: readonly Account[]): void; reject(reason: Error): void }[] = []
  return {
    pending,
    directory: {
      lineage: () => new Promise<readonly Account[]>((resolve, reject) => pending.push({ resolve, reject })),
    },
  }
}

describe('the lineage cache', () => {
  it('serves a lineage for two seconds from the start of its load, then loads again', async () => {
    const clock = manualClock()
    const { directory, pending } = slowDirectory()
    const cache = lineageCache(directory, clock)
    const first = cache.lineage('a')
    await clock.advance(500)
    pending[0]!.resolve([account('old')])
    expect(await first).toEqual([account('old')])
    await clock.advance(1_499)
    expect(await cache.lineage('a')).toEqual([account('old')])
    expect(pending).toHaveLength(1)
    await clock.advance(1)
    const second = cache.lineage('a')
    pending[1]!.resolve([account('new')])
    expect(await second).toEqual([account('new')])
  })

  it('uses the monotonic clock: a jump of the wall clock has no effect', async () => {
    const clock = manualClock()
    const { directory, pending } = slowDirectory()
    const cache = lineageCache(directory, clock)
    const first = cache.lineage('a')
    pending[0]!.resolve([account('old')])
    await first
    clock.jumpWall(86_400_000)
    await cache.lineage('a')
    expect(pending).toHaveLength(1)
  })

  it('caches neither missing accounts nor failures', async () => {
    const { directory, pending } = slowDirectory()
    const cache = lineageCache(directory, manualClock())
    const missing = cache.lineage('a')
    pending[0]!.resolve([])
    expect(await missing).toEqual([])
    const failing = cache.lineage('a')
    pending[1]!.reject(new Error('down'))
    await expect(failing).rejects.toThrow('down')
    const found = cache.lineage('a')
    pending[2]!.resolve([account('new')])
    expect(await found).toEqual([account('new')])
  })

  it('survives a directory that throws synchronously', async () => {
    let calls = 0
    const cache = lineageCache(
      {
        lineage() {
          calls += 1
          if (calls === 1) throw new Error('down')
          return Promise.resolve([account('new')])
        },
      },
      manualClock(),
    )
    await expect(cache.lineage('a')).rejects.toThrow('down')
    expect(await cache.lineage('a')).toEqual([account('new')])
  })

  it('forgets all lineages when one account has changed', async () => {
    const { directory, pending } = slowDirectory()
    const cache = lineageCache(directory, manualClock())
    const first = cache.lineage('a')
    pending[0]!.resolve([account('old')])
    await first
    cache.invalidate()
    const second = cache.lineage('a')
    pending[1]!.resolve([account('new')])
    expect(await second).toEqual([account('new')])
  })
})

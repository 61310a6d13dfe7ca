import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.js'
import { lineageCache } from '../../src/accounts/lineage-cache.js'
import { manualClock } from '../../src/testkit/clock.js'

const account = (name: string) => ({ id: 'a', name }) as Account

/** A directory whose answers wait until the test gives them. */
function slowDirectory() {
  const open: { resolve(lineage: readonly Account[]): void; reject(reason: Error): void }[] = []
  return {
    open,
    directory: {
      lineage: () => new Promise<readonly Account[]>((resolve, reject) => open.push({ resolve, reject })),
    },
  }
}

describe('the lineage cache', () => {
  it('answers for two seconds from the moment it asked, then asks again', async () => {
    const clock = manualClock()
    const { directory, open } = slowDirectory()
    const cache = lineageCache(directory, clock)
    const first = cache.lineage('a')
    await clock.advance(500)
    open[0]!.resolve([account('old')])
    expect(await first).toEqual([account('old')])
    await clock.advance(1_499)
    expect(await cache.lineage('a')).toEqual([account('old')])
    expect(open).toHaveLength(1)
    await clock.advance(1)
    const second = cache.lineage('a')
    open[1]!.resolve([account('new')])
    expect(await second).toEqual([account('new')])
  })

  it('goes by the monotonic clock: a wall clock that jumps changes nothing', async () => {
    const clock = manualClock()
    const { directory, open } = slowDirectory()
    const cache = lineageCache(directory, clock)
    const first = cache.lineage('a')
    open[0]!.resolve([account('old')])
    await first
    clock.jumpWall(86_400_000)
    await cache.lineage('a')
    expect(open).toHaveLength(1)
  })

  it('asks once for many who ask at the same time', async () => {
    const { directory, open } = slowDirectory()
    const cache = lineageCache(directory, manualClock())
    const answers = Promise.all([cache.lineage('a'), cache.lineage('a'), cache.lineage('a')])
    open[0]!.resolve([account('old')])
    expect(await answers).toHaveLength(3)
    expect(open).toHaveLength(1)
  })

  it('keeps no account that does not exist, and no failure', async () => {
    const { directory, open } = slowDirectory()
    const cache = lineageCache(directory, manualClock())
    const missing = cache.lineage('a')
    open[0]!.resolve([])
    expect(await missing).toEqual([])
    const failing = cache.lineage('a')
    open[1]!.reject(new Error('down'))
    await expect(failing).rejects.toThrow('down')
    const found = cache.lineage('a')
    open[2]!.resolve([account('new')])
    expect(await found).toEqual([account('new')])
  })

  it('survives a directory that throws at once', async () => {
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

  it('neither keeps nor shares an answer that was asked for before a change', async () => {
    const { directory, open } = slowDirectory()
    const cache = lineageCache(directory, manualClock())
    const before = cache.lineage('a')
    cache.changed()
    const after = cache.lineage('a')
    expect(open).toHaveLength(2)
    open[1]!.resolve([account('new')])
    expect(await after).toEqual([account('new')])
    open[0]!.resolve([account('old')])
    expect(await before).toEqual([account('old')])
    expect(await cache.lineage('a')).toEqual([account('new')])
    expect(open).toHaveLength(2)
  })

  it('does not share a question that is older than an answer may be', async () => {
    const clock = manualClock()
    const { directory, open } = slowDirectory()
    const cache = lineageCache(directory, clock)
    const early = cache.lineage('a')
    await clock.advance(2_000)
    const late = cache.lineage('a')
    expect(open).toHaveLength(2)
    open[0]!.resolve([account('old')])
    expect(await early).toEqual([account('old')])
    open[1]!.resolve([account('new')])
    expect(await late).toEqual([account('new')])
    expect(await cache.lineage('a')).toEqual([account('new')])
  })

  it('asks again for what it had no room to keep', async () => {
    let calls = 0
    const cache = lineageCache(
      {
        async lineage(accountId) {
          calls += 1
          return [{ ...account('x'), id: accountId }]
        },
      },
      manualClock(),
      { max: 2 },
    )
    for (const id of ['a', 'b', 'c', 'a']) expect(await cache.lineage(id)).toMatchObject([{ id }])
    expect(calls).toBe(4)
    await cache.lineage('c')
    expect(calls).toBe(4)
  })
})

import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'

describe('manualClock', () => {
  it('stands still by itself', async () => {
    const clock = manualClock({ nowMs: 1_000, monotonicMs: 7 })
    await until(async () => true)
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 7])
  })

  it('starts at the beginning of 2026 when not told otherwise', () => {
    expect(new Date(manualClock().now()).toISOString()).toBe('2026-01-01T00:00:00.000Z')
  })

  it('moves both clocks on', async () => {
    const clock = manualClock({ nowMs: 1_000 })
    await clock.advance(250)
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250])
  })

  it('tells the wall time in whole milliseconds, as the machine does', async () => {
    const clock = manualClock({ nowMs: 1_000 })
    await clock.advance(0.7)
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0.7])
  })

  it('jumps the wall clock alone, forward and back, and wakes nobody', async () => {
    const clock = manualClock({ nowMs: 1_000 })
    void clock.sleep(50)
    clock.jumpWall(3_600_000)
    expect([clock.now(), clock.monotonic()]).toEqual([3_601_000, 0])
    clock.jumpWall(-7_200_000)
    await clock.settle()
    expect(clock.now()).toBe(-3_599_000)
    expect(clock.sleepers()).toEqual({ count: 1, nextDueMs: 50 })
  })

  it('wakes sleepers in the order of their due times, each at its own moment', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 12 }), async (waits) => {
        const clock = manualClock()
        const woken: { wait: number; at: number; index: number }[] = []
        waits.forEach((wait, index) => {
          void clock.sleep(wait).then(() => woken.push({ wait, at: clock.monotonic(), index }))
        })
        await clock.advance(20)
        const expected = waits
          .map((wait, index) => ({ wait, at: wait, index }))
          .sort((a, b) => a.wait - b.wait || a.index - b.index)
        expect(woken).toEqual(expected)
        expect(clock.sleepers().count).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  it('lets the work of one sleeper end before it wakes the next', async () => {
    const clock = manualClock()
    const order: string[] = []
    const work = async (name: string) => {
      await clock.sleep(10)
      order.push(`${name} wakes`)
      for (let turn = 0; turn < 20; turn += 1) await clock.yield()
      await Promise.resolve()
      order.push(`${name} ends`)
    }
    void work('first')
    void work('second')
    await clock.advance(10)
    expect(order).toEqual(['first wakes', 'first ends', 'second wakes', 'second ends'])
  })

  it('counts the sleeps that start on the way', async () => {
    const clock = manualClock()
    const ticks: number[] = []
    const tick = async () => {
      while (ticks.length < 100) {
        await clock.sleep(7)
        ticks.push(clock.monotonic())
      }
    }
    void tick()
    await clock.advance(30)
    expect(ticks).toEqual([7, 14, 21, 28])
    expect(clock.sleepers()).toEqual({ count: 1, nextDueMs: 35 })
  })

  it('lets work that is ready at the start run before it moves', async () => {
    const clock = manualClock()
    const starts: number[] = []
    const work = async () => {
      await Promise.resolve()
      await clock.yield()
      starts.push(clock.monotonic())
      await clock.sleep(5)
      starts.push(clock.monotonic())
    }
    void work()
    await clock.advance(100)
    expect(starts).toEqual([0, 5])
  })

  it('keeps two movements apart: the second begins where the first ended', async () => {
    const clock = manualClock()
    const seen: number[] = []
    void clock.sleep(15).then(() => seen.push(clock.monotonic()))
    await Promise.all([clock.advance(10), clock.advance(10)])
    expect(clock.monotonic()).toBe(20)
    expect(seen).toEqual([15])
  })

  it('wakes an aborted sleeper at once and forgets it', async () => {
    const clock = manualClock()
    const abort = new AbortController()
    const sleep = clock.sleep(1_000, abort.signal)
    expect(clock.sleepers().count).toBe(1)
    abort.abort()
    await expect(sleep).resolves.toBeUndefined()
    expect(clock.sleepers()).toEqual({ count: 0, nextDueMs: undefined })
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
    await clock.sleep(1_000, abort.signal)
    expect(clock.monotonic()).toBe(0)
  })

  it('leaves no listener behind a sleep that ended', async () => {
    const clock = manualClock()
    const abort = new AbortController()
    void clock.sleep(5, abort.signal)
    await clock.advance(5)
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  })

  it('needs no time for a sleep of nothing', async () => {
    const clock = manualClock()
    await Promise.all([clock.sleep(0), clock.sleep(-1), clock.sleep(Number.NaN)])
    expect(clock.monotonic()).toBe(0)
  })

  it('never wakes who sleeps for ever', async () => {
    const clock = manualClock()
    void clock.sleep(Number.POSITIVE_INFINITY)
    await clock.advance(1e12)
    expect(clock.sleepers()).toEqual({ count: 1, nextDueMs: Number.POSITIVE_INFINITY })
  })

  it('runs until a condition holds and says how long that took', async () => {
    const clock = manualClock()
    let ticks = 0
    const tick = async () => {
      while (ticks < 100) {
        await clock.sleep(10)
        ticks += 1
      }
    }
    void tick()
    expect(await clock.runUntil(() => ticks === 3)).toBe(30)
    expect(await clock.runUntil(async () => ticks === 3)).toBe(0)
    expect(clock.monotonic()).toBe(30)
  })

  it('says why a condition cannot come true any more', async () => {
    const clock = manualClock()
    void clock.sleep(40)
    await expect(clock.runUntil(() => false)).rejects.toThrow('nobody sleeps any more, 40 ms in')
    void clock.sleep(2_000)
    await expect(clock.runUntil(() => false, { limitMs: 1_000 })).rejects.toThrow('within 1000 ms')
    expect(clock.monotonic()).toBe(40)
    await clock.advance(1)
  })

  it('finds out work that yields without end', async () => {
    const clock = manualClock()
    let going = true
    const spin = async () => {
      while (going) await clock.yield()
    }
    void spin()
    await expect(clock.settle()).rejects.toThrow('something yields in a loop')
    going = false
    await clock.settle()
  })

  it('refuses to be moved back', () => {
    const clock = manualClock()
    expect(() => clock.advance(-1)).toThrow('not -1')
    expect(() => clock.advance(Number.NaN)).toThrow(RangeError)
    expect(() => clock.jumpWall(Number.POSITIVE_INFINITY)).toThrow(RangeError)
  })

  it('gives the same trace twice', async () => {
    const run = async () => {
      const clock = manualClock()
      const trace: string[] = []
      const worker = async (name: string, ms: number) => {
        for (let step = 0; step < 20; step += 1) {
          await clock.sleep(ms)
          trace.push(`${name} ${clock.now()}`)
          await clock.yield()
        }
      }
      void worker('a', 3)
      void worker('b', 3)
      void worker('c', 4.5)
      await clock.advance(200)
      return trace
    }
    expect(await run()).toEqual(await run())
  })
})

describe('until', () => {
  it('waits for real work and gives what was found', async () => {
    let found: string | undefined
    setTimeout(() => {
      found = 'here'
    }, 5)
    expect(await until(() => found)).toBe('here')
  })

  it('takes a probe that answers later', async () => {
    let looks = 0
    expect(await until(async () => ++looks > 3 && looks)).toBe(4)
  })

  it('gives up with a sentence that says what was missing', async () => {
    await expect(until(() => false, { timeoutMs: 5, what: 'the moon is blue' })).rejects.toThrow(
      'waited 5 ms in vain until the moon is blue',
    )
  })

  it('passes on what the probe throws', async () => {
    await expect(
      until(() => {
        throw new Error('broken probe')
      }),
    ).rejects.toThrow('broken probe')
  })
})

import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'

describe('manualClock', () => {
  it('does not move by itself', async () => {
    const clock = manualClock({ nowMs: 1_000, monotonicMs: 7 })
    await until(async () => true)
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 7])
  })

  it('starts at the beginning of 2026 by default', () => {
    expect(new Date(manualClock().now()).toISOString()).toBe('2026-01-01T00:00:00.000Z')
  })

  it('advances both clocks', async () => {
    const clock = manualClock({ nowMs: 1_000 })
    await clock.advance(250)
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250])
  })

  it('returns the wall time in whole milliseconds, like the system clock', async () => {
    const clock = manualClock({ nowMs: 1_000 })
    await clock.advance(0.7)
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0.7])
  })

  it('jumpWall moves only the wall clock, forward and back, and wakes no sleeper', async () => {
    const clock = manualClock({ nowMs: 1_000 })
    void clock.sleep(50)
    clock.jumpWall(3_600_000)
    expect([clock.now(), clock.monotonic()]).toEqual([3_601_000, 0])
    clock.jumpWall(-7_200_000)
    await clock.settle()
    expect(clock.now()).toBe(-3_599_000)
    expect(clock.sleepers()).toEqual({ count: 1, nextDueMs: 50 })
  })

  it('wakes sleepers in the order of their due times, each at its due time', async () => {
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

  it('completes the work of one sleeper before it wakes the next', async () => {
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

  it('includes sleeps that start while it advances', async () => {
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

  it('runs ready work before it moves', async () => {
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

  it('runs movements one at a time: the second begins where the first ended', async () => {
    const clock = manualClock()
    const seen: number[] = []
    void clock.sleep(15).then(() => seen.push(clock.monotonic()))
    await Promise.all([clock.advance(10), clock.advance(10)])
    expect(clock.monotonic()).toBe(20)
    expect(seen).toEqual([15])
  })

  it('wakes an aborted sleeper at once and removes it', async () => {
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

  it('removes its abort listener when a sleep ends', async () => {
    const clock = manualClock()
    const abort = new AbortController()
    void clock.sleep(5, abort.signal)
    await clock.advance(5)
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  })

  it('takes no time for a sleep of 0, less, or NaN', async () => {
    const clock = manualClock()
    await Promise.all([clock.sleep(0), clock.sleep(-1), clock.sleep(Number.NaN)])
    expect(clock.monotonic()).toBe(0)
  })

  it('never wakes an infinite sleep', async () => {
    const clock = manualClock()
    void clock.sleep(Number.POSITIVE_INFINITY)
    await clock.advance(1e12)
    expect(clock.sleepers()).toEqual({ count: 1, nextDueMs: Number.POSITIVE_INFINITY })
  })

  it('runUntil advances until a condition holds and returns the duration', async () => {
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

  it('runUntil rejects without sleepers and at its limit', async () => {
    const clock = manualClock()
    void clock.sleep(40)
    await expect(clock.runUntil(() => false)).rejects.toThrow('no sleeper is left after 40 ms')
    void clock.sleep(2_000)
    await expect(clock.runUntil(() => false, { limitMs: 1_000 })).rejects.toThrow('within 1000 ms')
    expect(clock.monotonic()).toBe(40)
    await clock.advance(1)
  })

  it('rejects if work yields endlessly', async () => {
    const clock = manualClock()
    let isSpinning = true
    const spin = async () => {
      while (isSpinning) await clock.yield()
    }
    void spin()
    await expect(clock.settle()).rejects.toThrow('something yields in a loop')
    isSpinning = false
    await clock.settle()
  })

  it('rejects a negative or invalid duration', () => {
    const clock = manualClock()
    expect(() => clock.advance(-1)).toThrow('not -1')
    expect(() => clock.advance(Number.NaN)).toThrow(RangeError)
    expect(() => clock.jumpWall(Number.POSITIVE_INFINITY)).toThrow(RangeError)
  })

  it('runs the same work in the same order each time', async () => {
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
  it('waits for real I/O and returns the result', async () => {
    let found: string | undefined
    setTimeout(() => {
      found = 'done'
    }, 5)
    expect(await until(() => found)).toBe('done')
  })

  it('accepts an asynchronous probe', async () => {
    let probes = 0
    expect(await until(async () => ++probes > 3 && probes)).toBe(4)
  })

  it('rejects with the description after timeoutMs', async () => {
    await expect(until(() => false, { timeoutMs: 5, description: 'the moon is blue' })).rejects.toThrow(
      'timed out after 5 ms: the moon is blue',
    )
  })

  it('rejects with the error of the probe', async () => {
    await expect(
      until(() => {
        throw new Error('broken probe')
      }),
    ).rejects.toThrow('broken probe')
  })
})

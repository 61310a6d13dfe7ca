import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTimerBuckets } from '../../src/send/timer-buckets.js'

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('createTimerBuckets', () => {
  it('expires every item once, never early and at most 25 ms late', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 12_000 }), fc.boolean()),
          { maxLength: 40 },
        ),
        (list) => {
          const timers = createTimerBuckets()
          const expired: number[] = []
          let expected = 0
          for (const [pauseMs, ms, isCleared] of list) {
            vi.advanceTimersByTime(pauseMs)
            const due = performance.now() + ms
            const item = {
              expire() {
                expired.push(performance.now() - due)
                timers.clear(item, bucket)
              },
            }
            const bucket = timers.set(item, due)
            if (isCleared) timers.clear(item, bucket)
            else expected += 1
          }
          vi.advanceTimersByTime(12_100)
          expect(expired).toHaveLength(expected)
          expect(expired.every((late) => late >= 0 && late <= 25)).toBe(true)
          timers.close()
          expect(vi.getTimerCount()).toBe(0)
        },
      ),
    )
  })

  it('uses one timer for any number of items, and none when nothing is left', () => {
    const timers = createTimerBuckets()
    for (let n = 0; n < 1_000; n++) timers.set({ expire: () => {} }, performance.now() + 100 + n)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1_200)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('expires nothing after close', () => {
    const timers = createTimerBuckets()
    const expire = vi.fn()
    timers.set({ expire }, performance.now() + 10)
    timers.close()
    vi.advanceTimersByTime(1_000)
    expect(expire).not.toHaveBeenCalled()
  })

  it('does not expire a deadline beyond the range of setTimeout immediately', () => {
    const timers = createTimerBuckets()
    const expire = vi.fn()
    timers.set({ expire }, performance.now() + 2 ** 40)
    vi.advanceTimersByTime(60_000)
    expect(expire).not.toHaveBeenCalled()
    timers.close()
  })

  it('handles arrived messages before expiring deadlines after the process was blocked', async () => {
    vi.useRealTimers()
    const timers = createTimerBuckets()
    const order: string[] = []
    const ended = new Promise<void>((resolve) => {
      timers.set({ expire: () => resolve(void order.push('expired')) }, performance.now() + 5)
    })
    const { port1, port2 } = new MessageChannel()
    port2.on('message', () => order.push('arrived'))
    port1.postMessage('x')
    const until = performance.now() + 60
    while (performance.now() < until);
    await ended
    port1.close()
    expect(order).toEqual(['arrived', 'expired'])
    timers.close()
  })
})

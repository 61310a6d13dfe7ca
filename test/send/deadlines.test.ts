import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDeadlines } from '../../src/send/deadlines.js'

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'],
  })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('createDeadlines', () => {
  it('lets everything expire once, never early and at most 25 ms late', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 12_000 }), fc.boolean()),
          { maxLength: 40 },
        ),
        (list) => {
          const deadlines = createDeadlines()
          const expired: number[] = []
          let kept = 0
          for (const [pauseMs, ms, isCleared] of list) {
            vi.advanceTimersByTime(pauseMs)
            const due = performance.now() + ms
            const item = {
              expire() {
                expired.push(performance.now() - due)
                deadlines.clear(item, deadline)
              },
            }
            const deadline = deadlines.set(item, ms)
            if (isCleared) deadlines.clear(item, deadline)
            else kept += 1
          }
          vi.advanceTimersByTime(12_100)
          expect(expired).toHaveLength(kept)
          expect(expired.every((late) => late >= 0 && late <= 25)).toBe(true)
          deadlines.close()
          expect(vi.getTimerCount()).toBe(0)
        },
      ),
    )
  })

  it('has one timer, however many wait, and none when nothing is left', () => {
    const deadlines = createDeadlines()
    for (let n = 0; n < 1_000; n++) deadlines.set({ expire: () => {} }, 100 + n)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1_200)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('lets nothing expire after close', () => {
    const deadlines = createDeadlines()
    const expire = vi.fn()
    deadlines.set({ expire }, 10)
    deadlines.close()
    vi.advanceTimersByTime(1_000)
    expect(expire).not.toHaveBeenCalled()
  })

  it('does not take a deadline beyond the range of timers for one that has passed', () => {
    const deadlines = createDeadlines()
    const expire = vi.fn()
    deadlines.set({ expire }, 2 ** 40)
    vi.advanceTimersByTime(60_000)
    expect(expire).not.toHaveBeenCalled()
    deadlines.close()
  })

  it('reads what has arrived before it gives up, when the process was blocked', async () => {
    vi.useRealTimers()
    const deadlines = createDeadlines()
    const order: string[] = []
    const ended = new Promise<void>((resolve) => {
      deadlines.set({ expire: () => resolve(void order.push('expired')) }, 5)
    })
    const { port1, port2 } = new MessageChannel()
    port2.on('message', () => order.push('arrived'))
    port1.postMessage('x')
    const until = performance.now() + 60
    while (performance.now() < until);
    await ended
    port1.close()
    expect(order).toEqual(['arrived', 'expired'])
    deadlines.close()
  })
})

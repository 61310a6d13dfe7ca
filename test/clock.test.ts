import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../src/clock.js'

const clock = systemClock()
const LONGEST_TIMER_MS = 2_147_483_647

afterEach(() => {
  vi.useRealTimers()
})

const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

/** Whether a promise has resolved, looked at again after every promise that is ready. */
function watched(promise: Promise<unknown>) {
  const state = { done: false }
  void promise.then(() => {
    state.done = true
  })
  return state
}

describe('systemClock', () => {
  it('tells the wall time in whole milliseconds since 1970', () => {
    const before = Date.now()
    const now = clock.now()
    expect(Number.isInteger(now)).toBe(true)
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('keeps its monotonic time when the wall clock jumps', () => {
    const start = clock.monotonic()
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    expect(clock.now()).toBe(0)
    expect(clock.monotonic()).toBeGreaterThanOrEqual(start)
  })

  it('sleeps at least the asked time', async () => {
    for (const ms of [1, 2.5, 7]) {
      const start = performance.now()
      await clock.sleep(ms)
      expect(performance.now() - start).toBeGreaterThanOrEqual(ms)
    }
  })

  it.each([0, -1, Number.NaN])('takes one turn of the event loop for a sleep of %s', async (ms) => {
    const sleep = watched(clock.sleep(ms))
    await Promise.resolve()
    expect(sleep.done).toBe(false)
    await vi.waitUntil(() => sleep.done)
  })

  it('sleeps longer than the longest timer of Node', async () => {
    fakeTimers()
    const sleep = watched(clock.sleep(LONGEST_TIMER_MS + 5_000))
    await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS + 4_999)
    expect(sleep.done).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(sleep.done).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sleeps for ever when asked to, until it is aborted', async () => {
    fakeTimers()
    const abort = new AbortController()
    const sleep = watched(clock.sleep(Number.POSITIVE_INFINITY, abort.signal))
    await vi.advanceTimersByTimeAsync(3 * LONGEST_TIMER_MS)
    expect(sleep.done).toBe(false)
    abort.abort()
    await Promise.resolve()
    expect(sleep.done).toBe(true)
  })

  it('wakes at once when aborted, and leaves neither timer nor listener', async () => {
    fakeTimers()
    const abort = new AbortController()
    const sleep = clock.sleep(60_000, abort.signal)
    expect(vi.getTimerCount()).toBe(1)
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1)
    abort.abort(new Error('not thrown'))
    await expect(sleep).resolves.toBeUndefined()
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  })

  it('does not fall asleep with a signal that is aborted already', async () => {
    fakeTimers()
    await clock.sleep(60_000, AbortSignal.abort())
    expect(vi.getTimerCount()).toBe(0)
  })

  it('leaves no listener when it slept to its end', async () => {
    const abort = new AbortController()
    await clock.sleep(1, abort.signal)
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  })

  it('holds no process open while it sleeps', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const before = timers()
    const abort = new AbortController()
    const sleep = clock.sleep(60_000, abort.signal)
    expect(timers()).toBe(before)
    abort.abort()
    await sleep
  })

  it('gives other work that is ready its turn in a yield', async () => {
    const order: string[] = []
    setImmediate(() => order.push('ready work'))
    await clock.yield()
    order.push('after the yield')
    expect(order).toEqual(['ready work', 'after the yield'])
  })
})

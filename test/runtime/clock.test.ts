import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'

const clock = systemClock()
const LONGEST_TIMER_MS = 2_147_483_647

afterEach(() => {
  vi.useRealTimers()
})

const fakeTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

/** `done` becomes true when the promise resolves. */
function track(promise: Promise<unknown>) {
  const state = { done: false }
  void promise.then(() => {
    state.done = true
  })
  return state
}

describe('systemClock', () => {
  it('now() is the wall time in whole milliseconds since 1970', () => {
    const before = Date.now()
    const now = clock.now()
    expect(Number.isInteger(now)).toBe(true)
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('monotonic() is unaffected when the wall clock jumps', () => {
    const start = clock.monotonic()
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    expect(clock.now()).toBe(0)
    expect(clock.monotonic()).toBeGreaterThanOrEqual(start)
  })

  it('a sleep takes at least the given time', async () => {
    for (const ms of [1, 2.5, 7]) {
      const start = performance.now()
      await clock.sleep(ms)
      expect(performance.now() - start).toBeGreaterThanOrEqual(ms)
    }
  })

  it.each([0, -1, Number.NaN])('a sleep of %s ms takes one turn of the event loop', async (ms) => {
    const sleep = track(clock.sleep(ms))
    await Promise.resolve()
    expect(sleep.done).toBe(false)
    await vi.waitUntil(() => sleep.done)
  })

  it('a sleep may exceed the longest timer of Node', async () => {
    fakeTimers()
    const sleep = track(clock.sleep(LONGEST_TIMER_MS + 5_000))
    await vi.advanceTimersByTimeAsync(LONGEST_TIMER_MS + 4_999)
    expect(sleep.done).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(sleep.done).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('an infinite sleep lasts until its signal aborts', async () => {
    fakeTimers()
    const abort = new AbortController()
    const sleep = track(clock.sleep(Number.POSITIVE_INFINITY, abort.signal))
    await vi.advanceTimersByTimeAsync(3 * LONGEST_TIMER_MS)
    expect(sleep.done).toBe(false)
    abort.abort()
    await Promise.resolve()
    expect(sleep.done).toBe(true)
  })

  it('an aborted sleep resolves at once and leaves neither timer nor listener', async () => {
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

  it('a sleep with a signal that has already aborted resolves at once', async () => {
    fakeTimers()
    await clock.sleep(60_000, AbortSignal.abort())
    expect(vi.getTimerCount()).toBe(0)
  })

  it('a sleep that ends by itself leaves no listener', async () => {
    const abort = new AbortController()
    await clock.sleep(1, abort.signal)
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0)
  })

  it('a sleep does not keep the process alive', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const before = timers()
    const abort = new AbortController()
    const sleep = clock.sleep(60_000, abort.signal)
    expect(timers()).toBe(before)
    abort.abort()
    await sleep
  })

  it('yield() resolves after other work that is ready', async () => {
    const order: string[] = []
    setImmediate(() => order.push('ready work'))
    await clock.yield()
    order.push('after the yield')
    expect(order).toEqual(['ready work', 'after the yield'])
  })
})

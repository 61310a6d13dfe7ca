import { describe, expect, it } from 'vitest'
import { SLICE_MS, yieldingOf } from '../../src/values/yielding.js'

/** A clock whose turns the test ends, and whose time passes by `work`. */
function handClock() {
  let ms = 0
  let waiting: (() => void)[] = []
  const clock = {
    yields: 0,
    monotonic: () => ms,
    yield() {
      clock.yields += 1
      return new Promise<void>((resolve) => waiting.push(resolve))
    },
    work(tookMs: number) {
      ms += tookMs
    },
    async endTurn() {
      const ready = waiting
      waiting = []
      for (const resolve of ready) resolve()
      for (let n = 0; n < 10; n++) await null
    },
  }
  return clock
}

/** Long work of steps of 6 ms, in a log by name. */
function worker(clock: ReturnType<typeof handClock>, log: string[]) {
  const yielding = yieldingOf(clock)
  return async (name: string, owner: string, steps: number) => {
    for (let step = 1; step <= steps; step++) {
      const turn = yielding.whenDue(owner)
      if (turn) await turn
      log.push(`${name}${step}`)
      clock.work(6)
    }
  }
}

describe('long work', () => {
  it('continues while it has taken less than 10 ms in this turn, and waits for the next one then', async () => {
    const clock = handClock()
    const yielding = yieldingOf(clock)
    expect(yielding.whenDue('a')).toBeUndefined()
    clock.work(SLICE_MS - 1)
    expect(yielding.whenDue('a')).toBeUndefined()
    clock.work(1)
    let isResumed = false
    const waiting = yielding.whenDue('a')!.then(() => {
      isResumed = true
    })
    await null
    expect(isResumed).toBe(false)
    await clock.endTurn()
    expect(isResumed).toBe(true)
    await waiting
    clock.work(SLICE_MS - 1)
    expect(yielding.whenDue('a')).toBeUndefined()
  })

  it('of many at once takes one slice in a turn, in the order in which they began to wait', async () => {
    const clock = handClock()
    const log: string[] = []
    const work = worker(clock, log)
    const all = [work('x', 'a', 6), work('y', 'a', 2), work('z', 'a', 2)]
    expect(log).toEqual(['x1', 'x2'])
    const byTurn: string[][] = []
    while (log.length < 10) {
      const before = log.length
      await clock.endTurn()
      byTurn.push(log.slice(before))
    }
    expect(byTurn).toEqual([
      ['x3', 'x4'],
      ['y1', 'y2'],
      ['z1', 'z2'],
      ['x5', 'x6'],
    ])
    await Promise.all(all)
  })

  it('of one account does not delay that of another by more than one slice', async () => {
    const clock = handClock()
    const log: string[] = []
    const work = worker(clock, log)
    void work('first', 'a', 2)
    for (let n = 0; n < 20; n++) void work(`many${n}-`, 'a', 2)
    const other = work('other', 'b', 2)
    await clock.endTurn()
    await clock.endTurn()
    expect(log.slice(-2)).toEqual(['other1', 'other2'])
    await other
  })

  it('that others wait for continues in the next turn, whoever else waits', async () => {
    const clock = handClock()
    const log: string[] = []
    const work = worker(clock, log)
    for (let n = 0; n < 9; n++) void work(`${n}-`, 'a', 2)
    for (let n = 0; n < 9; n++) await null
    let isResumed = false
    void yieldingOf(clock)
      .briefly()!
      .then(() => {
        isResumed = true
      })
    await clock.endTurn()
    expect(isResumed).toBe(true)
  })

  it('shares the slices of one clock, and costs no turn while nothing calls it', async () => {
    const clock = handClock()
    expect(yieldingOf(clock)).toBe(yieldingOf(clock))
    expect(yieldingOf(clock)).not.toBe(yieldingOf(handClock()))
    expect(clock.yields).toBe(0)
    yieldingOf(clock).whenDue('a')
    await clock.endTurn()
    await clock.endTurn()
    expect(clock.yields).toBe(1)
  })
})

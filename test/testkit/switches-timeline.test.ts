import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { timeline } from '../../src/testkit/switches/timeline.js'

/** Events at these milliseconds; what happened, and when. */
function played(timesMs: readonly number[], options: { speed?: number; takes?: () => Promise<void> } = {}) {
  const clock = manualClock()
  const happened: [atMs: number, whenMs: number][] = []
  const course = timeline(
    timesMs.map((atMs) => ({ atMs })),
    {
      clock,
      speed: options.speed ?? 1,
      happen: async ({ atMs }) => {
        happened.push([atMs, clock.monotonic()])
        await options.takes?.()
      },
    },
  )
  return { clock, course, happened }
}

describe('a timeline', () => {
  it('keeps the distances of its events, also of those that were written a little out of order', async () => {
    const { clock, course, happened } = played([1_000, 1_100, 1_090, 1_300])
    const playing = course.play()
    await clock.advance(1_000)
    await playing
    expect(happened).toEqual([
      [1_000, 0],
      [1_100, 100],
      [1_090, 100],
      [1_300, 310],
    ])
  })

  it('does not run ahead when somebody advances meanwhile: the distance to the next counts from there', async () => {
    const { clock, course, happened } = played([0, 100, 200, 300])
    const playing = course.play()
    await clock.advance(50)
    await course.advance(2)
    expect(happened.map(([atMs]) => atMs)).toEqual([0, 100, 200])
    await clock.advance(149)
    expect(course.position).toBe(3)
    await clock.advance(1)
    await playing
    expect(happened.at(-1)).toEqual([300, 200])
  })

  it('begins again after a rewind, while it plays', async () => {
    const { clock, course, happened } = played([0, 100, 200])
    const playing = course.play({ speed: 2 })
    await clock.advance(50)
    course.rewind()
    await clock.advance(1_000)
    await playing
    expect(happened.map(([atMs]) => atMs)).toEqual([0, 100, 0, 100, 200])
  })

  it('makes one move at a time, and waits for who takes the events', async () => {
    const gates: (() => void)[] = []
    const { course, happened, clock } = played([0, 0, 0, 0], {
      takes: () => new Promise<void>((resolve) => gates.push(resolve)),
    })
    const moves = [course.advance(2), course.advance(2)]
    await clock.settle()
    expect(happened).toHaveLength(1)
    for (let count = 1; count <= 4; count += 1) {
      expect(happened).toHaveLength(count)
      gates.shift()?.()
      await clock.settle()
    }
    await Promise.all(moves)
  })

  it('stops when it is closed', async () => {
    const { clock, course, happened } = played([0, 100, 200])
    const playing = course.play()
    await clock.advance(100)
    course.close()
    await playing
    await course.advance(1)
    expect(happened).toHaveLength(2)
    expect(clock.sleepers().count).toBe(0)
  })
})

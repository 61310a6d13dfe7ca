import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createTimeline } from '../../src/testkit/switches/timeline.js'

/** A timeline with events at these milliseconds; records which were replayed, and when. */
function createPlayed(
  timesMs: readonly number[],
  options: { speed?: number; onEvent?: () => Promise<void> } = {},
) {
  const clock = manualClock()
  const replayed: [atMs: number, whenMs: number][] = []
  const timeline = createTimeline(
    timesMs.map((atMs) => ({ atMs })),
    {
      clock,
      speed: options.speed ?? 1,
      onEvent: async ({ atMs }) => {
        replayed.push([atMs, clock.monotonic()])
        await options.onEvent?.()
      },
    },
  )
  return { clock, timeline, replayed }
}

describe('a timeline', () => {
  it('keeps the intervals between events, even if some are slightly out of order', async () => {
    const { clock, timeline, replayed } = createPlayed([1_000, 1_100, 1_090, 1_300])
    const playing = timeline.play()
    await clock.advance(1_000)
    await playing
    expect(replayed).toEqual([
      [1_000, 0],
      [1_100, 100],
      [1_090, 100],
      [1_300, 310],
    ])
  })

  it('measures the next interval from an event that advance replayed meanwhile', async () => {
    const { clock, timeline, replayed } = createPlayed([0, 100, 200, 300])
    const playing = timeline.play()
    await clock.advance(50)
    await timeline.advance(2)
    expect(replayed.map(([atMs]) => atMs)).toEqual([0, 100, 200])
    await clock.advance(149)
    expect(timeline.position).toBe(3)
    await clock.advance(1)
    await playing
    expect(replayed.at(-1)).toEqual([300, 200])
  })

  it('restarts after a rewind during play', async () => {
    const { clock, timeline, replayed } = createPlayed([0, 100, 200])
    const playing = timeline.play({ speed: 2 })
    await clock.advance(50)
    timeline.rewind()
    await clock.advance(1_000)
    await playing
    expect(replayed.map(([atMs]) => atMs)).toEqual([0, 100, 0, 100, 200])
  })

  it('runs one step at a time, and waits for slow subscribers', async () => {
    const gates: (() => void)[] = []
    const { timeline, replayed, clock } = createPlayed([0, 0, 0, 0], {
      onEvent: () => new Promise<void>((resolve) => gates.push(resolve)),
    })
    const steps = [timeline.advance(2), timeline.advance(2)]
    await clock.settle()
    expect(replayed).toHaveLength(1)
    for (let count = 1; count <= 4; count += 1) {
      expect(replayed).toHaveLength(count)
      gates.shift()?.()
      await clock.settle()
    }
    await Promise.all(steps)
  })

  it('stops when it is closed', async () => {
    const { clock, timeline, replayed } = createPlayed([0, 100, 200])
    const playing = timeline.play()
    await clock.advance(100)
    timeline.close()
    await playing
    await timeline.advance(1)
    expect(replayed).toHaveLength(2)
    expect(clock.sleepers().count).toBe(0)
  })
})

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { judge, lineThrough } from './slope.js'

const readings = (bytesAt: (second: number) => number) =>
  Array.from({ length: 60 }, (_, seconds) => ({ seconds, rss: bytesAt(seconds), live: 20e6 }))
/** Up and down, as memory goes, without a trend. */
const saw = (second: number) => 100e6 + (second % 7) * 1e6

describe('the line through memory', () => {
  it('is the one that the readings lie on', () => {
    const { perMinute, start } = lineThrough(
      readings((second) => 5e6 + 1000 * second),
      (one) => one.rss,
    )
    expect(perMinute).toBeCloseTo(60_000, 3)
    expect(start).toBeCloseTo(5e6, 3)
  })

  it('is as sure as the readings are many, and unlike the ones before', () => {
    const either = (bytesAt: (second: number) => number) =>
      lineThrough(readings(bytesAt), (one) => one.rss).either
    expect(either(() => 5e6)).toBe(0)
    expect(either((second) => 5e6 + 1000 * second)).toBeLessThan(1)
    // The same readings, in another order.
    const mixed = either((second) => 1e6 * ((second * 7) % 20))
    const inWaves = either((second) => 1e6 * (second % 20))
    expect(mixed).toBeGreaterThan(1e6)
    expect(inWaves).toBeGreaterThan(2 * mixed)
  })

  it('is flat where memory goes up and down', () => {
    expect(judge(readings(saw), 15).findings).toEqual([])
  })

  it('is flat where memory grew in the warm-up alone', () => {
    expect(
      judge(
        readings((second) => (second < 15 ? 1e6 * second : saw(second))),
        15,
      ).findings,
    ).toEqual([])
  })

  it('is not where it grows, be it slowly', () => {
    expect(
      judge(
        readings((second) => saw(second) + 400_000 * second),
        15,
      ).findings,
    ).toEqual([expect.stringMatching(/^RSS grows by 2\d\.\d MB a minute/)])
  })

  it('is not there without readings', () => {
    expect(() => judge(readings(saw).slice(0, 6), 3)).toThrow('only 3 readings')
  })
})

it('the command line refuses what it does not know', async () => {
  const run = fileURLToPath(new URL('./run.js', import.meta.url))
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [run, '--store', 'paper'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(text).toContain('--store takes one of memory, sqlite, postgres')
})

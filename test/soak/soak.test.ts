import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkGrowth, fitLine } from './slope.js'

const readings = (bytesAt: (second: number) => number) =>
  Array.from({ length: 60 }, (_, seconds) => ({ seconds, rss: bytesAt(seconds), live: 20e6 }))
/** Memory that varies without a trend. */
const sawtooth = (second: number) => 100e6 + (second % 7) * 1e6

describe('the regression line through memory readings', () => {
  it('passes through readings that lie on a line', () => {
    const { perMinute, start } = fitLine(
      readings((second) => 5e6 + 1000 * second),
      (reading) => reading.rss,
    )
    expect(perMinute).toBeCloseTo(60_000, 3)
    expect(start).toBeCloseTo(5e6, 3)
  })

  it('has a margin of error that grows with the variance and the correlation of readings', () => {
    const margin = (bytesAt: (second: number) => number) =>
      fitLine(readings(bytesAt), (reading) => reading.rss).margin
    expect(margin(() => 5e6)).toBe(0)
    expect(margin((second) => 5e6 + 1000 * second)).toBeLessThan(1)
    // The same readings in another order.
    const mixed = margin((second) => 1e6 * ((second * 7) % 20))
    const inWaves = margin((second) => 1e6 * (second % 20))
    expect(mixed).toBeGreaterThan(1e6)
    expect(inWaves).toBeGreaterThan(2 * mixed)
  })

  it('is flat for memory that varies without a trend', () => {
    expect(checkGrowth(readings(sawtooth), 15).problems).toEqual([])
  })

  it('is flat for memory that grew only during the warm-up', () => {
    expect(
      checkGrowth(
        readings((second) => (second < 15 ? 1e6 * second : sawtooth(second))),
        15,
      ).problems,
    ).toEqual([])
  })

  it('is not flat for memory that grows slowly', () => {
    expect(
      checkGrowth(
        readings((second) => sawtooth(second) + 400_000 * second),
        15,
      ).problems,
    ).toEqual([expect.stringMatching(/^RSS grows by 2\d\.\d MB a minute/)])
  })

  it('needs readings after the warm-up', () => {
    expect(() => checkGrowth(readings(sawtooth).slice(0, 6), 3)).toThrow('only 3 readings')
  })
})

it('the command line rejects an unknown store', async () => {
  const run = fileURLToPath(new URL('./run.js', import.meta.url))
  const text = await new Promise<string>((resolve) => {
    execFile(process.execPath, [run, '--store', 'paper'], (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  expect(text).toContain('--store takes one of memory, sqlite, postgres')
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPositions, MAX_NODES, positionAt, positionMs } from '../../src/delivery/positions.js'

const NOW = 1_790_000_000_000

describe('positions', () => {
  it('are safe integers that strictly increase, whatever the clock does', () => {
    const step = fc.oneof(
      fc.record({ ms: fc.integer({ min: -5, max: 5 }) }),
      fc.record({ raise: fc.integer({ min: 0, max: 2 ** 20 }) }),
    )
    fc.assert(
      fc.property(fc.nat(MAX_NODES - 1), fc.array(step, { maxLength: 300 }), (node, steps) => {
        const positions = createPositions(node)
        let now = NOW
        let last = 0
        for (const step of steps) {
          if ('raise' in step) {
            const raised = last + step.raise
            positions.raise(raised)
            last = raised
            continue
          }
          now += step.ms
          const position = positions.next(now)
          expect(Number.isSafeInteger(position)).toBe(true)
          expect(position).toBeGreaterThan(last)
          last = position
        }
      }),
    )
  })

  it('of different nodes are different, and in the order of time', () => {
    const nodes = Array.from({ length: MAX_NODES }, (_, node) => createPositions(node))
    const all = [0, 1].flatMap((ms) =>
      nodes.flatMap((positions) => Array.from({ length: 64 }, () => positions.next(NOW + ms))),
    )
    expect(new Set(all).size).toBe(all.length)
    const half = all.length / 2
    expect(Math.max(...all.slice(0, half))).toBeLessThan(Math.min(...all.slice(half)))
  })

  it('tell the time of their acceptance', () => {
    const positions = createPositions(MAX_NODES - 1)
    for (const ms of [0, 1, 999]) expect(positionMs(positionAt(NOW + ms))).toBe(NOW + ms)
    const all = Array.from({ length: 64 }, () => positions.next(NOW))
    expect(new Set(all.map(positionMs))).toEqual(new Set([NOW]))
    expect(positionMs(positions.next(NOW))).toBe(NOW + 1)
  })

  it('continue in the next millisecond when one is used up, and stay there until time has passed', () => {
    const positions = createPositions(5)
    const first = Array.from({ length: 65 }, () => positions.next(NOW))
    expect(first[64]! - first[0]!).toBe(createPositions(5).next(NOW + 1) - createPositions(5).next(NOW))
    expect(positions.next(NOW)).toBe(first[64]! + 1)
  })
})

import type * as crypto from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { systemRandom } from '../../src/runtime/random.js'
import { createIdGenerator } from '../../src/values/ids.js'

/** The arrays passed to `randomFillSync`. */
const filled = vi.hoisted(() => [] as Uint8Array[])
vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>()
  const randomFillSync = (array: Uint8Array) => {
    filled.push(array)
    return real.randomFillSync(array)
  }
  return { ...real, randomFillSync }
})

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('systemRandom', () => {
  it.each([0, 1, 16, 4095, 4096, 4097, 100_000])('bytes(%s) returns that many bytes', (count) => {
    expect(systemRandom().bytes(count)).toHaveLength(count)
  })

  it('bytes() rejects a negative count', () => {
    expect(() => systemRandom().bytes(-1)).toThrow(RangeError)
  })

  it('bytes() never repeats, even where the pool is refilled', () => {
    const random = systemRandom()
    const drawn = Array.from({ length: 2_000 }, (_, at) => hex(random.bytes(16 + (at % 17))).slice(0, 32))
    expect(new Set(drawn).size).toBe(drawn.length)
  })

  it('bytes() returns a copy that later calls do not change', () => {
    const random = systemRandom()
    const first = random.bytes(32)
    const copy = hex(first)
    for (let draw = 0; draw < 1_000; draw += 1) random.bytes(32)
    expect(hex(first)).toBe(copy)
    expect(first.buffer.byteLength).toBe(32)
  })

  it('bytes() wipes the returned bytes from its pool', () => {
    filled.length = 0
    const key = systemRandom().bytes(32)
    const [pool] = filled
    expect(pool?.length).toBeGreaterThan(32)
    expect(pool?.subarray(0, 32)).toEqual(new Uint8Array(32))
    expect(key).not.toEqual(new Uint8Array(32))
  })

  it('bytes() returns every byte value at every position', () => {
    const random = systemRandom()
    const values = Array.from({ length: 4 }, () => new Set<number>())
    for (let draw = 0; draw < 20_000; draw += 1) {
      random.bytes(4).forEach((byte, place) => void values[place]?.add(byte))
    }
    expect(values.map(({ size }) => size)).toEqual([256, 256, 256, 256])
  })

  it('fraction() returns values in [0, 1), on both sides of the middle', () => {
    const random = systemRandom()
    const drawn = Array.from({ length: 1_000 }, () => random.fraction())
    expect(drawn.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true)
    expect(Math.min(...drawn)).toBeLessThan(0.5)
    expect(Math.max(...drawn)).toBeGreaterThan(0.5)
  })

  it('ids made of its bytes are 32 hex digits and unique', () => {
    const random = systemRandom()
    const newId = createIdGenerator((count) => random.bytes(count))
    const ids = Array.from({ length: 1_000 }, newId)
    expect(new Set(ids).size).toBe(1_000)
    expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true)
  })
})

import { describe, expect, it } from 'vitest'
import { firstDeliveryId, PREFIX_DIGITS, replayId } from '../../src/delivery/delivery-ids.js'
import { laneKey } from '../../src/delivery/lane-key.js'

const EVENT = '0123456789abcdef0123456789abcdef'
const RANDOM = 'fedcba9876543210fedcba9876543210'

describe('ids of deliveries', () => {
  it('begin with the first digits of the id of their event, and differ', () => {
    const ids = [0, 1, 4095].map((index) => firstDeliveryId(EVENT, index))
    ids.push(replayId(EVENT, RANDOM))
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{32}$/)
      expect(id.slice(0, PREFIX_DIGITS)).toBe(EVENT.slice(0, PREFIX_DIGITS))
    }
    expect(new Set([EVENT, ...ids]).size).toBe(5)
  })

  it('of replays are never those of first deliveries, whatever is random', () => {
    expect(replayId(EVENT, '0'.repeat(32))).not.toBe(firstDeliveryId(EVENT, 0))
    expect(replayId(EVENT, RANDOM)[PREFIX_DIGITS]).toBe('f')
  })
})

describe('the key of a lane', () => {
  it('is 0 for a delivery without order, otherwise a safe integer above 0 that depends on the whole lane', () => {
    expect(laneKey('-/d1')).toBe(0)
    const keys = Array.from({ length: 20_000 }, (_, call) => laneKey(`acc/call-${call}`))
    expect(keys.every((key) => Number.isSafeInteger(key) && key > 0)).toBe(true)
    expect(new Set(keys).size).toBe(keys.length)
    expect(Math.max(...keys)).toBeGreaterThan(2 ** 50)
  })

  it('does not change: stores keep it', () => {
    expect(laneKey('acc/call-1')).toMatchInlineSnapshot(`1901766745254684`)
    expect(laneKey(`replay/${'a1'.repeat(16)}`)).toMatchInlineSnapshot(`3018877006100684`)
    // As a store names it.
    expect(laneKey('replay/3018877006100684')).toBe(3018877006100684)
  })
})

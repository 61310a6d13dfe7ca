import { describe, expect, it } from 'vitest'
import { positionAt } from '../../../src/delivery/positions.js'
import {
  ATTEMPTS,
  CONTENT,
  DUE,
  ENDPOINT,
  Entries,
  EPOCH,
  FAILED,
  IS_DISPLACED,
  IS_REQUESTED,
  IS_TAKEN,
  LANE,
  NEXT,
  NONE,
  POSITION,
  PREVIOUS,
  SEQUENCE,
} from '../../../src/delivery/queue/entries.js'

function allocate(entries: Entries, position: number): number {
  const entry = entries.allocate(1, 2, 3, 4, 5, 6)
  entries.setNumber(entry, POSITION, position)
  return entry
}
const PAGE = 4096
const DAY_MS = 86_400_000
const NOW = 1_790_000_000_000

describe('entries', () => {
  it('keep every field, also in an entry that was used before', () => {
    const entries = new Entries()
    const former = allocate(entries, 1)
    for (const field of [NEXT, PREVIOUS, CONTENT, FAILED]) entries.setWord(former, field, 99)
    entries.free(former)
    const entry = entries.allocate(2 ** 32 - 1, 2 ** 32 - 2, 11, 13, 14, 15)
    entries.setNumber(entry, POSITION, 2 ** 53 - 1)
    entries.setNumber(entry, LANE, 2 ** 53 - 2)
    entries.setNumber(entry, DUE, 12.5)
    expect(entry).toBe(former)
    expect([POSITION, LANE, DUE].map((field) => entries.number(entry, field))).toEqual([
      2 ** 53 - 1,
      2 ** 53 - 2,
      12.5,
    ])
    const fields = [ENDPOINT, SEQUENCE, EPOCH, ATTEMPTS, FAILED, NEXT, PREVIOUS, CONTENT]
    expect(fields.map((field) => entries.word(entry, field))).toEqual([
      2 ** 32 - 1,
      2 ** 32 - 2,
      11,
      13,
      0,
      NONE,
      NONE,
      NONE,
    ])
    expect([entries.tries(entry), entries.interruptions(entry)]).toEqual([14, 15])
  })

  it.each([
    [0, 0],
    [31, 1],
    [1, 31],
    [255, 255],
    [256, 300],
  ])('count %i tries and %i interruptions, at most 255 of each, beside the flags', (tries, interruptions) => {
    const entries = new Entries()
    const entry = entries.allocate(1, 0, 0, 0, tries, interruptions)
    const counted = [Math.min(tries, 255), Math.min(interruptions, 255)]
    expect([entries.tries(entry), entries.interruptions(entry)]).toEqual(counted)
    for (const flag of [IS_TAKEN, IS_REQUESTED, IS_DISPLACED])
      expect(entries.hasFlag(entry, flag)).toBe(false)
    entries.setFlag(entry, IS_TAKEN, true)
    entries.setFlag(entry, IS_REQUESTED, true)
    entries.setFlag(entry, IS_TAKEN, false)
    expect(entries.hasFlag(entry, IS_TAKEN)).toBe(false)
    expect(entries.hasFlag(entry, IS_REQUESTED)).toBe(true)
    expect([entries.tries(entry), entries.interruptions(entry)]).toEqual(counted)
    entries.setCounters(entry, 9, interruptions, tries)
    expect(entries.word(entry, ATTEMPTS)).toBe(9)
    expect([entries.interruptions(entry), entries.tries(entry)]).toEqual(counted)
    expect([IS_TAKEN, IS_REQUESTED, IS_DISPLACED].map((flag) => entries.hasFlag(entry, flag))).toEqual([
      false,
      true,
      false,
    ])
  })

  it.each([
    ['at once', 0, 0],
    ['after 1 ms', 1, 1],
    ['after a part of a millisecond', 0.9, 0],
    ['after 48 days', 48 * DAY_MS, 48 * DAY_MS],
    ['after the longest time that is stored', 2 ** 32 - 2, 2 ** 32 - 2],
    ['after more than that', 60 * DAY_MS, 2 ** 32 - 2],
    ['before it was accepted, by the clock of another node', -5_000, 0],
  ])('keep the time of a first failure %s', (_, sinceMs, stored) => {
    const entries = new Entries()
    // The last position of a millisecond.
    const entry = allocate(entries, positionAt(NOW + 1) - 1)
    expect(entries.failedMs(entry)).toBeUndefined()
    entries.setFailedMs(entry, NOW + sinceMs)
    expect(entries.failedMs(entry)).toBe(NOW + stored)
    for (const none of [undefined, 0]) {
      entries.setFailedMs(entry, NOW)
      entries.setFailedMs(entry, none)
      expect(entries.failedMs(entry)).toBeUndefined()
    }
  })

  it('reuse what was freed before they grow', () => {
    const entries = new Entries()
    const all = Array.from({ length: 2 * PAGE }, (_, index) => allocate(entries, index))
    const { bytes } = entries
    for (const entry of all.filter((_, index) => index % 2 === 0)) entries.free(entry)
    expect(entries.size).toBe(PAGE)
    const again = Array.from({ length: PAGE }, (_, index) => allocate(entries, 3 * PAGE + index))
    expect(entries.bytes).toBe(bytes)
    const kept = all.filter((_, index) => index % 2 === 1)
    expect(new Set([...kept, ...again]).size).toBe(2 * PAGE)
    expect(entries.number(kept[5]!, POSITION)).toBe(11)
  })

  it('release pages that are empty, but for one, and use their numbers again', () => {
    const entries = new Entries()
    const all = Array.from({ length: 5 * PAGE }, (_, index) => allocate(entries, index))
    expect(entries.bytes).toBe(5 * PAGE * 64)
    for (const entry of all) entries.free(entry)
    expect(entries.size).toBe(0)
    expect(entries.bytes).toBe(PAGE * 64)
    const again = new Set(Array.from({ length: 5 * PAGE }, (_, index) => allocate(entries, index)))
    expect(again.size).toBe(5 * PAGE)
    expect(Math.max(...again)).toBe(5 * PAGE)
  })
})

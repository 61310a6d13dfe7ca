import { describe, expect, it } from 'vitest'
import {
  ATTEMPTS,
  CONTENT,
  DUE,
  ENDPOINT,
  Entries,
  EPOCH,
  FLAGS,
  IS_REQUESTED,
  IS_TAKEN,
  LANE,
  NEXT,
  NONE,
  POSITION,
  PREVIOUS,
  SEQUENCE,
  TRIES,
} from '../../../src/delivery/queue/entries.js'

function allocate(entries: Entries, position: number): number {
  const entry = entries.allocate(1, 2, 3, 4, 5, 6)
  entries.setNumber(entry, POSITION, position)
  return entry
}
const PAGE = 4096

describe('entries', () => {
  it('keep every field, also in an entry that was used before', () => {
    const entries = new Entries()
    const former = allocate(entries, 1)
    for (const field of [NEXT, PREVIOUS, CONTENT]) entries.setWord(former, field, 99)
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
    const fields = [ENDPOINT, SEQUENCE, EPOCH, ATTEMPTS, TRIES, FLAGS, NEXT, PREVIOUS, CONTENT]
    expect(fields.map((field) => entries.word(entry, field))).toEqual([
      2 ** 32 - 1,
      2 ** 32 - 2,
      11,
      13,
      14,
      15,
      NONE,
      NONE,
      NONE,
    ])
  })

  it('count at most 255 interruptions, beside the flags', () => {
    const entries = new Entries()
    const entry = entries.allocate(1, 0, 0, 0, 0, 256)
    expect(entries.word(entry, FLAGS)).toBe(255)
    entries.setFlag(entry, IS_TAKEN, true)
    entries.setFlag(entry, IS_REQUESTED, true)
    entries.setFlag(entry, IS_TAKEN, false)
    expect(entries.hasFlag(entry, IS_TAKEN)).toBe(false)
    expect(entries.hasFlag(entry, IS_REQUESTED)).toBe(true)
    expect(entries.word(entry, FLAGS) & 255).toBe(255)
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

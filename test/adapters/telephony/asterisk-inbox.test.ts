import { describe, expect, it } from 'vitest'
import { inbox } from '../../../adapters/telephony/asterisk/inbox.js'

function underTest() {
  const done: number[] = []
  let isFull = true
  const made = inbox(() => isFull)
  return {
    ...made,
    done,
    work: made.put,
    put: (n: number, bytes = 1) => made.put(() => void done.push(n), bytes),
    full: (is: boolean) => {
      isFull = is
    },
  }
}

describe('an inbox', () => {
  it('keeps the order: what comes when there is room waits behind what waits', () => {
    const { put, drain, full, done } = underTest()
    put(1)
    full(false)
    put(2)
    expect(done).toEqual([])
    drain()
    put(3)
    expect(done).toEqual([1, 2, 3])
  })

  it('stops when it is full again', () => {
    const { put, drain, full, done, work } = underTest()
    work(() => full(true), 1)
    put(2)
    full(false)
    drain()
    expect(done).toEqual([])
    full(false)
    drain()
    expect(done).toEqual([2])
  })

  it('says when too much waits, by number and by bytes', () => {
    const few = underTest()
    for (let n = 1; n < 10_000; n += 1) expect(few.put(n)).toBe(true)
    expect(few.put(10_000)).toBe(false)
    const large = underTest()
    expect([large.put(1, 33_000_000), large.put(2, 1_000_000)]).toEqual([true, false])
    large.full(false)
    large.drain()
    large.full(true)
    expect(large.put(3, 33_000_000)).toBe(true)
  })

  it('tells when it is empty, and does not keep anybody who leaves', async () => {
    const { put, drain, full, emptied } = underTest()
    const { signal } = new AbortController()
    await emptied(signal)
    put(1)
    let isEmpty = false
    const waited = emptied(signal).then(() => {
      isEmpty = true
    })
    await Promise.resolve()
    expect(isEmpty).toBe(false)
    full(false)
    drain()
    await waited
    full(true)
    put(2)
    const leaving = new AbortController()
    const left = emptied(leaving.signal)
    leaving.abort()
    await left
  })
})

import { describe, expect, it } from 'vitest'
import { createBackpressureBuffer } from '../../../adapters/telephony/asterisk/backpressure-buffer.js'

function createBuffer() {
  const done: number[] = []
  let isFull = true
  const buffer = createBackpressureBuffer(() => isFull)
  return {
    ...buffer,
    done,
    submitWork: buffer.submit,
    submit: (n: number, bytes = 1) => buffer.submit(() => void done.push(n), bytes),
    setFull: (is: boolean) => {
      isFull = is
    },
  }
}

describe('the backpressure buffer', () => {
  it('keeps the order: new work waits behind queued work even if the service has capacity', () => {
    const { submit, drain, setFull, done } = createBuffer()
    submit(1)
    setFull(false)
    submit(2)
    expect(done).toEqual([])
    drain()
    submit(3)
    expect(done).toEqual([1, 2, 3])
  })

  it('stops draining when the service is full again', () => {
    const { submit, drain, setFull, done, submitWork } = createBuffer()
    submitWork(() => setFull(true), 1)
    submit(2)
    setFull(false)
    drain()
    expect(done).toEqual([])
    setFull(false)
    drain()
    expect(done).toEqual([2])
  })

  it('reports when it is at its limit, by number and by bytes', () => {
    const few = createBuffer()
    for (let n = 1; n < 10_000; n += 1) expect(few.submit(n)).toBe(true)
    expect(few.submit(10_000)).toBe(false)
    const large = createBuffer()
    expect([large.submit(1, 33_000_000), large.submit(2, 1_000_000)]).toEqual([true, false])
    large.setFull(false)
    large.drain()
    large.setFull(true)
    expect(large.submit(3, 33_000_000)).toBe(true)
  })

  it('resolves whenEmpty when it is empty or when the signal aborts', async () => {
    const { submit, drain, setFull, whenEmpty } = createBuffer()
    const { signal } = new AbortController()
    await whenEmpty(signal)
    submit(1)
    let isEmpty = false
    const waited = whenEmpty(signal).then(() => {
      isEmpty = true
    })
    await Promise.resolve()
    expect(isEmpty).toBe(false)
    setFull(false)
    drain()
    await waited
    setFull(true)
    submit(2)
    const aborting = new AbortController()
    const waiting = whenEmpty(aborting.signal)
    aborting.abort()
    await waiting
  })
})

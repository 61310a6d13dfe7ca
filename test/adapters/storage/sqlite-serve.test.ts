import { HookswitchError } from 'hookswitch/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectOf } from '../../../adapters/storage/sqlite/call.js'
import type { Answer, NumberedCall, Order } from '../../../adapters/storage/sqlite/message.js'
import type { Session } from '../../../adapters/storage/sqlite/open.js'
import { serve } from '../../../adapters/storage/sqlite/serve.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const write = (id: number): NumberedCall => ({ id, door: 'tokens', method: 'issue', args: [] })
const read = (id: number): NumberedCall => ({ id, door: 'tokens', method: 'read', args: [] })
const calls = (...list: NumberedCall[]): Order => ({ kind: 'calls', calls: list })

/** A database that another connection writes to as long as `busy`. */
function bench() {
  const state = { busy: false, closed: false, ended: false }
  const ran: number[][] = []
  const answered: (readonly [number, string])[] = []
  const session: Session = {
    path: 'x.db',
    run(list, patient) {
      ran.push((list as NumberedCall[]).map(({ id }) => id))
      return list.map((call) => {
        if (!state.busy || effectOf(call) === 'reads') return { value: 'done' }
        return patient ? undefined : { failure: new HookswitchError('StoreUnavailable', 'is locked') }
      })
    },
    takeWakeUps: () => [],
    webhookChanges: () => 0,
    secret() {
      throw new TypeError('no key')
    },
    close() {
      state.closed = true
    },
  }
  const post = (answer: Answer) => {
    if (answer.kind !== 'ended') return
    for (const one of answer.outcomes) {
      answered.push([one.id, 'failure' in one ? one.failure.code : String(one.value)])
    }
  }
  const obey = serve(session, post, () => {
    state.ended = true
  })
  return { state, ran, answered, obey }
}

describe('the orders of a store', () => {
  it('that came together are one group, in their order', () => {
    const { obey, ran, answered } = bench()
    obey([calls(write(1), read(2)), calls(write(3))])
    expect(ran).toEqual([[1, 2, 3]])
    expect(answered.map(([id]) => id)).toEqual([1, 2, 3])
  })

  it('wait, where they write, for another connection that writes, and are carried out in their order', () => {
    const { obey, ran, answered, state } = bench()
    state.busy = true
    obey([calls(write(1), read(2), write(3))])
    expect(answered).toEqual([[2, 'done']])
    obey([calls(read(4), write(5))])
    obey([calls(write(6))])
    expect(answered).toEqual([
      [2, 'done'],
      [4, 'done'],
    ])
    vi.advanceTimersByTime(1_000)
    expect(answered).toHaveLength(2)
    state.busy = false
    vi.advanceTimersByTime(50)
    expect(ran.at(-1)).toEqual([1, 3, 5, 6])
    expect(answered.slice(2).map(([id]) => id)).toEqual([1, 3, 5, 6])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('wait no longer than five seconds; those after them wait anew', () => {
    const { obey, answered, state } = bench()
    state.busy = true
    obey([calls(write(1))])
    vi.advanceTimersByTime(4_900)
    expect(answered).toEqual([])
    vi.advanceTimersByTime(200)
    expect(answered).toEqual([[1, 'StoreUnavailable']])
    obey([calls(write(2))])
    vi.advanceTimersByTime(4_900)
    expect(answered).toHaveLength(1)
    state.busy = false
    vi.advanceTimersByTime(50)
    expect(answered.at(-1)).toEqual([2, 'done'])
  })

  it('are carried out before it closes, also those that wait', () => {
    const { obey, answered, state } = bench()
    state.busy = true
    obey([calls(write(1)), { kind: 'close' }])
    expect([state.closed, state.ended]).toEqual([false, false])
    state.busy = false
    vi.advanceTimersByTime(50)
    expect(answered).toEqual([[1, 'done']])
    expect([state.closed, state.ended, vi.getTimerCount()]).toEqual([true, true, 0])
  })

  it('are refused in words where there is no key', () => {
    const { obey, answered } = bench()
    obey([calls(write(1)), { kind: 'secret', id: 2 }, calls(write(3))])
    expect(answered).toEqual([
      [1, 'done'],
      [2, 'StoreUnavailable'],
      [3, 'done'],
    ])
  })
})

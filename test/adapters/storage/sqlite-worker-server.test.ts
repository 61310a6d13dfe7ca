import { HookswitchError } from 'hookswitch/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type {
  ClientMessage,
  NumberedRequest,
  WorkerMessage,
} from '../../../adapters/storage/sqlite/messages.js'
import type { SqliteDatabase } from '../../../adapters/storage/sqlite/open.js'
import { effectOf } from '../../../adapters/storage/sqlite/rpc-methods.js'
import { createWorkerServer } from '../../../adapters/storage/sqlite/worker-server.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const write = (id: number): NumberedRequest => ({ id, port: 'tokens', method: 'issue', args: [] })
const read = (id: number): NumberedRequest => ({ id, port: 'tokens', method: 'read', args: [] })
const requests = (...list: NumberedRequest[]): ClientMessage => ({ kind: 'requests', requests: list })

/** A server on a database to which another connection writes as long as `busy`. */
function setUp() {
  const state = { busy: false, closed: false, ended: false }
  const groups: number[][] = []
  const answered: (readonly [number, string])[] = []
  const database: SqliteDatabase = {
    path: 'x.db',
    run(list, deferWhenBusy) {
      groups.push((list as NumberedRequest[]).map(({ id }) => id))
      return list.map((request) => {
        if (!state.busy || effectOf(request) === 'read') return { value: 'done' }
        return deferWhenBusy ? undefined : { error: new HookswitchError('StoreUnavailable', 'is locked') }
      })
    },
    takeNotice: () => false,
    webhookVersion: () => 0,
    secret() {
      throw new TypeError('no key')
    },
    replaceSecret() {},
    close() {
      state.closed = true
    },
  }
  const post = (message: WorkerMessage) => {
    if (message.kind !== 'results') return
    for (const result of message.results) {
      answered.push([result.id, 'error' in result ? result.error.code : String(result.value)])
    }
  }
  const execute = createWorkerServer(database, post, () => {
    state.ended = true
  })
  return { state, groups, answered, execute }
}

describe('the requests of a store', () => {
  it('that arrive together form one group, in order', () => {
    const { execute, groups, answered } = setUp()
    execute([requests(write(1), read(2)), requests(write(3))])
    expect(groups).toEqual([[1, 2, 3]])
    expect(answered.map(([id]) => id)).toEqual([1, 2, 3])
  })

  it('that write wait for another connection that writes, and are executed in order', () => {
    const { execute, groups, answered, state } = setUp()
    state.busy = true
    execute([requests(write(1), read(2), write(3))])
    expect(answered).toEqual([[2, 'done']])
    execute([requests(read(4), write(5))])
    execute([requests(write(6))])
    expect(answered).toEqual([
      [2, 'done'],
      [4, 'done'],
    ])
    vi.advanceTimersByTime(1_000)
    expect(answered).toHaveLength(2)
    state.busy = false
    vi.advanceTimersByTime(50)
    expect(groups.at(-1)).toEqual([1, 3, 5, 6])
    expect(answered.slice(2).map(([id]) => id)).toEqual([1, 3, 5, 6])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('wait at most five seconds each', () => {
    const { execute, answered, state } = setUp()
    state.busy = true
    execute([requests(write(1))])
    vi.advanceTimersByTime(4_900)
    expect(answered).toEqual([])
    vi.advanceTimersByTime(200)
    expect(answered).toEqual([[1, 'StoreUnavailable']])
    execute([requests(write(2))])
    vi.advanceTimersByTime(4_900)
    expect(answered).toHaveLength(1)
    state.busy = false
    vi.advanceTimersByTime(50)
    expect(answered.at(-1)).toEqual([2, 'done'])
  })

  it('are executed before the database closes, including deferred ones', () => {
    const { execute, answered, state } = setUp()
    state.busy = true
    execute([requests(write(1)), { kind: 'close' }])
    expect([state.closed, state.ended]).toEqual([false, false])
    state.busy = false
    vi.advanceTimersByTime(50)
    expect(answered).toEqual([[1, 'done']])
    expect([state.closed, state.ended, vi.getTimerCount()]).toEqual([true, true, 0])
  })

  it('continue after an error while reading the key', () => {
    const { execute, answered } = setUp()
    execute([requests(write(1)), { kind: 'secret', id: 2 }, requests(write(3))])
    expect(answered).toEqual([
      [1, 'done'],
      [2, 'StoreUnavailable'],
      [3, 'done'],
    ])
  })
})

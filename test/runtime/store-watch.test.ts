/** Whether the store answers, as a node sees it. */
import { HookswitchError, memoryStore } from 'hookswitch'
import type { Store } from 'hookswitch/store'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { watchStore } from '../../src/runtime/store-watch.js'

const unavailable = (reason: string) => new HookswitchError('StoreUnavailable', reason)

/** A store whose answers are set: a value, an error, or a promise. */
function watchFake() {
  const clock = manualClock()
  const answers = {
    read: () => Promise.resolve<unknown>(undefined),
    commit: () => ({ accepted: [] }) as unknown,
    questions: 0,
  }
  const store = {
    supports: { durable: true, sharedBetweenNodes: false, transactions: false },
    tokens: {
      read(hash: string) {
        if (/^0+$/.test(hash)) answers.questions += 1
        return answers.read()
      },
    },
    deliveries: { commit: () => answers.commit(), subscribe: () => () => {} },
  } as unknown as Store
  const watch = watchStore(store, clock)
  const read = async () => {
    const result = watch.store.tokens.read('a').catch(() => {})
    await clock.settle()
    return result
  }
  const commit = async () => {
    try {
      await watch.store.deliveries.commit(undefined as never)
    } catch {}
  }
  return { clock, answers, watch, read, commit }
}

describe('a watched store', () => {
  it('is away when no call was answered for five seconds and calls fail, and back with the first answer', async () => {
    const { clock, answers, watch, read } = watchFake()
    await clock.advance(60_000)
    answers.read = () => Promise.reject(unavailable('connection refused'))
    const beganMs = clock.now()
    await read()
    await clock.advance(4_999)
    expect([watch.isAway(), watch.problem()]).toEqual([false, undefined])
    await clock.advance(1)
    expect(watch.isAway()).toBe(true)
    expect(watch.problem()).toEqual({ sinceMs: beganMs, reason: 'connection refused' })
    answers.read = async () => undefined
    await clock.advance(1_000)
    expect([watch.isAway(), watch.problem()]).toEqual([false, undefined])
  })

  it('has been away since the same time, however often somebody asks', async () => {
    const { clock, answers, watch, read } = watchFake()
    const now = clock.now.bind(clock)
    let elapsed = 0
    // As real clocks: the two do not pass the same fractions of a millisecond.
    Object.assign(clock, { now: () => now() + elapsed })
    answers.read = () => Promise.reject(unavailable('connection refused'))
    await read()
    await clock.advance(5_000)
    const { sinceMs } = watch.problem()!
    elapsed = 1
    expect(watch.problem()?.sinceMs).toBe(sinceMs)
  })

  it('is asked at once and then once a second while calls fail, however many do, and not otherwise', async () => {
    const { clock, answers, watch, read } = watchFake()
    await read()
    await clock.advance(60_000)
    expect(answers.questions).toBe(0)
    answers.read = () => Promise.reject(unavailable('down'))
    for (let n = 0; n < 20; n += 1) await read()
    expect(answers.questions).toBe(1)
    await clock.advance(9_999)
    expect(answers.questions).toBe(10)
    answers.read = async () => undefined
    await clock.advance(1_000)
    await clock.advance(60_000)
    expect(answers.questions).toBe(11)
    expect(watch.isAway()).toBe(false)
  })

  it('is not away because one call took too long while nobody else asked', async () => {
    const { clock, answers, watch } = watchFake()
    let fail = (_: unknown) => {}
    answers.read = () => new Promise((_, reject) => (fail = reject))
    const slow = watch.store.tokens.read('a').catch(() => {})
    await clock.advance(10_000)
    answers.read = async () => undefined
    fail(unavailable('no answer within 10 s'))
    await slow
    await clock.settle()
    expect([watch.isAway(), watch.problem()]).toEqual([false, undefined])
  })

  it('is asked no more when the instance is closed', async () => {
    const { clock, answers, watch, read } = watchFake()
    answers.read = () => Promise.reject(unavailable('down'))
    await read()
    watch.stop()
    await clock.advance(10_000)
    watch.ask()
    expect(answers.questions).toBe(1)
  })

  it('may throw instead of answering', async () => {
    const { clock, answers, watch } = watchFake()
    answers.read = () => {
      throw unavailable('down')
    }
    watch.ask()
    await clock.advance(5_000)
    expect([watch.isAway(), watch.problem()?.reason]).toEqual([true, 'down'])
    answers.read = async () => undefined
    await clock.advance(1_000)
    expect(watch.isAway()).toBe(false)
  })

  it('has answered when it refuses what was asked', async () => {
    const { clock, answers, watch, read } = watchFake()
    answers.read = () => Promise.reject(unavailable('down'))
    await read()
    answers.read = () => Promise.reject(new HookswitchError('Conflict', 'taken'))
    await read()
    await clock.advance(10_000)
    expect(watch.isAway()).toBe(false)
  })

  it('has a problem, and refuses nothing, while a question is open for five seconds', async () => {
    const { clock, answers, watch } = watchFake()
    let answer = (_: unknown) => {}
    answers.read = () => new Promise((resolve) => (answer = resolve))
    const askedMs = clock.now()
    watch.ask()
    await clock.advance(5_000)
    watch.ask()
    expect([answers.questions, watch.isAway()]).toEqual([1, false])
    expect(watch.problem()).toEqual({ sinceMs: askedMs, reason: 'the store does not answer' })
    answer(undefined)
    await clock.settle()
    expect(watch.problem()).toBeUndefined()
  })

  it('has a problem while commits fail, although reads are answered, until one succeeds or 15 s have passed', async () => {
    for (const fails of [
      () => Promise.reject(unavailable('its disk is full')),
      () => {
        throw unavailable('its disk is full')
      },
    ]) {
      const { clock, answers, watch, read, commit } = watchFake()
      const good = answers.commit
      answers.commit = fails
      const sinceMs = clock.now()
      await commit()
      await read()
      const problem = { sinceMs, reason: 'its disk is full' }
      expect([watch.isAway(), watch.problem()]).toEqual([false, problem])
      await clock.advance(14_999)
      await commit()
      await read()
      await clock.advance(14_999)
      expect(watch.problem()).toEqual(problem)
      await clock.advance(1)
      expect(watch.problem()).toBeUndefined()
      await commit()
      answers.commit = good
      await commit()
      expect(watch.problem()).toBeUndefined()
    }
  })

  it('calls the methods that the store has at that time, also those of a class', async () => {
    class Tokens {
      readonly rows = new Map([['a', 1]])
      async read(hash: string) {
        return this.rows.get(hash)
      }
    }
    const tokens = new Tokens()
    const { store } = watchStore({ tokens } as unknown as Store, manualClock())
    expect(await store.tokens.read('a')).toBe(1)
    tokens.read = async () => 2
    expect(await store.tokens.read('a')).toBe(2)
    expect(store.inbox).toBeUndefined()
  })

  it('has the time of the last commit that succeeded', async () => {
    const { clock, answers, watch, read, commit } = watchFake()
    await read()
    expect(watch.lastCommitMs()).toBeUndefined()
    await clock.advance(1_000)
    await commit()
    const committedMs = clock.now()
    expect(watch.lastCommitMs()).toBe(committedMs)
    answers.commit = () => Promise.reject(unavailable('the disk is full'))
    await clock.advance(1_000)
    await commit()
    expect(watch.lastCommitMs()).toBe(committedMs)
  })

  it('may be of a class with private fields', async () => {
    const kept = memoryStore()
    class Classy {
      readonly #kept = kept
      get supports() {
        return this.#kept.supports
      }
      get tokens() {
        return this.#kept.tokens
      }
    }
    const { store } = watchStore(new Classy() as unknown as Store, manualClock())
    expect(store.supports).toBe(kept.supports)
    expect(store.tokens.read).toBeTypeOf('function')
  })
})

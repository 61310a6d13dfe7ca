import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type CommitHandlers, createCommitLoop } from '../../src/delivery/commit-loop.js'
import type { Acceptance } from '../../src/delivery/delivery-store.js'
import type { NodeState } from '../../src/delivery/node-state.js'
import { createPositions } from '../../src/delivery/positions.js'
import type { QueuedDelivery } from '../../src/delivery/queue/queued-delivery.js'
import type { Group, GroupResult } from '../../src/delivery/queue-store.js'
import { createStartKeys } from '../../src/delivery/start-keys.js'
import type { DecidedSettlement } from '../../src/delivery/worker/settlement-decider.js'
import { HookswitchError } from '../../src/errors.js'
import { deferred } from '../support/deferred.js'
import { silentLog } from './harness.js'

const written = ({ accepted, ended }: Group): GroupResult => ({
  kind: 'committed',
  accepted: accepted.map(({ events }) => ({
    kind: 'accepted',
    events: events.map(({ id }) => ({ id, sequence: 1, duplicate: false })),
    mayHaveGap: false,
  })),
  ended: ended.map(() => ({ kind: 'settled' })),
  notStarted: [],
  version: 0,
})

/** A loop whose store writes a group when the test says so. */
function createFixture({ isAsync = true, overrides = {} as Partial<CommitHandlers> } = {}) {
  const clock = manualClock()
  /** What happened, in order. */
  const log: string[] = []
  const answers: ((thrown?: Error) => void)[] = []
  /** How many deliveries each group may start ahead of free slots. */
  const ahead: number[] = []
  const groups: Group[] = []
  const startKeys = createStartKeys()
  const drainDeadline = new AbortController()
  /** Deliveries that the next group starts. */
  let due: QueuedDelivery[] = []
  const state: NodeState = {
    lease: { owner: 'node', fence: 1, number: 0 } as unknown as NodeState['lease'],
    version: 0,
    positions: createPositions(1),
    loaded: new Set(),
    pendingElsewhere: 0,
    readMs: 0,
  }
  const store = {
    commit(group: Group) {
      log.push('commit')
      groups.push(group)
      if (!isAsync) return written(group)
      return new Promise<GroupResult>((resolve, reject) =>
        answers.push((thrown) => (thrown ? reject(thrown) : resolve(written(group)))),
      )
    },
  }
  let canStart = true
  let mayStart = true
  const handlers: CommitHandlers = {
    settle({ delivery }) {
      startKeys.end(delivery)
      return { delivery, settlement: { deliveryId: delivery.id } } as DecidedSettlement
    },
    readAhead() {},
    pick(_now, maxPrefetch) {
      ahead.push(maxPrefetch)
      const starts = due
      due = []
      return { starts, skipped: [] }
    },
    isHeld: () => undefined,
    accepted() {},
    withdraw() {},
    ended: ({ delivery }) => void log.push(`ended ${delivery.id}`),
    report: ({ delivery }) => void log.push(`report ${delivery.id}`),
    start: ({ id }) => void log.push(`send ${id}`),
    notStarted: async () => {},
    abandon: ({ id }) => void log.push(`abandon ${id}`),
    mayStart: () => mayStart,
    putBack: ({ id }) => void log.push(`put back ${id}`),
    onFenced() {},
    applyChanges: async () => {},
    onRecovered() {},
    onIdle() {},
    ...overrides,
  }
  const loop = createCommitLoop(
    {
      store,
      clock,
      log: silentLog,
      now: clock.now,
      canStart: () => canStart,
      pending: () => 0,
      drainDeadline: drainDeadline.signal,
    },
    state,
    startKeys,
    handlers,
  )
  return {
    clock,
    log,
    loop,
    ahead,
    async answer(thrown?: Error) {
      answers.shift()!(thrown)
      await clock.settle()
    },
    setMayStart(value: boolean) {
      mayStart = value
    },
    finish: (ended: string | QueuedDelivery) => {
      const delivery = typeof ended === 'string' ? aDelivery(ended) : ended
      loop.finish({ delivery, webhook: {} as never, result: undefined })
    },
    groups,
    endDrain: () => drainDeadline.abort(),
    answerNow: () => answers.shift()?.(),
    setCanStart(value: boolean) {
      canStart = value
    },
    async start(...deliveries: QueuedDelivery[]) {
      due.push(...deliveries)
      loop.trigger()
      await clock.settle()
    },
    makeDue: (delivery: QueuedDelivery) => void due.push(delivery),
  }
}

const aDelivery = (id: string) =>
  ({
    id,
    webhookId: 'w',
    position: 1,
    attempts: 0,
    epoch: 0,
    startKey: 0,
    state: 'in_flight',
    isAbandoned: false,
  }) as QueuedDelivery

let events = 0
function publish({ loop }: Pick<ReturnType<typeof createFixture>, 'loop'>, accountId: string, count = 1) {
  for (let left = count; left > 0; left--) {
    const event = { id: `e${events++}`, accountId, callId: 'call', hook: 'h' }
    void loop.accept({ events: [event], deliveries: [] } as unknown as Acceptance)
  }
}

describe('the effects of a committed group', () => {
  it('wait for the next commit to begin, not for it to end', async () => {
    const { log, start, makeDue, answer } = createFixture()
    await start(aDelivery('first'))
    makeDue(aDelivery('second'))
    expect(log).toEqual(['commit'])
    await answer()
    expect(log).toEqual(['commit', 'commit', 'send first'])
    await answer()
    expect(log).toEqual(['commit', 'commit', 'send first', 'send second'])
  })

  it.each([
    [['a'], 150, [64, 128, 150]],
    [['a', 'b'], 40, [16, 32, 40]],
  ])(
    'are spread over turns of the event loop where many requests start, while %j publish',
    async (accounts, count, sent) => {
      const { log, start, answerNow, clock, makeDue, loop, groups } = createFixture()
      for (const account of accounts) publish({ loop }, account)
      const deliveries = Array.from({ length: count }, (_, index) => aDelivery(`${index}`))
      await start(...deliveries)
      expect(groups).toHaveLength(1)
      answerNow()
      const sends = () => log.filter((line) => line.startsWith('send'))
      const counts: number[] = []
      while (sends().length < count) {
        await clock.yield()
        if (sends().length !== (counts.at(-1) ?? 0)) counts.push(sends().length)
      }
      expect(counts).toEqual(sent)
      await clock.settle()
      expect(sends()).toEqual(deliveries.map(({ id }) => `send ${id}`))
      // What must be sent before something else is, is not spread.
      await start(...deliveries)
      makeDue(aDelivery('last'))
      answerNow()
      await clock.yield()
      loop.flush()
      expect(sends()).toHaveLength(2 * count)
    },
  )

  it('need no further group', async () => {
    const { log, loop, clock, answer } = createFixture()
    loop.finish({ delivery: aDelivery('ended'), webhook: {} as never, result: undefined })
    await clock.settle()
    await answer()
    expect(log).toEqual(['commit', 'ended ended', 'report ended'])
  })

  it('begin with the ends, so that what the host does then is written while the requests are sent', async () => {
    const { log, start, finish, answer } = createFixture({
      overrides: {
        report({ delivery }) {
          log.push(`report ${delivery.id}`)
          if (delivery.id === 'first') finish('next')
        },
      },
    })
    finish('first')
    await start(aDelivery('second'))
    await answer()
    expect(log).toEqual(['commit', 'ended first', 'report first', 'commit', 'send second'])
  })

  it('begin with the ends, and continue with the requests where the host does nothing then', async () => {
    const { log, start, finish, answer } = createFixture()
    finish('first')
    await start(aDelivery('second'))
    await answer()
    expect(log).toEqual(['commit', 'ended first', 'report first', 'send second'])
  })

  it('leave out what was abandoned, or may no longer be sent, after the ends were reported', async () => {
    const [lost, late] = [aDelivery('lost'), aDelivery('late')]
    const { log, start, finish, answer, setCanStart } = createFixture({
      overrides: {
        report({ delivery }) {
          log.push(`report ${delivery.id}`)
          lost.isAbandoned = true
          setCanStart(false)
        },
      },
    })
    finish('first')
    await start(lost, late)
    await answer()
    expect(log).toEqual(['commit', 'ended first', 'report first', 'abandon lost', 'put back late'])
  })

  it('send the requests although an end cannot be reported', async () => {
    const { log, start, finish, answer } = createFixture({
      overrides: {
        report() {
          throw new Error('no report')
        },
      },
    })
    finish('first')
    await start(aDelivery('second'))
    await answer()
    expect(log).toEqual(['commit', 'ended first', 'send second'])
  })

  it('come before the next commit where the store writes at once', async () => {
    const { log, start, makeDue } = createFixture({ isAsync: false })
    makeDue(aDelivery('first'))
    await start()
    await start(aDelivery('second'))
    expect(log).toEqual(['commit', 'send first', 'commit', 'send second'])
  })

  it('come before a task', async () => {
    const { log, loop, start, answerNow, clock } = createFixture()
    await start(aDelivery('first'))
    void loop.exclusively(async () => void log.push('task'))
    answerNow()
    await clock.settle()
    expect(log).toEqual(['commit', 'send first', 'task'])
  })

  it('happen at once on request, and only once', async () => {
    const { log, loop, start, answer } = createFixture()
    const accepting = loop.accept({ events: [], deliveries: [] })
    void accepting.then(() => {
      log.push('accepted')
      loop.flush()
      log.push('flushed')
    })
    await start(aDelivery('first'))
    await answer()
    expect(log).toEqual(['commit', 'accepted', 'send first', 'flushed'])
  })

  it('leave out a delivery that was abandoned since, and put one back when the lease is about to end', async () => {
    const { log, start, answerNow, clock, setCanStart } = createFixture()
    const [lost, late] = [aDelivery('lost'), aDelivery('late')]
    await start(lost, late)
    answerNow()
    lost.isAbandoned = true
    setCanStart(false)
    await clock.settle()
    expect(log).toEqual(['commit', 'abandon lost', 'put back late'])
  })

  it('put a delivery back whose webhook was disabled since', async () => {
    const { log, start, answerNow, clock, setMayStart } = createFixture()
    await start(aDelivery('first'))
    setMayStart(false)
    answerNow()
    await clock.settle()
    expect(log).toEqual(['commit', 'put back first'])
  })

  it('do not wait for what the same group lets the store read', async () => {
    const { promise: reading, resolve: goOn } = deferred()
    const { log, loop, start, answer, clock } = createFixture({ overrides: { accepted: () => reading } })
    const accepting = loop.accept({ events: [], deliveries: [] })
    await start(aDelivery('first'))
    await answer()
    await accepting
    expect(log).toEqual(['commit', 'send first'])
    goOn()
    await clock.settle()
    expect(log).toEqual(['commit', 'send first'])
  })

  it('do not wait for the other parts of a group that was refused', async () => {
    const { log, start, finish, answer } = createFixture()
    finish('ended')
    await start(aDelivery('next'))
    expect(log).toEqual(['commit'])
    await answer(new Error('refused'))
    await answer()
    expect(log).toEqual(['commit', 'commit', 'ended ended', 'commit', 'report ended'])
    await answer()
    expect(log.at(-1)).toBe('send next')
  })
})

describe('the next group', () => {
  it('is formed in the turn of the event loop in which the store has written the one before', async () => {
    const { log, start, makeDue, answerNow } = createFixture()
    await start(aDelivery('first'))
    makeDue(aDelivery('second'))
    answerNow()
    for (let step = 0; step < 10; step++) await Promise.resolve()
    expect(log).toEqual(['commit', 'commit', 'send first'])
  })

  it.each([true, false])(
    'leaves the host a turn if the store has written within one (as a promise: %s)',
    async (isAsync) => {
      const { log, loop, answerNow, makeDue } = createFixture({
        isAsync,
        overrides: {
          start() {
            // There is always more to do.
            makeDue(aDelivery('next'))
            loop.trigger()
          },
        },
      })
      makeDue(aDelivery('first'))
      loop.trigger()
      for (let turn = 0; turn < 20; turn++) {
        const before = log.length
        await new Promise(setImmediate)
        for (let step = 0; isAsync && step < 10; step++) {
          answerNow()
          await Promise.resolve()
        }
        expect(log.length - before).toBeLessThan(3)
      }
      loop.abandon()
    },
  )
})

describe('the number of deliveries that a group may start before a slot is free', () => {
  it('is that of the attempts that ended during the last commit', async () => {
    const { start, finish, answer, ahead } = createFixture()
    await start(aDelivery('first'))
    for (const id of ['a', 'b', 'c']) finish(id)
    await answer()
    await answer()
    // The last two found nothing to write: before and after the ends are reported.
    expect(ahead).toEqual([0, 3, 0, 0])
  })

  it('is 0 after a commit that was repeated, however many ended meanwhile', async () => {
    const { start, finish, answer, ahead, clock } = createFixture()
    await start(aDelivery('first'))
    finish('a')
    await answer(new HookswitchError('StoreUnavailable', 'unavailable'))
    for (const id of ['b', 'c']) finish(id)
    await clock.advance(1_000)
    await answer()
    expect(ahead).toEqual([0, 0])
    await answer()
  })
})

describe('the store forgets the starts of a group', () => {
  it('when the last of its attempts is settled', async () => {
    const { start, finish, answer, groups } = createFixture()
    const [first, second] = [aDelivery('first'), aDelivery('second')]
    await start(first, second)
    await answer()
    finish(first)
    await start()
    await answer()
    finish(second)
    await start()
    await answer()
    expect(groups.map(({ finished }) => finished)).toEqual([[], [], [1]])
  })

  it('not after a settlement was given up while the node closes', async () => {
    const { start, finish, answer, groups, endDrain } = createFixture()
    const [lost, last] = [aDelivery('lost'), aDelivery('last')]
    await start(lost, last)
    await answer()
    finish(lost)
    await start()
    endDrain()
    finish(last)
    await answer(new HookswitchError('StoreUnavailable', 'unavailable'))
    await answer()
    expect(groups.map(({ ended }) => ended.map(({ deliveryId }) => deliveryId))).toEqual([
      [],
      ['lost'],
      ['last'],
    ])
    expect(groups.at(-1)!.finished).toEqual([])
  })

  it('not after a part of a refused group with their settlements was given up', async () => {
    const { start, finish, answer, groups, endDrain } = createFixture()
    const lost = aDelivery('lost')
    await start(lost)
    await answer()
    finish(lost)
    await start()
    await answer(new Error('refused'))
    endDrain()
    await answer(new HookswitchError('StoreUnavailable', 'unavailable'))
    expect(groups.map(({ ended, finished }) => [ended.length, finished])).toEqual([
      [0, []],
      [1, [1]],
      [1, []],
    ])
  })
})

it('a task that begins others in its first step is not overtaken by them, nor by a group', async () => {
  const { log, loop, start, clock } = createFixture()
  const ends: (() => void)[] = []
  const task = (name: string) => async () => {
    log.push(`${name} begins`)
    await new Promise<void>((resolve) => ends.push(resolve))
    log.push(`${name} ends`)
  }
  void loop.exclusively(async () => {
    void loop.exclusively(task('second'))
    loop.trigger()
    await task('first')()
  })
  await start(aDelivery('a'))
  expect(log).toEqual(['first begins'])
  ends.shift()!()
  await clock.settle()
  expect(log).toEqual(['first begins', 'first ends', 'second begins'])
  ends.shift()!()
  await clock.settle()
  expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends', 'commit'])
})

describe('what one account publishes', () => {
  const accountsOf = ({ accepted }: Group) => {
    const counts: Record<string, number> = {}
    for (const { events } of accepted) counts[events[0]!.accountId] = (counts[events[0]!.accountId] ?? 0) + 1
    return counts
  }

  it('has at most 20 events and deliveries in a group while others publish, and is not limited alone', async () => {
    const fixture = createFixture()
    const { groups, clock, answer } = fixture
    publish(fixture, 'a')
    await clock.settle()
    publish(fixture, 'a', 300)
    await answer()
    expect(fixture.loop.partSize(clock.monotonic())).toBe(200)
    publish(fixture, 'a', 30)
    publish(fixture, 'b')
    expect(fixture.loop.partSize(clock.monotonic() - 9_999)).toBe(20)
    expect(fixture.loop.partSize(clock.monotonic() - 10_000)).toBe(200)
    for (let group = 0; group < 3; group++) await answer()
    expect(groups.map(accountsOf)).toEqual([{ a: 1 }, { a: 300 }, { a: 20, b: 1 }, { a: 10 }])
    await clock.advance(9_999)
    publish(fixture, 'b', 30)
    await clock.settle()
    for (let group = 0; group < 2; group++) await answer()
    expect(groups.slice(-2).map(accountsOf)).toEqual([{ b: 20 }, { b: 10 }])
    await clock.advance(1)
    expect(fixture.loop.partSize(clock.monotonic())).toBe(200)
    publish(fixture, 'b', 300)
    await clock.settle()
    expect(accountsOf(groups.at(-1)!)).toEqual({ b: 300 })
  })

  it.each([
    [100, 20],
    [500, 100],
    [1_000, 200],
    [5_000, 200],
  ])('has more in a group the longer its first has waited: after %i ms %i', async (waitedMs, part) => {
    const fixture = createFixture()
    const { groups, clock, answer } = fixture
    publish(fixture, 'b')
    await clock.settle()
    publish(fixture, 'a', 300)
    await clock.advance(waitedMs)
    publish(fixture, 'b')
    await answer()
    expect(accountsOf(groups[1]!)).toEqual({ a: part, b: 1 })
  })

  it('does not wait behind what a host transaction published for all accounts', async () => {
    const fixture = createFixture()
    const { groups, clock, answer, loop } = fixture
    publish(fixture, 'b')
    await clock.settle()
    publish(fixture, 'a', 300)
    const events = ['a', 'b'].map((accountId) => ({
      id: `tx-${accountId}`,
      accountId,
      callId: 'call',
      hook: 'h',
    }))
    void loop.accept({ events, deliveries: [], inboxIds: ['1', '2'] } as unknown as Acceptance)
    publish(fixture, 'b')
    await answer()
    expect(groups[1]!.accepted.filter(({ inboxIds }) => inboxIds)).toHaveLength(1)
  })
})

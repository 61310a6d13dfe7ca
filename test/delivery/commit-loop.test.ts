import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type CommitHandlers, createCommitLoop } from '../../src/delivery/commit-loop.js'
import type { NodeState } from '../../src/delivery/node-state.js'
import { createPositions } from '../../src/delivery/positions.js'
import type { QueuedDelivery } from '../../src/delivery/queue/queued-delivery.js'
import type { Group, GroupResult } from '../../src/delivery/queue-store.js'
import { createStartKeys } from '../../src/delivery/start-keys.js'
import type { DecidedSettlement } from '../../src/delivery/worker/settlement-decider.js'
import { HookswitchError } from '../../src/errors.js'
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
  /** Deliveries that the next group starts. */
  let due: QueuedDelivery[] = []
  const state: NodeState = {
    lease: { owner: 'node', fence: 1, number: 0 } as unknown as NodeState['lease'],
    version: 0,
    positions: createPositions(1),
    loaded: new Set(),
    pendingElsewhere: 0,
  }
  const store = {
    commit(group: Group) {
      log.push('commit')
      if (!isAsync) return written(group)
      return new Promise<GroupResult>((resolve, reject) =>
        answers.push((thrown) => (thrown ? reject(thrown) : resolve(written(group)))),
      )
    },
  }
  let canStart = true
  let mayStart = true
  const handlers: CommitHandlers = {
    settle: ({ delivery }) => ({ delivery, settlement: { deliveryId: delivery.id } }) as DecidedSettlement,
    pick(_now, maxAhead) {
      ahead.push(maxAhead)
      const starts = due
      due = []
      return { starts, skipped: [] }
    },
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
      drainDeadline: new AbortController().signal,
    },
    state,
    createStartKeys(),
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
    finish: (id: string) => loop.finish({ delivery: aDelivery(id), webhook: {} as never, result: undefined }),
    answerNow: () => answers.shift()!(),
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

  it('need no further group', async () => {
    const { log, loop, clock, answer } = createFixture()
    loop.finish({ delivery: aDelivery('ended'), webhook: {} as never, result: undefined })
    await clock.settle()
    await answer()
    expect(log).toEqual(['commit', 'ended ended', 'report ended'])
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
    const { log, loop, start, answerNow, clock } = createFixture()
    await start(aDelivery('first'))
    answerNow()
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    expect(log).toEqual(['commit'])
    loop.flush()
    expect(log).toEqual(['commit', 'send first'])
    await clock.settle()
    expect(log).toEqual(['commit', 'send first'])
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
    let goOn = () => {}
    const reading = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { log, loop, start, answer, clock } = createFixture({ overrides: { accepted: () => reading } })
    const accepting = loop.accept({ events: [], deliveries: [], maxPending: 1 })
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

describe('the number of deliveries that a group may start ahead of free slots', () => {
  it('is that of the attempts that ended during the last commit', async () => {
    const { start, finish, answer, ahead } = createFixture()
    await start(aDelivery('first'))
    for (const id of ['a', 'b', 'c']) finish(id)
    await answer()
    await answer()
    expect(ahead).toEqual([0, 3, 0])
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

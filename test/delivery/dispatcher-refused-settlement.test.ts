import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import type { Group } from '../../src/delivery/queue-store.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'

expectNothingUnhandled()

describe('a settlement that the store always refuses', () => {
  it.each([
    ['the only start of its group', ['a'], 200],
    ['one of several starts', ['a', 'b'], 200],
    ['retried at once', ['a'], 500],
  ])('leaves its start stored, which tells the next owner that it was sent: %s', async (_, calls, status) => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    const { store } = harness.faults
    const groups: Group[] = []
    let isRefused = false
    const node = harness.node(
      { policy: constant(0) },
      {
        store: {
          ...store,
          async commit(group) {
            if (isRefused && group.ended.length > 0) throw new Error('refused by a trigger')
            const result = await store.commit(group)
            groups.push(group)
            return result
          },
        },
      },
    )
    await node.start()
    harness.sender.script = () => undefined
    await Promise.all(calls.map((call) => harness.publish(call)))
    await harness.clock.settle()
    isRefused = true
    harness.sender.open[0]!.answer(responseWith(status))
    await harness.clock.settle()
    isRefused = false
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.publish('later')
    await harness.clock.settle()
    // The process crashes. The next one finds that `a` was sent.
    harness.sender.script = () => responseWith(200)
    await harness.node().start()
    await harness.clock.advance(5_000)
    const attempts = await harness.attempts()
    const ofFirst = attempts.filter(({ callId }) => callId === 'a')
    expect(ofFirst.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    expect(groups.length).toBeGreaterThan(2)
  })

  it('leaves the start of an interrupted attempt stored, which a later owner settles', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    const { store } = harness.faults
    let isRefused = true
    const refusing = {
      ...store,
      async commit(group: Group) {
        if (isRefused && group.ended.length > 0) throw new Error('refused by a trigger')
        return store.commit(group)
      },
    }
    harness.sender.script = () => undefined
    await harness.node().start()
    await harness.publish('a')
    await harness.clock.settle()
    // The process crashes, and so does the next one, which could not settle the attempt.
    harness.sender.script = () => responseWith(200)
    await harness.node({}, { store: refusing }).start()
    await harness.clock.advance(1_000)
    isRefused = false
    await harness.node().start()
    await harness.clock.advance(5_000)
    const attempts = await harness.attempts()
    expect(attempts.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
  })
})

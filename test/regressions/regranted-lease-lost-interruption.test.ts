/**
 * A node gave up its lease by its own clock, or because it was closing, and abandoned what it was sending. The store granted
 * the same lease again, so it did not name these attempts as interrupted: they were sent again under the same number, and the
 * first request had no record.
 */
import { describe, expect, it } from 'vitest'
import { createHarness, headerOf, responseWith } from '../delivery/harness.js'

async function createNode() {
  const harness = await createHarness(undefined, true)
  harness.sender.script = () => undefined
  let isFenced = false
  const { store } = harness.faults
  const node = harness.node(
    {},
    {
      store: {
        ...store,
        commit: (group) =>
          isFenced && group.lease ? Promise.resolve({ kind: 'fenced' }) : store.commit(group),
      },
    },
  )
  await node.start()
  await harness.publish('a')
  await harness.clock.settle()
  /** Groups are refused until the lease is granted again. */
  async function refuseGroups(): Promise<void> {
    isFenced = true
    await harness.publish('b')
    await harness.clock.settle()
    isFenced = false
    await harness.clock.advance(2000)
  }
  const close = async () => {
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
  }
  return { harness, refuseGroups, close }
}

const sentAttempts = ({ sender }: Awaited<ReturnType<typeof createHarness>>) =>
  sender.requests
    .filter(({ body }) => body?.includes('"call_id":"a"'))
    .map((request) => headerOf(request, 'x-hook-attempt'))

describe('a lease that is granted again', () => {
  it('leaves an interrupted attempt of what was in flight', async () => {
    const { harness, refuseGroups, close } = await createNode()
    await refuseGroups()
    expect(sentAttempts(harness)).toEqual(['1', '2'])
    const [first] = await harness.attempts()
    expect(first).toMatchObject({ attempt: 1, reason: 'interrupted' })
    await close()
  })

  it('leaves an interrupted attempt of what had ended but was not written', async () => {
    const { harness, refuseGroups, close } = await createNode()
    harness.sender.open[0]!.answer(responseWith(500))
    await refuseGroups()
    const records = await harness.attempts()
    expect(records.map(({ attempt }) => attempt)).toEqual(
      sentAttempts(harness).slice(0, records.length).map(Number),
    )
    expect(new Set(sentAttempts(harness)).size).toBe(sentAttempts(harness).length)
    await close()
  })
})

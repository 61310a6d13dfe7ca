import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { createHarness, headerOf, responseWith } from './harness.js'

const facts = async (harness: Awaited<ReturnType<typeof createHarness>>) =>
  (await harness.attempts()).map(({ attempt, result, reason }) => [attempt, result, reason])

/**
 * A node whose lease ended while its request was open; it has a new lease and has sent the delivery again.
 */
async function createTwoAttempts() {
  const harness = await createHarness(undefined, true)
  harness.sender.script = () => undefined
  const node = harness.node()
  await node.start()
  await harness.publish('call')
  await harness.clock.settle()
  harness.faults.failing.add('renew').add('own')
  await harness.clock.advance(LEASE_MS + 1000)
  harness.faults.failing.clear()
  await harness.clock.advance(15_000)
  expect(harness.sender.open.map(({ request }) => headerOf(request, 'x-hook-attempt'))).toEqual(['1', '2'])
  const close = async () => {
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
  }
  return { harness, node, close }
}

describe('an answer after the lease of its claim has ended', () => {
  it('is ignored: the attempt is recorded as interrupted, and the delivery waits for its second answer', async () => {
    const { harness, close } = await createTwoAttempts()
    harness.sender.open[0]!.answer(responseWith(500))
    await harness.clock.settle()
    expect(await facts(harness)).toEqual([[1, 'failure', 'interrupted']])
    expect(await harness.deliveries()).toMatchObject([{ state: 'in_flight', attempts: 1, tries: 0 }])
    expect((await harness.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(await facts(harness)).toEqual([
      [1, 'failure', 'interrupted'],
      [2, 'success', undefined],
    ])
    expect(harness.emitted.map(({ name }) => name)).toEqual(['attempt', 'attempt', 'delivered'])
    expect(harness.sender.requests).toHaveLength(2)
    await close()
  })

  it('is ignored after the second answer too, and its slot is released', async () => {
    const { harness, node, close } = await createTwoAttempts()
    harness.sender.open[1]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(await harness.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2 }])
    harness.sender.open[0]!.answer(responseWith(410))
    await harness.clock.settle()
    expect(await harness.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2 }])
    expect(await harness.store.webhooks.read('acc', 'w1')).toMatchObject({ settings: { enabled: true } })
    expect(node.inFlight('w1')).toBe(0)
    await close()
  })
})

import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { answered, deliveryWorld, headerOf } from './world.js'

const facts = async (world: Awaited<ReturnType<typeof deliveryWorld>>) =>
  (await world.attempts()).map(({ attempt, result, reason }) => [attempt, result, reason])

/** A node whose lease ended while its request was open, that has it again by now and sends a second time. */
async function twiceInFlight() {
  const world = await deliveryWorld(undefined, true)
  world.sender.script = () => undefined
  const node = world.node()
  await node.start()
  await world.publish('call')
  await world.clock.settle()
  world.faults.out.add('renew').add('own')
  await world.clock.advance(LEASE_MS + 1000)
  world.faults.out.clear()
  await world.clock.advance(15_000)
  expect(world.sender.open.map(({ request }) => headerOf(request, 'x-hook-attempt'))).toEqual(['1', '2'])
  const close = async () => {
    const closing = node.close(0)
    await world.clock.settle()
    await closing
  }
  return { world, node, close }
}

describe('an answer that comes after the lease of its claim has ended', () => {
  it('changes nothing: the attempt is recorded as interrupted, and the delivery waits for its second answer', async () => {
    const { world, close } = await twiceInFlight()
    world.sender.open[0]!.answer(answered(500))
    await world.clock.settle()
    expect(await facts(world)).toEqual([[1, 'failure', 'interrupted']])
    expect(await world.deliveries()).toMatchObject([{ state: 'in_flight', attempts: 1, tries: 0 }])
    expect((await world.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    world.sender.open[0]!.answer(answered(200))
    await world.clock.settle()
    expect(await facts(world)).toEqual([
      [1, 'failure', 'interrupted'],
      [2, 'success', undefined],
    ])
    expect(world.told.map(({ name }) => name)).toEqual(['attempt', 'attempt', 'delivered'])
    expect(world.sender.requests).toHaveLength(2)
    await close()
  })

  it('is of no account after the second either, and gives its place back', async () => {
    const { world, node, close } = await twiceInFlight()
    world.sender.open[1]!.answer(answered(200))
    await world.clock.settle()
    expect(await world.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2 }])
    world.sender.open[0]!.answer(answered(410))
    await world.clock.settle()
    expect(await world.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2 }])
    expect(await world.store.webhooks.read('acc', 'w1')).toMatchObject({ settings: { enabled: true } })
    expect(node.inFlight('w1')).toBe(0)
    await close()
  })
})

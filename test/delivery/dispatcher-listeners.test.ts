import { expect, it } from 'vitest'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld } from './world.js'

const MANY = 15

it('Node warns of no leak while many outcomes wait for a store that is out', async () => {
  const ids = Array.from({ length: MANY }, (_, index) => `w${index}`)
  const world = await deliveryWorld(ids.map((id) => aWebhook({}, { id })))
  world.sender.script = () => undefined
  const warnings: Error[] = []
  const note = (warning: Error) => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning)
  }
  process.on('warning', note)
  const node = world.node()
  await node.start()
  await world.publish('a')
  await world.clock.settle()
  expect(world.sender.open).toHaveLength(MANY)
  world.faults.out.add('settle')
  // One after the other, or one writing would have them all.
  for (const { answer } of [...world.sender.open]) {
    answer(answered(200))
    await world.clock.settle()
  }
  process.off('warning', note)
  expect(warnings).toEqual([])
  world.faults.out.clear()
  await world.clock.advance(5000)
  for (const id of ids) expect(await world.deliveries(id)).toMatchObject([{ state: 'delivered' }])
  await node.close(0)
})

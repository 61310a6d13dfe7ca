/**
 * A claim whose answer was under way while its webhook was disabled, or answered 410, was sent all the same: the sender
 * was told to withdraw before it had the request.
 */
import { expect, it } from 'vitest'
import { changeSettings, sealedOf } from '../../src/webhooks/webhook.js'
import { stagedSender } from '../delivery/staged-sender.js'
import { answered, deliveryWorld } from '../delivery/world.js'

/** A store whose claims are carried out at once, and answered when the test says so. */
async function slowClaims() {
  const world = await deliveryWorld()
  const sender = stagedSender()
  const { store: deliveries } = world.faults
  const answers: (() => void)[] = []
  const store: typeof deliveries = {
    ...deliveries,
    async claim(request) {
      const result = await deliveries.claim(request)
      if (result.claims.length > 0) await new Promise<void>((resolve) => answers.push(resolve))
      return result
    },
  }
  const node = world.node({ caps: { perEndpoint: 2 } }, { sender, store })
  await node.start()
  return { world, sender, node, answers }
}

it('a claim whose answer is under way when the webhook is disabled is not sent any more', async () => {
  const { world, sender, node, answers } = await slowClaims()
  await world.publish('call')
  await world.clock.settle()
  const row = (await world.store.webhooks.read('acc', 'w1'))!
  const next = changeSettings(row, { ...sealedOf(row), settings: { ...row.settings, enabled: false } }, 1)
  await world.store.webhooks.replace(next, row.revision)
  node.withdraw('w1')
  for (const answer of answers) answer()
  await world.clock.settle()
  expect(sender.waiting).toEqual([])
  expect(await world.deliveries()).toMatchObject([{ state: 'cancelled', attempts: 0 }])
})

it('a claim whose answer is under way when the receiver says that it is gone is not sent any more', async () => {
  const { world, sender, answers } = await slowClaims()
  await world.publish('a')
  await world.clock.settle()
  answers.shift()!()
  await world.clock.settle()
  sender.waiting[0]!.connect()
  await world.publish('b')
  await world.clock.settle()
  expect(answers).toHaveLength(1)
  sender.wired[0]!.answer(answered(410))
  await world.clock.settle()
  answers.shift()!()
  await world.clock.settle()
  expect(sender.waiting).toEqual([])
})

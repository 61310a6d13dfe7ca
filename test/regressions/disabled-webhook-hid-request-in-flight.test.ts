/**
 * A delivery whose request was in flight when its webhook was disabled was shown as cancelled, although cancelled is final,
 * and as delivered later.
 */
import { gate, status } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()

it('a delivery that is in flight while its webhook is disabled is shown as in flight until it ends', async () => {
  const { hs, receiver, createWebhook } = await startService()
  const held = gate(status(200))
  receiver.on('/hook', [held])
  const id = await createWebhook('/hook')
  const delivered = nextEvents(hs, 'delivered')
  await hs.publish(channelCreate('leg-1'))
  await expect.poll(() => held.waiting).toBe(1)

  await hs.webhooks.patch('parent', id, { enabled: false })
  const states = async (...wanted: ('waiting' | 'in_flight' | 'cancelled' | 'delivered')[]) => {
    const query = wanted.length === 0 ? {} : { states: wanted }
    return (await hs.webhooks.deliveries('parent', id, query)).map(({ state }) => state)
  }
  expect(await states()).toEqual(['in_flight'])
  expect(await states('in_flight')).toEqual(['in_flight'])
  expect(await states('in_flight', 'delivered')).toEqual(['in_flight'])
  expect(await states('cancelled')).toEqual([])
  const [shown] = await hs.webhooks.deliveries('parent', id)
  expect(shown).not.toHaveProperty('reason')

  held.release()
  await delivered
  expect(await states()).toEqual(['delivered'])
})

/**
 * What went wrong: `publish({ …, idempotencyKey: undefined }, { idempotencyKey })` spread the field over the option, and
 * the event was accepted once for each publish.
 */
import { expect, it } from 'vitest'
import { created, services } from '../service/running.js'

const running = services()

it('the key of the option counts where the field is undefined', async () => {
  const { hs } = await running()
  const event = created('call', { idempotencyKey: undefined })
  const first = await hs.publish(event, { idempotencyKey: 'key' })
  const second = await hs.publish(event, { idempotencyKey: 'key' })
  expect(second).toEqual({ ...first, duplicate: true })
})

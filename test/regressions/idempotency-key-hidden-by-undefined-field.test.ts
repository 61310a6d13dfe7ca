/**
 * `publish({ …, idempotencyKey: undefined }, { idempotencyKey })` let the undefined field override the option, and the
 * event was accepted once per publish.
 */
import { expect, it } from 'vitest'
import { channelCreate, serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()

it('the option idempotencyKey applies if the field is undefined', async () => {
  const { hs } = await startService()
  const event = channelCreate('call', { idempotencyKey: undefined })
  const first = await hs.publish(event, { idempotencyKey: 'key' })
  const second = await hs.publish(event, { idempotencyKey: 'key' })
  expect(second).toEqual({ ...first, duplicate: true })
})

/**
 * An event was validated, then read again after a store request. A host that reused the object for its next event sent
 * unvalidated data, another account's id among it, or got a bare TypeError.
 */
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()

describe('an event that the host changes right after publish()', () => {
  const changes: Readonly<Record<string, object>> = {
    'another call': { callId: 'changed' },
    'another account': { accountId: 'other' },
    'an unregistered hook': { hook: 'attempt' },
    'a value that JSON cannot represent': { from: 1n },
    'circular variables': { customChannelVars: circular() },
  }
  for (const [name, change] of Object.entries(changes)) {
    it(`is sent and emitted as it was published: ${name}`, async () => {
      const { hs, receiver, createWebhook } = await startService()
      await createWebhook('/json')
      await createWebhook('/form', { format: 'form-data' })
      await createWebhook('/own', { customData: { own: 'data' } })
      const emitted = nextEvents(hs, 'event')
      const delivered = nextEvents(hs, 'delivered', 3)
      const event = {
        ...channelCreate('call'),
        from: 'a@b',
        timestampMs: 1_000,
        customChannelVars: { x: 'before' },
      }
      const published = hs.publish(event)
      Object.assign(event, change)
      await published
      await delivered
      expect(await emitted).toMatchObject([channelCreate('call', { from: 'a@b' })])
      const bodies = receiver.requests.map(({ body }) => decodeURIComponent(body))
      expect(bodies).toHaveLength(3)
      for (const body of bodies) {
        expect(body).toMatch(/account_id["=:]+parent/)
        expect(body).toMatch(/call_id["=:]+call\b/)
        expect(body).toMatch(/hook_event["=:]+channel_create/)
        expect(body).toMatch(/from["=:]+a@b/)
        expect(body).toContain('before')
      }
    })
  }

  it('is sent as it was published if only its variables change', async () => {
    const { hs, receiver, createWebhook } = await startService()
    await createWebhook('/json')
    await createWebhook('/form', { format: 'form-data' })
    const delivered = nextEvents(hs, 'delivered', 2)
    const customChannelVars: Record<string, unknown> = { x: 'before' }
    const published = hs.publish({ ...channelCreate('call'), timestampMs: 1_000, customChannelVars })
    customChannelVars.x = 1n
    await published
    await delivered
    for (const { body } of receiver.requests) expect(body).toContain('before')
  })
})

it('an event with only inherited fields is rejected', async () => {
  const { hs } = await startService()
  class Inherited {
    get hook() {
      return 'channel_create' as const
    }
    get accountId() {
      return 'parent'
    }
    get callId() {
      return 'call'
    }
  }
  await expect(hs.publish(new Inherited())).rejects.toMatchObject({ code: 'InvalidInput', field: 'hook' })
})

function circular(): object {
  const value: Record<string, unknown> = {}
  value.self = value
  return value
}

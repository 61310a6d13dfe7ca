/**
 * What went wrong: an event was checked, then read again after the store had been asked. A host that reused the object
 * for its next event sent what nobody had checked, another account's id among it, or got a bare TypeError.
 */
import { describe, expect, it } from 'vitest'
import { created, services, told } from '../service/running.js'

const running = services()

describe('an event that its host changes right after publish()', () => {
  const changes: Readonly<Record<string, object>> = {
    'another call': { callId: 'changed' },
    'another account': { accountId: 'other' },
    'a kind that is none': { hook: 'attempt' },
    'a value that JSON has not': { from: 1n },
    'variables in a circle': { customChannelVars: circle() },
  }
  for (const [what, change] of Object.entries(changes)) {
    it(`is sent and told as it was: ${what}`, async () => {
      const { hs, receiver, webhook } = await running()
      await webhook('/json')
      await webhook('/form', { format: 'form-data' })
      await webhook('/own', { customData: { own: 'data' } })
      const heard = told(hs, 'event')
      const delivered = told(hs, 'delivered', 3)
      const event = {
        ...created('call'),
        from: 'a@b',
        timestampMs: 1_000,
        customChannelVars: { x: 'before' },
      }
      const published = hs.publish(event)
      Object.assign(event, change)
      await published
      await delivered
      expect(await heard).toMatchObject([created('call', { from: 'a@b' })])
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

  it('is sent as it was where only its variables changed', async () => {
    const { hs, receiver, webhook } = await running()
    await webhook('/json')
    await webhook('/form', { format: 'form-data' })
    const delivered = told(hs, 'delivered', 2)
    const customChannelVars: Record<string, unknown> = { x: 'before' }
    const published = hs.publish({ ...created('call'), timestampMs: 1_000, customChannelVars })
    customChannelVars.x = 1n
    await published
    await delivered
    for (const { body } of receiver.requests) expect(body).toContain('before')
  })
})

it('an object whose fields are only inherited lacks them, and is told so', async () => {
  const { hs } = await running()
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

function circle(): object {
  const one: Record<string, unknown> = {}
  one.one = one
  return one
}

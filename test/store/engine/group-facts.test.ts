import { describe, expect, it } from 'vitest'
import type { Acceptance } from '../../../src/delivery/delivery-store.js'
import { type AcceptanceFacts, planAcceptance } from '../../../src/store/engine/acceptance.js'
import { createGroupFacts } from '../../../src/store/engine/group-facts.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'

const webhook = newWebhook()

function group() {
  const numbers = { sequence: 6, node: 0 }
  const stored: AcceptanceFacts = {
    key: () => undefined,
    event: () => undefined,
    hasWebhook: () => true,
    isTaken: () => false,
    hasInboxEntry: (id) => id === 'entry',
    numbers: () => numbers,
  }
  const facts = createGroupFacts(stored)
  return (acceptance: Partial<Acceptance>) => {
    const whole = { events: [], deliveries: [], ...acceptance }
    const plan = planAcceptance(whole, facts, 0, 1_000, false)
    facts.add(whole, plan)
    return plan
  }
}

const conflict = (field: string) => ({ kind: 'refused', error: { code: 'Conflict', field } })

describe('the acceptances of a group', () => {
  it('are numbered one after the other; a refused one takes no number', () => {
    const plan = group()
    const event = newEvent({ callId: 'a' })
    const refused = newDelivery(webhook, event, { variant: 9 })
    expect(plan({ events: [newEvent({ callId: 'a' })] })).toMatchObject({ events: [{ sequence: 7 }] })
    expect(plan({ events: [event], deliveries: [refused] })).toMatchObject({ kind: 'refused' })
    expect(plan({ events: [event] })).toMatchObject({ events: [{ sequence: 8 }] })
  })

  it('see the keys of earlier ones, per account, but not those of refused ones', () => {
    const plan = group()
    const keyed = (bodyHash: string, accountId = 'account') =>
      newEvent({ callId: 'a', accountId, idempotency: { key: 'key', bodyHash, untilMs: 2_000 } })
    const refused = keyed('refused')
    plan({ events: [refused], deliveries: [newDelivery(webhook, refused, { variant: 9 })] })
    const first = keyed('hash')
    expect(plan({ events: [first] })).toMatchObject({ events: [{ duplicate: false }] })
    expect(plan({ events: [keyed('hash')] })).toMatchObject({
      events: [{ id: first.id, sequence: 7, duplicate: true }],
    })
    expect(plan({ events: [keyed('other')] })).toMatchObject(conflict('idempotencyKey'))
    expect(plan({ events: [keyed('other', 'stranger')] })).toMatchObject({ events: [{ duplicate: false }] })
  })

  it('see the ids, positions and inbox entries of earlier ones, and replay their events', () => {
    const plan = group()
    const event = newEvent()
    const delivery = { ...newDelivery(webhook, event), position: 1 }
    const replay = { ...newDelivery(webhook, event, { replayOf: delivery.id }), position: 2 }
    expect(plan({ deliveries: [replay] })).toMatchObject({ error: { code: 'NotFound' } })
    expect(plan({ events: [event], deliveries: [delivery], inboxIds: ['entry'] })).toMatchObject({
      kind: 'write',
    })
    expect(plan({ events: [event] })).toMatchObject(conflict('id'))
    expect(plan({ events: [newEvent()], inboxIds: ['entry'] })).toMatchObject(conflict('inboxIds'))
    expect(plan({ deliveries: [{ ...replay, id: delivery.id }] })).toMatchObject(conflict('id'))
    expect(plan({ deliveries: [{ ...replay, position: 1 }] })).toMatchObject(conflict('id'))
    expect(plan({ deliveries: [replay] })).toMatchObject({ kind: 'write' })
  })
})

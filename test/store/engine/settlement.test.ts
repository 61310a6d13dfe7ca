import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src/delivery/delivery-store.js'
import type { DeliveryState } from '../../../src/delivery/lifecycle.js'
import {
  canStart,
  decideSettlement,
  disabledByRepeat,
  isInterrupted,
} from '../../../src/store/engine/settlement.js'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { disableWebhook } from '../../../src/webhooks/webhook.js'
import { settlement } from '../memory/fixture.js'

const webhook = newWebhook()
const delivery = { ...newDelivery(webhook, newEvent()), position: 1 }

/** From one attempt to two. */
const settle = (state: DeliveryState, attempts = 2, rest: Partial<Settlement> = {}) =>
  settlement(delivery, {
    attempts: 1,
    next: { state, attempts, tries: 1, interruptions: 0 },
    ...rest,
  })
const row = (state: DeliveryState, attempts: number) => ({ state, attempts })

describe('decideSettlement', () => {
  it('writes where the delivery waits with the expected attempts', () => {
    for (const isRepeat of [false, true]) {
      const decide = (attempts: number) =>
        decideSettlement(row('waiting', attempts), settle('delivered'), isRepeat, false)
      expect([0, 1, 2].map(decide)).toEqual(['fenced', 'write', 'fenced'])
    }
  })

  it('fences what has ended or is gone', () => {
    expect(decideSettlement(row('delivered', 2), settle('delivered'), false, true)).toBe('fenced')
    expect(decideSettlement(undefined, settle('delivered'), false, true)).toBe('fenced')
  })

  it('a repeat finds its effect: the same state and attempts', () => {
    const decide = (state: DeliveryState, attempts: number, next: DeliveryState) =>
      decideSettlement(row(state, attempts), settle(next), true, false)
    expect(decide('delivered', 2, 'delivered')).toBe('stored')
    expect(decide('waiting', 2, 'waiting')).toBe('stored')
    expect(decide('exhausted', 2, 'delivered')).toBe('fenced')
    expect(decide('delivered', 3, 'delivered')).toBe('fenced')
    expect(decide('waiting', 3, 'waiting')).toBe('fenced')
  })

  it('a repeat whose record is stored is stored, whatever a later settlement of the same group made of it', () => {
    expect(decideSettlement(row('delivered', 3), settle('waiting'), true, true)).toBe('stored')
    expect(decideSettlement(row('delivered', 3), settle('waiting'), true, false)).toBe('fenced')
  })

  it('a repeat whose delivery is gone is stored if its record is', () => {
    const decide = (hasRecord: boolean) => decideSettlement(undefined, settle('delivered'), true, hasRecord)
    expect([decide(true), decide(false)]).toEqual(['stored', 'fenced'])
  })

  it('a repeat that leaves the attempts as they are is written once, if a record tells', () => {
    const unsent = settle('waiting', 1)
    const { record: _none, ...withoutRecord } = unsent
    expect(decideSettlement(row('waiting', 1), unsent, true, true)).toBe('stored')
    expect(decideSettlement(row('waiting', 1), unsent, true, false)).toBe('write')
    expect(decideSettlement(row('waiting', 1), withoutRecord, true, false)).toBe('write')
  })
})

describe('canStart', () => {
  const start = { webhookId: webhook.id, position: 1, attempt: 2, epoch: 5 }

  it('needs a waiting delivery with the attempts before it', () => {
    const can = (attempts: number) => canStart({ attempts, epoch: 5 }, start, 5)
    expect([0, 1, 2].map(can)).toEqual([false, true, false])
    expect(canStart(undefined, start, 5)).toBe(false)
  })

  it('refuses an older epoch than the webhook’s', () => {
    expect(canStart({ attempts: 1, epoch: 5 }, start, 6)).toBe(false)
    expect(canStart({ attempts: 1, epoch: 6 }, start, 6)).toBe(false)
    expect(canStart({ attempts: 1, epoch: 4 }, start, 5)).toBe(false)
  })
})

it('isInterrupted: the delivery still waits with the attempts before the start', () => {
  const start = { webhookId: webhook.id, position: 1, attempt: 2, epoch: 5 }
  expect([0, 1, 2].map((attempts) => isInterrupted({ attempts }, start))).toEqual([false, true, false])
  expect(isInterrupted(undefined, start)).toBe(false)
})

describe('disabledByRepeat', () => {
  const disable = { reason: 'too many', atMs: 9 }
  const change = settle('exhausted', 2, { endpoint: { epoch: webhook.epoch, disable } })
  const disabled = disableWebhook(webhook, disable)

  it('names the webhook that this settlement disabled', () => {
    expect(disabledByRepeat(disabled, change)).toBe(disabled)
  })

  it('does not name one that it did not disable', () => {
    expect(disabledByRepeat(webhook, change)).toBeUndefined()
    expect(disabledByRepeat(undefined, change)).toBeUndefined()
    expect(disabledByRepeat(disabled, settle('exhausted'))).toBeUndefined()
    expect(disabledByRepeat(disableWebhook(webhook, { ...disable, atMs: 8 }), change)).toBeUndefined()
    expect(disabledByRepeat(disableWebhook(webhook, { ...disable, reason: 'other' }), change)).toBeUndefined()
    expect(disabledByRepeat({ ...disabled, epoch: disabled.epoch + 1 }, change)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { callEventsOf } from '../../src/delivery/call-history.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import { partiesOf } from '../../src/delivery/payload.js'
import { aDelivery } from './fixtures.js'

let positions = 0
const delivery = (sequence: number, changes: Partial<StoredDelivery> = {}): StoredDelivery => {
  positions += 1
  return {
    ...aDelivery({ id: `d${positions}`, eventId: `${changes.callId ?? 'call'}-${sequence}`, callId: 'call' }),
    position: positions,
    ahead: 0,
    sequence,
    ...changes,
  }
}
const unwanted = (deliveries: readonly StoredDelivery[], isPartial = false) =>
  callEventsOf(deliveries, isPartial).unwanted.map(({ callId, sequence }) => `${callId} ${sequence}`)

describe('the events of a call', () => {
  it('are in the order of acceptance, with their deliveries, replays last', () => {
    const first = delivery(1)
    const second = delivery(2)
    const other = delivery(1, { callId: 'leg', webhookId: 'w2' })
    const replay = delivery(1, { replayOf: first.id })
    const { events, isTruncated } = callEventsOf([replay, other, second, first], false)
    expect(events.map(({ callId, sequence, deliveries }) => [callId, sequence, deliveries])).toEqual([
      ['call', 1, [first, replay]],
      ['call', 2, [second]],
      ['leg', 1, [other]],
    ])
    expect(isTruncated).toBe(false)
  })

  it('do not include tests', () => {
    expect(callEventsOf([delivery(0)], false)).toEqual({
      events: [],
      unwanted: [],
      isTruncated: false,
      records: 'none',
    })
  })

  it('are the newest 500', () => {
    const { events, isTruncated } = callEventsOf(
      Array.from({ length: 501 }, (_, index) => delivery(index + 1)),
      false,
    )
    expect([events.length, events[0]!.sequence, isTruncated]).toEqual([500, 2, true])
  })

  it('are all of the call where none is left out or unwanted', () => {
    const recordsOf = (deliveries: readonly StoredDelivery[], isPartial = false) =>
      callEventsOf(deliveries, isPartial).records
    expect(recordsOf([delivery(1), delivery(2)])).toBe('all')
    expect(recordsOf([delivery(2)])).toBe('part')
    expect(recordsOf([delivery(1)], true)).toBe('part')
  })
})

describe('unwanted events', () => {
  it('are the gaps of each leg and account, from its first number', () => {
    const deliveries = [
      delivery(3),
      delivery(6),
      delivery(2, { callId: 'leg' }),
      delivery(1, { callId: 'leg', eventAccountId: 'sub', eventId: 'of-sub' }),
    ]
    expect(unwanted(deliveries)).toEqual(['leg 1', 'call 1', 'call 2', 'call 4', 'call 5'])
  })

  it('are only between known events where older ones are left out', () => {
    expect(unwanted([delivery(7), delivery(9)], true)).toEqual(['call 8'])
  })

  it('are at most 500', () => {
    expect(unwanted([delivery(1_000_000_000)])).toHaveLength(500)
  })
})

describe('partiesOf', () => {
  it.each([
    [
      '{"call_direction":"inbound","from":"a@x","to":"b@x","caller_id_name":"Ann"}',
      { direction: 'inbound', from: 'a@x', to: 'b@x', callerName: 'Ann' },
    ],
    ['call_direction=outbound&from=%2B49%40x&sequence=1', { direction: 'outbound', from: '+49@x' }],
    ['{"from":5,"to":null}', undefined],
    ['{"from":"a@x","custom', { from: 'a@x' }],
    ['{"to\\":":"\\\\","n":-1.5e3,"is":true,"from":"a\\"@x","to":"cut off', { from: 'a"@x' }],
    ['{"vars":{"from":"inside"},"from":"behind', undefined],
    ['', undefined],
  ])('reads %s', (body, expected) => {
    expect(partiesOf(body)).toEqual(expected)
  })

  it('cuts long ones, between characters', () => {
    const body = JSON.stringify({ from: 'f'.repeat(65_000), caller_id_name: `${'n'.repeat(254)}😀` })
    expect(partiesOf(body)).toEqual({ from: 'f'.repeat(255), callerName: `${'n'.repeat(254)}\ufffd` })
  })
})

import { describe, expect, it } from 'vitest'
import { checkEvent } from '../../src/delivery/event.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { DETAIL_SAMPLES } from '../../src/webhooks/detail-samples.js'
import { isMetaHook, META_SAMPLES } from '../../src/webhooks/meta-hooks.js'
import { SAMPLES } from '../../src/webhooks/samples.js'

const START_MS = Date.UTC(2030, 0, 15, 12)
const BUILT_IN = catalogueOf().map(({ id }) => id)
/** Without the kinds that only the service publishes. */
const HOOKS = BUILT_IN.filter((id) => !isMetaHook(id))
const check = (sample: object) => checkEvent(sample, 0, (hook) => HOOKS.includes(hook), HOOKS)
const EVENTS = SAMPLES.map(check)
const caller = EVENTS.filter(({ direction }) => direction === 'inbound')
const phone = EVENTS.filter(({ direction }) => direction === 'outbound')
const secondOf = (leg: typeof EVENTS, hook: string) =>
  leg.filter((event) => event.hook === hook).map(({ timestampMs }) => (timestampMs - START_MS) / 1000)

describe('the sample events', () => {
  it('are events that a host could publish as they are, with a time each', () => {
    expect(EVENTS).toEqual(SAMPLES)
    expect(DETAIL_SAMPLES.map(check)).toEqual(DETAIL_SAMPLES)
    const all = [...SAMPLES, ...DETAIL_SAMPLES]
    expect(all.every(({ timestampMs }) => typeof timestampMs === 'number')).toBe(true)
  })

  it('cover every built-in kind, and no other', () => {
    const sampled = [...SAMPLES, ...DETAIL_SAMPLES, ...META_SAMPLES].map(({ hook }) => hook)
    expect([...new Set(sampled)]).toEqual(BUILT_IN)
  })

  it('carry nothing that JSON would change', () => {
    const all = [...SAMPLES, ...DETAIL_SAMPLES]
    expect(JSON.parse(JSON.stringify(all))).toStrictEqual(all)
  })

  it('are in the order of the call, which lasts a minute from 2030-01-15T12:00:00Z', () => {
    const times = EVENTS.map(({ timestampMs }) => timestampMs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect([times[0], times.at(-1)]).toEqual([START_MS, START_MS + 60_000])
  })

  it('belong to two legs of one account, each from its creation to its end', () => {
    expect(caller.length + phone.length).toBe(EVENTS.length)
    expect(new Set(EVENTS.map(({ accountId }) => accountId)).size).toBe(1)
    expect(caller.map(({ hook }) => hook)).toEqual([
      'channel_create',
      'channel_answer',
      'channel_bridge',
      'channel_hold',
      'channel_unhold',
      'channel_destroy',
    ])
    expect(phone.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_answer', 'channel_destroy'])
  })

  it('name the other leg, except the first, before the other leg exists', () => {
    const [callerId, phoneId] = [caller[0]!.callId, phone[0]!.callId]
    expect(callerId).not.toBe(phoneId)
    expect(caller.map(({ callId }) => callId)).toEqual(caller.map(() => callerId))
    expect(phone.map(({ callId }) => callId)).toEqual(phone.map(() => phoneId))
    expect(SAMPLES[0]).not.toHaveProperty('otherLegCallId')
    expect(caller.slice(1).map(({ otherLegCallId }) => otherLegCallId)).toEqual(Array(5).fill(phoneId))
    expect(phone.map(({ otherLegCallId }) => otherLegCallId)).toEqual(Array(3).fill(callerId))
  })

  it('tell of an answer after four seconds of ringing, and of one hold', () => {
    expect(secondOf(phone, 'channel_create')).toEqual([1])
    expect(secondOf(phone, 'channel_answer')).toEqual([5])
    expect(secondOf(caller, 'channel_bridge')).toEqual([5])
    expect(secondOf(caller, 'channel_hold')).toEqual([20])
    expect(secondOf(caller, 'channel_unhold')).toEqual([32])
  })

  it.each([
    ['caller', caller],
    ['desk phone', phone],
  ])('report durations of the leg of the %s that agree with its times', (_, leg) => {
    const [createdAt] = secondOf(leg, 'channel_create')
    const [answeredAt] = secondOf(leg, 'channel_answer')
    const [endedAt] = secondOf(leg, 'channel_destroy')
    expect(leg.at(-1)).toMatchObject({
      hook: 'channel_destroy',
      durationSeconds: endedAt! - createdAt!,
      ringingSeconds: answeredAt! - createdAt!,
      billingSeconds: endedAt! - answeredAt!,
      durationMs: (endedAt! - createdAt!) * 1000,
      ringingMs: (answeredAt! - createdAt!) * 1000,
      billingMs: (endedAt! - answeredAt!) * 1000,
    })
  })

  it('have the fields of an end and of a bridge only there', () => {
    for (const sample of SAMPLES) {
      const isEnd = sample.hook === 'channel_destroy'
      for (const field of [
        'hangupCause',
        'hangupCode',
        'durationSeconds',
        'ringingSeconds',
        'billingSeconds',
        'durationMs',
        'ringingMs',
        'billingMs',
      ])
        expect(Object.hasOwn(sample, field)).toBe(isEnd)
      for (const field of ['originalNumber', 'otherLegDestinationNumber'])
        expect(Object.hasOwn(sample, field)).toBe(sample.hook === 'channel_bridge')
    }
  })

  it('use reserved names and numbers only', () => {
    const texts = EVENTS.flatMap(({ from, to, request, inception }) => [from, to, request, inception])
    for (const text of texts) if (text !== undefined) expect(text).toMatch(/^[^@]+@sip\.example\.com$/)
    const numbers = JSON.stringify(SAMPLES).match(/\+\d+/g)
    expect(numbers).not.toBeNull()
    for (const number of numbers!) expect(number).toMatch(/^\+1\d{3}55501\d{2}$/)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idempotencyKey } from '../../../../adapters/telephony/source/idempotency-key.js'
import { sanitizeError, sanitizeText } from '../../../../adapters/telephony/source/sanitize.js'
import { truncateEvent } from '../../../../adapters/telephony/source/truncate.js'
import { checkEvent, checkPayloadSize } from '../../../../src/delivery/event.js'
import { payloadOf } from '../../../../src/delivery/payload.js'
import { hostileText } from '../../../support/hostile-text.js'

const event = { hook: 'channel_destroy', accountId: 'acme', callId: 'leg', timestampMs: 1 } as const
const accepted = (given: Parameters<typeof truncateEvent>[0]) => {
  const checked = checkEvent(truncateEvent(given), 1, () => true)
  checkPayloadSize(JSON.stringify({ ...payloadOf(checked, 'x'.repeat(64)), sequence: 1_000_000 }))
}

describe('truncateEvent', () => {
  it('returns an event that fits unchanged', () => {
    const whole = { ...event, from: 'a@b', durationSeconds: 3, customChannelVars: { a: '1', b: ['x'] } }
    expect(truncateEvent(whole)).toBe(whole)
  })

  it('truncates long strings, never inside a character', () => {
    const cut = truncateEvent({ ...event, callerIdName: `${'x'.repeat(1_023)}😀`, from: '😀'.repeat(5_000) })
    expect(cut.callerIdName).toBe(`${'x'.repeat(1_023)}\uFFFD`)
    expect(cut.from).toHaveLength(1_024)
  })

  it('omits an invalid id of the other leg and keeps other ids unchanged', () => {
    expect(truncateEvent({ ...event, otherLegCallId: '' })).not.toHaveProperty('otherLegCallId')
    expect(truncateEvent({ ...event, otherLegCallId: 'a\nb' })).not.toHaveProperty('otherLegCallId')
    expect(truncateEvent({ ...event, otherLegCallId: 'x'.repeat(256) })).not.toHaveProperty('otherLegCallId')
    expect(truncateEvent({ ...event, otherLegCallId: 'other' }).otherLegCallId).toBe('other')
    expect(truncateEvent({ ...event, callId: 'x'.repeat(2_000) }).callId).toHaveLength(2_000)
  })

  it('drops the last variables above the limit', () => {
    const all = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`v${i}`, 'x'.repeat(2_000)]))
    const { customChannelVars = {} } = truncateEvent({ ...event, customChannelVars: all })
    expect(Object.keys(customChannelVars)).toHaveLength(31)
    expect(customChannelVars.v0).toHaveLength(1_024)
    accepted({ ...event, customChannelVars: all, customApplicationVars: all })
  })

  it.each([
    ['control characters', '\u0001'],
    ['quotes', '"'],
    ['characters of another encoding', '\ufffd'],
  ])('shortens variables and strings of %s until the event fits', (_, character) => {
    const long = character.repeat(60_000)
    const all = Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`v${nth}`, long]))
    const names = [
      'from',
      'to',
      'request',
      'callerIdName',
      'callerIdNumber',
      'calleeIdName',
      'calleeIdNumber',
    ]
    const strings = Object.fromEntries(
      [...names, 'fromUser', 'toUser', 'path', 'name'].map((name) => [name, long]),
    )
    const hostile = {
      ...event,
      ...strings,
      customChannelVars: { ended_by: 'switch', ...all },
      customApplicationVars: all,
    }
    accepted(hostile)
    // Few characters may have many bytes.
    accepted({ ...event, customChannelVars: Object.fromEntries(Object.entries(all).slice(0, 25)) })
    const reported: string[] = []
    const { customChannelVars, callerIdName } = truncateEvent(hostile, (field) => reported.push(field))
    expect(customChannelVars).toMatchObject({ ended_by: 'switch' })
    expect(callerIdName?.length).toBeGreaterThanOrEqual(256)
    expect(new Set(reported)).toEqual(
      new Set([...Object.keys(strings), 'customChannelVars', 'customApplicationVars']),
    )
  })

  it('omits invalid ids of a transfer and of an agent', () => {
    const ids = { targetCallId: 'a\nb', agentCallId: 'x'.repeat(300) }
    expect(truncateEvent({ ...event, ...ids })).toEqual(event)
  })

  it('returns an event that publish accepts, whatever the strings and durations', () => {
    const text = hostileText({ maxLength: 3_000 })
    const seconds = fc.integer({ min: -4_000_000_000, max: 400_000_000_000 })
    const hostile = fc.record(
      {
        from: text,
        to: text,
        request: text,
        callerIdName: text,
        callerIdNumber: text,
        otherLegCallId: text,
        hangupCause: text,
        durationSeconds: seconds,
        billingSeconds: seconds,
        customChannelVars: fc.dictionary(fc.string({ maxLength: 20 }), text, { maxKeys: 30 }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(hostile, (values) => {
        accepted({ ...event, ...values } as never)
      }),
    )
  })
})

describe('idempotencyKey', () => {
  it('joins the ids, or hashes them if they are not a valid key', () => {
    expect(idempotencyKey('run', 'leg', 1, 'create')).toBe('run/leg/1/create')
    for (const odd of ['x'.repeat(300), 'a\nb', '\u2028', '\ud800']) {
      expect(idempotencyKey(odd, 'create')).toMatch(/^sha256\/[\w-]{43}$/)
      expect(idempotencyKey(odd, 'create')).not.toBe(idempotencyKey(odd, 'destroy'))
    }
  })
})

describe('sanitizeError and sanitizeText', () => {
  it('return one line without control characters and without the secret', () => {
    expect(sanitizeError(new TypeError('no'))).toBe('TypeError: no')
    expect(sanitizeError(Object.create(null))).toBe('a thrown object')
    expect(sanitizeText('wrong s3cret\r\n\u001b[2J', 's3cret')).toBe('wrong …\\u{D}\\u{A}\\u{1B}[2J')
    expect(sanitizeText('s3cret, not s3cret', 's3cret')).toBe('…, not …')
    expect(sanitizeText('x'.repeat(1_000))).toHaveLength(200)
  })
})

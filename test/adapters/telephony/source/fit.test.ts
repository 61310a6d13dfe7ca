import fc from 'fast-check'
import { checkEvent } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { fitted } from '../../../../adapters/telephony/source/fit.js'
import { idempotencyKey } from '../../../../adapters/telephony/source/idempotency-key.js'
import { said, shown } from '../../../../adapters/telephony/source/said.js'
import { anyText } from '../../../texts.js'

const event = { hook: 'channel_destroy', accountId: 'acme', callId: 'leg', timestampMs: 1 }
const accepted = (given: Parameters<typeof fitted>[0]) => checkEvent(fitted(given), 1, () => true)

describe('what a switch says', () => {
  it('is left as it is where it fits', () => {
    const whole = { ...event, from: 'a@b', durationSeconds: 3, customChannelVars: { a: '1', b: ['x'] } }
    expect(fitted(whole)).toBe(whole)
  })

  it('is cut where a text is longer than any name, and never in the middle of a character', () => {
    const cut = fitted({ ...event, callerIdName: `${'x'.repeat(1_023)}😀`, from: '😀'.repeat(5_000) })
    expect(cut.callerIdName).toBe(`${'x'.repeat(1_023)}\uFFFD`)
    expect(cut.from).toHaveLength(1_024)
  })

  it('loses the id of another leg that is none, and keeps its own as they are', () => {
    expect(fitted({ ...event, otherLegCallId: '' })).not.toHaveProperty('otherLegCallId')
    expect(fitted({ ...event, otherLegCallId: 'a\nb' })).not.toHaveProperty('otherLegCallId')
    expect(fitted({ ...event, otherLegCallId: 'x'.repeat(256) })).not.toHaveProperty('otherLegCallId')
    expect(fitted({ ...event, otherLegCallId: 'other' }).otherLegCallId).toBe('other')
    expect(fitted({ ...event, callId: 'x'.repeat(2_000) }).callId).toHaveLength(2_000)
  })

  it('loses the last of too many variables, not the event', () => {
    const all = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`v${i}`, 'x'.repeat(2_000)]))
    const { customChannelVars = {} } = fitted({ ...event, customChannelVars: all })
    expect(Object.keys(customChannelVars)).toHaveLength(31)
    expect(customChannelVars.v0).toHaveLength(1_024)
    accepted({ ...event, customChannelVars: all, customApplicationVars: all })
  })

  it('never costs the event, whatever the texts and clocks', () => {
    const text = anyText({ maxLength: 3_000 })
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

describe('a key of the ids of a switch', () => {
  it('is the ids themselves where it may be, else their hash', () => {
    expect(idempotencyKey('run', 'leg', 1, 'create')).toBe('run/leg/1/create')
    for (const odd of ['x'.repeat(300), 'a\nb', '\u2028', '\ud800']) {
      expect(idempotencyKey(odd, 'create')).toMatch(/^sha256\/[\w-]{43}$/)
      expect(idempotencyKey(odd, 'create')).not.toBe(idempotencyKey(odd, 'destroy'))
    }
  })
})

describe('what was thrown', () => {
  it('becomes one line, whatever it is, without the password', () => {
    expect(said(new TypeError('no'))).toBe('TypeError: no')
    expect(said(Object.create(null))).toBe('a thrown object')
    expect(shown('wrong s3cret\r\n\u001b[2J', 's3cret')).toBe('wrong …???[2J')
    expect(shown('x'.repeat(1_000))).toHaveLength(200)
  })
})

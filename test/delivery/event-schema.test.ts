import { describe, expect, it } from 'vitest'
import type { ChannelEvent } from '../../src/delivery/event.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import { validateEvent } from '../../src/delivery/event-validator.generated.js'
import { toFailures } from '../../src/values/schema-failures.js'

const event = { hook: 'channel_create', accountId: 'acc', callId: 'call' }

function failuresOf(document: unknown): string[] {
  validateEvent(document)
  return toFailures(validateEvent.errors, document).map(({ path, rule }) => `${path} ${rule}`)
}

describe('the schema of an event', () => {
  it('has exactly the fields of the type', () => {
    const fields: Record<keyof ChannelEvent, unknown> = eventSchema.properties
    const type: (keyof ChannelEvent)[] = Object.keys(fields) as (keyof typeof eventSchema.properties)[]
    expect(type).toHaveLength(33)
  })

  it('asks for hook, account and call, and takes them alone', () => {
    expect(failuresOf({})).toEqual(['hook required', 'accountId required', 'callId required'])
    expect(failuresOf(event)).toEqual([])
  })

  it('names an unknown key, also one that is spelt as receivers get it', () => {
    expect(failuresOf({ ...event, caller_id_number: '1' })).toEqual(['caller_id_number additionalProperties'])
  })

  it('takes absent values and whatever the custom variables hold', () => {
    const vars = { deep: [{ any: null }], n: 1 }
    expect(
      failuresOf({ ...event, from: undefined, customChannelVars: vars, customApplicationVars: vars }),
    ).toEqual([])
  })

  it('takes 255 characters of a call id, whatever their width', () => {
    expect(failuresOf({ ...event, callId: '😀'.repeat(255), otherLegCallId: 'x'.repeat(255) })).toEqual([])
    expect(failuresOf({ ...event, callId: 'x'.repeat(256) })).toEqual(['callId maxLength'])
  })

  const wrong: [change: Record<string, unknown>, failure: string][] = [
    [{ hook: '' }, 'hook minLength'],
    [{ hook: 'h'.repeat(65) }, 'hook maxLength'],
    [{ accountId: 'a b' }, 'accountId pattern'],
    [{ accountId: '' }, 'accountId pattern'],
    [{ accountId: 'a'.repeat(65) }, 'accountId pattern'],
    [{ accountId: 'a\n' }, 'accountId pattern'],
    [{ callId: '' }, 'callId minLength'],
    [{ callId: 'a\u0000' }, 'callId pattern'],
    [{ callId: 'a\u0085' }, 'callId pattern'],
    [{ callId: 'a\u2028' }, 'callId pattern'],
    [{ callId: 'a\ud800' }, 'callId pattern'],
    [{ callId: 7 }, 'callId type'],
    [{ otherLegCallId: '' }, 'otherLegCallId minLength'],
    [{ direction: 'Inbound' }, 'direction enum'],
    [{ timestampMs: 1.5 }, 'timestampMs type'],
    [{ timestampMs: Number.NaN }, 'timestampMs type'],
    [{ timestampMs: new Date(0) }, 'timestampMs type'],
    [{ timestampMs: -1 }, 'timestampMs minimum'],
    [{ timestampMs: 8.64e15 + 1 }, 'timestampMs maximum'],
    [{ from: null }, 'from type'],
    [{ callForwarded: 'no' }, 'callForwarded type'],
    [{ customChannelVars: [] }, 'customChannelVars type'],
    [{ durationSeconds: -1 }, 'durationSeconds minimum'],
    [{ billingSeconds: 0.5 }, 'billingSeconds type'],
    [{ idempotencyKey: '' }, 'idempotencyKey minLength'],
  ]
  for (const [change, failure] of wrong) {
    it(`refuses ${JSON.stringify(change).slice(0, 60)}: ${failure}`, () => {
      expect(failuresOf({ ...event, ...change })).toEqual([failure])
    })
  }

  it('refuses what is no object', () => {
    for (const document of [null, undefined, [], 'event', 5]) expect(failuresOf(document)).toEqual([' type'])
  })
})

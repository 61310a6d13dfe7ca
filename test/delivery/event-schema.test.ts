import { describe, expect, it } from 'vitest'
import type { CheckedEvent } from '../../src/delivery/event.js'
import { eventSchema } from '../../src/delivery/event-schema.js'
import { toSchemaFailures } from '../../src/values/schema-failures.js'
import { validateEvent } from '../../src/values/validators.generated.js'

const event = { hook: 'channel_create', accountId: 'acc', callId: 'call' }

function failuresOf(document: unknown): string[] {
  validateEvent(document)
  return toSchemaFailures(validateEvent.errors, document).map(({ path, rule }) => `${path} ${rule}`)
}

describe('the event schema', () => {
  it('has exactly the fields of CheckedEvent', () => {
    const fields: Record<keyof CheckedEvent, unknown> = eventSchema.properties
    const type: (keyof CheckedEvent)[] = Object.keys(fields) as (keyof typeof eventSchema.properties)[]
    expect(type).toHaveLength(80)
  })

  it('requires hook, accountId and callId, and nothing else', () => {
    expect(failuresOf({})).toEqual(['hook required', 'accountId required', 'callId required'])
    expect(failuresOf(event)).toEqual([])
  })

  it('names an unknown key, a payload name in snake_case too', () => {
    expect(failuresOf({ ...event, caller_id_number: '1' })).toEqual(['caller_id_number additionalProperties'])
  })

  it('accepts undefined values and any content of the custom variables', () => {
    const vars = { deep: [{ any: null }], n: 1 }
    expect(
      failuresOf({ ...event, from: undefined, customChannelVars: vars, customApplicationVars: vars }),
    ).toEqual([])
  })

  it('accepts call ids of 255 characters, whatever their encoded length', () => {
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
    it(`rejects ${JSON.stringify(change).slice(0, 60)}: ${failure}`, () => {
      expect(failuresOf({ ...event, ...change })).toEqual([failure])
    })
  }

  it('rejects anything that is not an object', () => {
    for (const document of [null, undefined, [], 'event', 5]) expect(failuresOf(document)).toEqual([' type'])
  })
})

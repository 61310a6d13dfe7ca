import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBodyVariants, encodingOf, fillIn } from '../../src/delivery/body-variants.js'
import type { WebhookSettings } from '../../src/webhooks/webhook.js'

type BodySettings = Pick<WebhookSettings, 'format' | 'httpVerb' | 'customData'>
const json: BodySettings = { format: 'json', httpVerb: 'post' }
const form: BodySettings = { format: 'form-data', httpVerb: 'post' }
const payload = { hook_event: 'channel_create', event_id: 'e1' }

function bodyOf(settings: BodySettings, isNumbered = true, of: Record<string, unknown> = payload): string {
  const bodies = createBodyVariants(of, JSON.stringify(of), isNumbered)
  return fillIn(bodies.templates[bodies.indexFor(settings)]!, 42)
}

describe('encodingOf', () => {
  it.each([
    ['json', 'post', 'json'],
    ['json', 'put', 'json'],
    ['json', 'patch', 'json'],
    ['json', 'get', 'form'],
    ['json', 'delete', 'form'],
    ['form-data', 'post', 'form'],
    ['form-data', 'get', 'form'],
  ] as const)('format %s with method %s is encoded as %s', (format, httpVerb, encoding) => {
    expect(encodingOf({ format, httpVerb })).toBe(encoding)
  })
})

describe('body variants', () => {
  it('end with the sequence number of the event', () => {
    expect(bodyOf(json)).toBe('{"hook_event":"channel_create","event_id":"e1","sequence":42}')
    expect(bodyOf(form)).toBe('hook_event=channel_create&event_id=e1&sequence=42')
  })

  it('have no added sequence number for a test', () => {
    expect(bodyOf(json, false)).toBe('{"hook_event":"channel_create","event_id":"e1"}')
  })

  it('have the sequence number of the event, whatever the custom data contains', () => {
    const own = { customData: { sequence: 'mine' } }
    expect(bodyOf({ ...json, ...own })).toBe(bodyOf(json))
    expect(bodyOf({ ...form, ...own })).toBe(bodyOf(form))
  })

  it('are built once for all webhooks with the same settings', () => {
    const bodies = createBodyVariants(payload, JSON.stringify(payload), true)
    const sameBody: BodySettings[] = [
      json,
      { ...json, httpVerb: 'put' },
      { ...json, customData: {} },
      { ...json, customData: { type: 'dropped', action: 'too' } },
    ]
    expect(sameBody.map(bodies.indexFor)).toEqual([0, 0, 0, 0])
    expect([form, { ...json, httpVerb: 'get' } as BodySettings].map(bodies.indexFor)).toEqual([1, 1])
    const own = { a: '1', b: '2' }
    expect(bodies.indexFor({ ...json, customData: own })).toBe(2)
    expect(bodies.indexFor({ ...json, customData: { ...own } })).toBe(2)
    expect(bodies.indexFor({ ...form, customData: own })).toBe(3)
    expect(bodies.templates).toHaveLength(4)
  })

  it('differ when custom data has another key order', () => {
    const bodies = createBodyVariants(payload, JSON.stringify(payload), true)
    bodies.indexFor({ ...json, customData: { a: '1', b: '2' } })
    const other = bodies.templates[bodies.indexFor({ ...json, customData: { b: '2', a: '1' } })]!
    expect(Object.keys(JSON.parse(fillIn(other, 1))).slice(-3)).toEqual(['b', 'a', 'sequence'])
  })

  it('are not built before they are requested', () => {
    expect(createBodyVariants(payload, JSON.stringify(payload), true).templates).toEqual([])
  })

  it('contain the payload and the custom data in both encodings', () => {
    const keys = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('__proto__', 'from', 'type', 'hook_event'),
    )
    const dictionary = fc
      .array(fc.tuple(keys, fc.string({ unit: 'grapheme' })), { maxLength: 6 })
      .map((pairs) => Object.fromEntries(pairs))
    fc.assert(
      fc.property(dictionary, dictionary, (event, customData) => {
        const of = { ...event, hook_event: 'x' }
        const expected = new Map<string, unknown>(Object.entries(of))
        for (const [key, value] of Object.entries(customData)) {
          if (key !== 'type' && key !== 'action' && key !== 'hook_event') expected.set(key, value)
        }
        expected.set('sequence', 42)
        const read = JSON.parse(bodyOf({ ...json, customData }, true, of))
        expect(new Map(Object.entries(read))).toEqual(expected)
        const pairs = [...new URLSearchParams(bodyOf({ ...form, customData }, true, of))]
        expect(new Map(pairs)).toEqual(new Map([...expected].map(([key, value]) => [key, String(value)])))
      }),
    )
  })
})

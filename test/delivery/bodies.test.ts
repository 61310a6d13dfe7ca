import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodiesOf, encodingOf, fillIn } from '../../src/delivery/bodies.js'
import type { WebhookSettings } from '../../src/webhooks/webhook.js'

type Shape = Pick<WebhookSettings, 'format' | 'httpVerb' | 'customData'>
const json: Shape = { format: 'json', httpVerb: 'post' }
const form: Shape = { format: 'form-data', httpVerb: 'post' }
const payload = { hook_event: 'channel_create', event_id: 'e1' }

function bodyOf(shape: Shape, numbered = true, of: Record<string, unknown> = payload): string {
  const bodies = bodiesOf(of, JSON.stringify(of), numbered)
  return fillIn(bodies.templates[bodies.variant(shape)]!, 42)
}

describe('how a body travels', () => {
  it.each([
    ['json', 'post', 'json'],
    ['json', 'put', 'json'],
    ['json', 'patch', 'json'],
    ['json', 'get', 'form'],
    ['json', 'delete', 'form'],
    ['form-data', 'post', 'form'],
    ['form-data', 'get', 'form'],
  ] as const)('%s with %s is %s', (format, httpVerb, encoding) => {
    expect(encodingOf({ format, httpVerb })).toBe(encoding)
  })
})

describe('the body of an event', () => {
  it('gets the number of its event at its end', () => {
    expect(bodyOf(json)).toBe('{"hook_event":"channel_create","event_id":"e1","sequence":42}')
    expect(bodyOf(form)).toBe('hook_event=channel_create&event_id=e1&sequence=42')
  })

  it('gets none where the event takes none, or the custom data has one', () => {
    expect(bodyOf(json, false)).toBe('{"hook_event":"channel_create","event_id":"e1"}')
    const own = { customData: { sequence: 'mine' } }
    expect(JSON.parse(bodyOf({ ...json, ...own })).sequence).toBe('mine')
    expect(bodyOf({ ...form, ...own })).toBe('hook_event=channel_create&event_id=e1&sequence=mine')
  })

  it('is made once for all webhooks of the same shape', () => {
    const bodies = bodiesOf(payload, JSON.stringify(payload), true)
    const shapes: Shape[] = [
      json,
      { ...json, httpVerb: 'put' },
      { ...json, customData: {} },
      { ...json, customData: { type: 'dropped', action: 'too' } },
    ]
    expect(shapes.map(bodies.variant)).toEqual([0, 0, 0, 0])
    expect([form, { ...json, httpVerb: 'get' } as Shape].map(bodies.variant)).toEqual([1, 1])
    const own = { a: '1', b: '2' }
    expect(bodies.variant({ ...json, customData: own })).toBe(2)
    expect(bodies.variant({ ...json, customData: { ...own } })).toBe(2)
    expect(bodies.variant({ ...form, customData: own })).toBe(3)
    expect(bodies.templates).toHaveLength(4)
  })

  it('is another one where a webhook orders its keys otherwise', () => {
    const bodies = bodiesOf(payload, JSON.stringify(payload), true)
    bodies.variant({ ...json, customData: { a: '1', b: '2' } })
    const other = bodies.templates[bodies.variant({ ...json, customData: { b: '2', a: '1' } })]!
    expect(Object.keys(JSON.parse(fillIn(other, 1))).slice(-3)).toEqual(['b', 'a', 'sequence'])
  })

  it('is not made before a webhook asks for it', () => {
    expect(bodiesOf(payload, JSON.stringify(payload), true).templates).toEqual([])
  })

  it('says what the payload and the custom data say, in either form', () => {
    const keys = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('__proto__', 'hook_event', 'type', 'sequence'),
    )
    const dictionary = fc
      .array(fc.tuple(keys, fc.string({ unit: 'grapheme' })), { maxLength: 6 })
      .map((pairs) => Object.fromEntries(pairs))
    fc.assert(
      fc.property(dictionary, dictionary, (event, customData) => {
        const of = { hook_event: 'x', ...event }
        const expected = new Map<string, unknown>(Object.entries(of))
        for (const [key, value] of Object.entries(customData)) {
          if (key !== 'type' && key !== 'action') expected.set(key, value)
        }
        if (!expected.has('sequence')) expected.set('sequence', 42)
        const read = JSON.parse(bodyOf({ ...json, customData }, true, of))
        expect(new Map(Object.entries(read))).toEqual(expected)
        const pairs = [...new URLSearchParams(bodyOf({ ...form, customData }, true, of))]
        expect(new Map(pairs)).toEqual(new Map([...expected].map(([key, value]) => [key, String(value)])))
      }),
    )
  })
})

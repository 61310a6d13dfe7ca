import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBodyVariants, fillIn } from '../../src/delivery/body-variants.js'
import { metaPayloadOf, payloadOf } from '../../src/delivery/payload.js'
import { RESERVED_FIELDS, reservedFieldOf } from '../../src/webhooks/reserved-fields.js'

describe('a reserved field', () => {
  it.each([
    ['event_id', 'event_id'],
    ['EVENT_ID', 'event_id'],
    ['Event_Id', 'event_id'],
    ['time\u017ftamp', 'timestamp'],
    ['hoo\u212a_event', 'hook_event'],
    ['t\u0131mestamp', 'timestamp'],
    ['event.id', 'event_id'],
    ['event id', 'event_id'],
    [' event_id', 'event_id'],
    ['event[id', 'event_id'],
    ['event_id[]', 'event_id'],
    ['event_id[x][y]', 'event_id'],
    ['[event_id]', 'event_id'],
    ['[[event_id', 'event_id'],
  ])('is what receivers may take %j for', (key, field) => {
    expect(reservedFieldOf(key, 'channel_create')).toBe(field)
  })

  it.each([
    '',
    '[',
    ' ',
    'event',
    'eventid',
    'event_id_',
    'my_event_id',
    'event-id',
    'event[id]',
    'from',
    'id',
  ])('is not %j', (key) => {
    expect(reservedFieldOf(key, 'channel_create')).toBeUndefined()
  })

  it('is the id of a document in its events', () => {
    expect(reservedFieldOf('ID', 'object')).toBe('id')
    expect(reservedFieldOf('id', 'sms')).toBe('id')
    expect(reservedFieldOf('event_id', 'object')).toBe('event_id')
  })
})

/** How receivers read the name of a field. */
const READERS: readonly ((name: string) => string)[] = [
  (name) => name,
  // Go's encoding/json, .NET: without regard to case.
  (name) => name.toLowerCase(),
  // PHP: `main/php_variables.c`.
  (name) => {
    const trimmed = name.replace(/^ +/, '')
    const bracket = trimmed.indexOf('[', 1)
    const isList = bracket > 0 && trimmed.includes(']', bracket)
    return (isList ? trimmed.slice(0, bracket) : trimmed).replace(/[ .[]/g, '_')
  },
  // Rack: `Rack::QueryParser#normalize_params`.
  (name) => /^[[\]]*([^[\]]+)/.exec(name)?.[1] ?? '',
  // Node's qs.
  (name) => /^\[?([^[\]]+)/.exec(name)?.[1] ?? '',
]

const CALL = { hook: 'channel_create', accountId: 'a', callId: 'c', timestampMs: 1_700_000_000_123 }
const DOCUMENT = { documentId: 'd', documentType: 'user', documentAction: 'doc_edited' } as const
const META = {
  hook: 'delivery_exhausted',
  accountId: 'a',
  timestampMs: 1,
  webhookId: 'w',
  deliveryId: 'd',
} as const
const PAYLOADS = [
  payloadOf(CALL, 'e1'),
  payloadOf({ ...CALL, orderingKey: 'k' }, 'e1'),
  payloadOf({ ...CALL, hook: 'object', ...DOCUMENT }, 'e1'),
  metaPayloadOf(META, 'e1'),
]

/** Names that resemble those of the reserved fields. */
const similarNames = fc
  .tuple(
    fc.constantFrom(...RESERVED_FIELDS, 'id'),
    fc.constantFrom('', ' ', '[', '[['),
    fc.constantFrom('', ']', '[]', '[x]', '[0][y]'),
    fc.constantFrom('_', '.', ' ', '['),
    fc.integer({ min: 0, max: 0xffff }),
  )
  .map(([name, before, after, separator, upper]) => {
    const letters = [...name.replaceAll('_', separator)]
    const cased = letters.map((letter, index) => ((upper >> index) & 1 ? letter.toUpperCase() : letter))
    return before + cased.join('') + after
  })

describe('custom data', () => {
  it('cannot change what any receiver reads in a reserved field, even if a store has it', () => {
    const keys = fc.oneof(similarNames, fc.constantFrom(...RESERVED_FIELDS), fc.string({ unit: 'grapheme' }))
    const customData = fc.dictionary(keys, fc.string(), { minKeys: 1, maxKeys: 5 })
    fc.assert(
      fc.property(fc.constantFrom(...PAYLOADS), customData, (payload, custom) => {
        const bodies = createBodyVariants(payload, JSON.stringify(payload), true)
        const bodyOf = (format: 'json' | 'form-data', own?: Record<string, string>) => {
          const index = bodies.indexFor({ format, httpVerb: 'post', ...(own && { customData: own }) })
          return fillIn(bodies.templates[index]!, 42)
        }
        const reserved = ['object', 'sms'].includes(payload.hook_event as string)
          ? [...RESERVED_FIELDS, 'id']
          : RESERVED_FIELDS
        const pairsOf = {
          json: (body: string) => Object.entries(JSON.parse(body) as object),
          'form-data': (body: string) => [...new URLSearchParams(body)],
        }
        for (const format of ['json', 'form-data'] as const) {
          for (const reader of READERS) {
            const read = (body: string) =>
              pairsOf[format](body)
                .map(([name, value]) => [reader(name), value])
                .filter(([name]) => reserved.includes(name))
            expect(read(bodyOf(format, custom))).toEqual(read(bodyOf(format)))
          }
        }
      }),
    )
  })
})

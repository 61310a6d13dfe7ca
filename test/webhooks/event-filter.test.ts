import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type EventFilter,
  filterFailures,
  MAX_FILTER_DEPTH,
  MAX_FILTER_FIELDS,
  passesFilter,
} from '../../src/webhooks/event-filter.js'
import { propertyRuns } from '../support/property-runs.js'

const payload = {
  call_direction: 'inbound',
  caller_id_number: '+4930123456',
  duration_seconds: 60,
  call_forwarded: false,
  custom_channel_vars: { queue: 'support', nested: { tier: 2 }, 'a.b': 'dotted' },
  absent: undefined,
  nothing: null,
}
const nested = (depth: number): EventFilter =>
  depth <= 1 ? { exact: { to: 'x' } } : { not: nested(depth - 1) }

describe('a filter', () => {
  it.each<[EventFilter, boolean]>([
    [{ exact: { call_direction: 'inbound' } }, true],
    [{ exact: { call_direction: 'Inbound' } }, false],
    [{ exact: { call_direction: 'inbound', caller_id_number: 'x' } }, false],
    [{ exact: { duration_seconds: 60 } }, true],
    [{ exact: { duration_seconds: '60' } }, true],
    [{ exact: { call_forwarded: false } }, true],
    [{ exact: { call_forwarded: 'true' } }, false],
    [{ exact: { absent: 'undefined' } }, false],
    [{ exact: { nothing: 'null' } }, false],
    [{ exact: { custom_channel_vars: '[object Object]' } }, false],
    [{ exact: { 'custom_channel_vars.queue': 'support' } }, true],
    [{ exact: { 'custom_channel_vars.nested.tier': 2 } }, true],
    [{ exact: { 'custom_channel_vars.queue.length': 7 } }, false],
    [{ exact: { toString: 'x' } }, false],
    [{ exact: { 'custom_channel_vars.constructor.name': 'Object' } }, false],
    [{ prefix: { caller_id_number: '+49' } }, true],
    [{ prefix: { caller_id_number: '49' } }, false],
    [{ suffix: { caller_id_number: '456' } }, true],
    [{ suffix: { caller_id_number: '45' } }, false],
    [{ prefix: { duration_seconds: '6' } }, true],
    [{ not: { exact: { call_direction: 'outbound' } } }, true],
    [{ not: { exact: { absent: 'x' } } }, true],
    [{ all: [{ prefix: { caller_id_number: '+49' } }, { exact: { call_direction: 'inbound' } }] }, true],
    [{ all: [{ prefix: { caller_id_number: '+49' } }, { exact: { call_direction: 'outbound' } }] }, false],
    [{ any: [{ exact: { call_direction: 'x' } }, { exact: { duration_seconds: 60 } }] }, true],
    [{ any: [{ exact: { call_direction: 'x' } }] }, false],
  ])('%j passes: %s', (filter, expected) => {
    expect(filterFailures(filter, 'filter')).toEqual([])
    expect(passesFilter(filter, payload)).toBe(expected)
  })

  it('prefers a field whose name has a dot', () => {
    const dotted = { 'a.b': 'whole', a: { b: 'nested' } }
    expect(passesFilter({ exact: { 'a.b': 'whole' } }, dotted)).toBe(true)
    expect(passesFilter({ exact: { 'a.b': 'nested' } }, dotted)).toBe(false)
  })

  it.each<[unknown, string]>([
    [null, 'filter type'],
    [[], 'filter type'],
    [{}, 'filter error'],
    [{ exact: { a: 'b' }, not: { exact: { a: 'b' } } }, 'filter error'],
    [{ sql: 'true' }, 'filter.sql additionalProperties'],
    [{ toString: {} }, 'filter.toString additionalProperties'],
    [{ exact: {} }, 'filter.exact minItems'],
    [{ exact: ['a'] }, 'filter.exact type'],
    [{ exact: { a: null } }, 'filter.exact.a type'],
    [{ exact: { a: Number.NaN } }, 'filter.exact.a type'],
    [{ exact: { a: ['b'] } }, 'filter.exact.a type'],
    [{ exact: { '': 'b' } }, 'filter.exact. error'],
    [{ exact: { ['x'.repeat(256)]: 'b' } }, `filter.exact.${'x'.repeat(255)} error`],
    [{ exact: { a: 'x'.repeat(256) } }, 'filter.exact.a maxLength'],
    [{ exact: { a: 'x\u0000' } }, 'filter.exact.a error'],
    [{ exact: { a: '\ud800' } }, 'filter.exact.a error'],
    [{ prefix: { a: '' } }, 'filter.prefix.a minLength'],
    [{ suffix: { a: 5 } }, 'filter.suffix.a type'],
    [{ all: {} }, 'filter.all type'],
    [{ any: [] }, 'filter.any minItems'],
    [{ any: Array.from({ length: MAX_FILTER_FIELDS + 1 }, () => ({})) }, 'filter.any maxItems'],
    [{ not: [{ exact: { a: 'b' } }] }, 'filter.not type'],
    [nested(MAX_FILTER_DEPTH + 1), `filter${'.not'.repeat(MAX_FILTER_DEPTH)} maxDepth`],
  ])('is refused: %j', (filter, expected) => {
    expect(filterFailures(filter, 'filter').map(({ path, rule }) => `${path} ${rule}`)).toEqual([expected])
  })

  it('is bounded in depth and in fields', () => {
    expect(filterFailures(nested(MAX_FILTER_DEPTH), 'filter')).toEqual([])
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 'x']))
    expect(filterFailures({ exact: fields(MAX_FILTER_FIELDS) }, 'filter')).toEqual([])
    const many = { all: [{ exact: fields(60) }, { prefix: fields(60) }, { suffix: fields(60) }] }
    expect(filterFailures(many, 'filter').map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      'filter maxItems',
    ])
  })

  it('never throws, and is evaluated exactly when it is valid', () => {
    const names = fc.constantFrom(...Object.keys(payload), 'custom_channel_vars.queue', 'to', '__proto__')
    const texts = fc.oneof(
      fc.constantFrom('inbound', '60', 'false', '+49'),
      fc.string({ minLength: 1, maxLength: 3 }),
    )
    const scalars = fc.oneof(texts, fc.integer(), fc.boolean())
    const { filter: filters } = fc.letrec<{ filter: unknown }>((tie) => ({
      filter: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        fc.record({ exact: fc.dictionary(names, scalars, { minKeys: 1, maxKeys: 3 }) }),
        fc.record({ prefix: fc.dictionary(names, texts, { minKeys: 1, maxKeys: 3 }) }),
        fc.record({ suffix: fc.dictionary(names, texts, { minKeys: 1, maxKeys: 3 }) }),
        fc.record({ all: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ any: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ not: tie('filter') }),
      ),
    }))
    /** The dialects once more, over the texts of all scalar fields by dotted name. */
    const texted = new Map([
      ['call_direction', 'inbound'],
      ['caller_id_number', '+4930123456'],
      ['duration_seconds', '60'],
      ['call_forwarded', 'false'],
      ['custom_channel_vars.queue', 'support'],
    ])
    const reference = (filter: EventFilter): boolean => {
      const [[dialect, inner]] = Object.entries(filter) as [[string, never]]
      const compared = (compare: (text: string, given: string) => boolean) =>
        Object.entries(inner as Record<string, unknown>).every(([name, given]) => {
          const text = texted.get(name)
          return text !== undefined && compare(text, `${given}`)
        })
      if (dialect === 'exact') return compared((text, given) => text === given)
      if (dialect === 'prefix') return compared((text, given) => text.indexOf(given) === 0)
      if (dialect === 'suffix') return compared((text, given) => text.slice(-given.length) === given)
      if (dialect === 'not') return !reference(inner)
      const results = (inner as EventFilter[]).map(reference)
      return dialect === 'all' ? !results.includes(false) : results.includes(true)
    }
    let valid = 0
    fc.assert(
      fc.property(fc.oneof({ weight: 5, arbitrary: filters }, fc.anything()), (filter) => {
        if (filterFailures(filter, 'filter').length > 0) return
        valid += 1
        expect(passesFilter(filter as EventFilter, payload)).toBe(reference(filter as EventFilter))
      }),
      { numRuns: propertyRuns(2000) },
    )
    expect(valid).toBeGreaterThan(50)
  })
})

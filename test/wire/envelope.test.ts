import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EnvelopeFields, listText, serializeError, serializeSuccess } from '../../src/wire/envelope.js'
import { propertyRuns } from '../support/property-runs.js'

const fields: EnvelopeFields = { requestId: 'r-1', timestamp: '2026-01-01T00:00:00Z', node: 'n-1' }
const known: EnvelopeFields = { ...fields, version: '1.2.3', authToken: 'token' }

describe('the envelope of a success', () => {
  it('contains the data, the status and the fields of the request, and nothing that is absent', () => {
    expect(serializeSuccess({ id: 'a' }, fields)).toBe(
      '{"data":{"id":"a"},"status":"success","request_id":"r-1","timestamp":"2026-01-01T00:00:00Z","node":"n-1"}',
    )
  })

  it('contains every field that is present, in this order', () => {
    const extras = { revision: '7', startKey: 'from', page: { count: 2, nextStartKey: 'to' } }
    expect(Object.entries(JSON.parse(serializeSuccess([1], known, extras)))).toEqual([
      ['data', [1]],
      ['status', 'success'],
      ['auth_token', 'token'],
      ['request_id', 'r-1'],
      ['revision', '7'],
      ['timestamp', '2026-01-01T00:00:00Z'],
      ['version', '1.2.3'],
      ['node', 'n-1'],
      ['page_size', 2],
      ['start_key', 'from'],
      ['next_start_key', 'to'],
    ])
  })

  it('shows the token and the version only when they are given', () => {
    const anonymous = { ...fields, authToken: undefined, version: undefined }
    expect(JSON.parse(serializeSuccess({}, anonymous))).not.toHaveProperty('auth_token')
    expect(JSON.parse(serializeSuccess({}, anonymous))).not.toHaveProperty('version')
    expect(JSON.parse(serializeSuccess({}, known))).toMatchObject({ auth_token: 'token', version: '1.2.3' })
  })

  it('counts the items of the page, also of an empty one, and omits the next start key of the last', () => {
    const last = JSON.parse(serializeSuccess([], fields, { page: { count: 0 } }))
    expect(last).toMatchObject({ page_size: 0, data: [] })
    expect(last).not.toHaveProperty('next_start_key')
    expect(last).not.toHaveProperty('start_key')
    expect(JSON.parse(serializeSuccess({}, fields))).not.toHaveProperty('page_size')
  })

  it.each([null, false, 0, '', []])('keeps the data %j', (data) => {
    expect(JSON.parse(serializeSuccess(data, fields))).toHaveProperty('data', data)
  })

  it('is indented by two spaces on request, on one line otherwise', () => {
    const indented = serializeSuccess({ id: 'a' }, { ...fields, indent: true })
    expect(indented.split('\n').slice(0, 3)).toEqual(['{', '  "data": {', '    "id": "a"'])
    expect(JSON.parse(indented)).toEqual(JSON.parse(serializeSuccess({ id: 'a' }, fields)))
    expect(serializeSuccess({ id: 'a' }, { ...fields, indent: false })).not.toContain('\n')
  })

  it('uses data that is already serialized as it is, and not the data beside it', () => {
    const json = '{"n":1.50,"id":"a"}'
    expect(serializeSuccess({ other: true }, fields, {}, json)).toBe(
      `{"data":${json},"status":"success","request_id":"r-1","timestamp":"2026-01-01T00:00:00Z","node":"n-1"}`,
    )
    const indented = serializeSuccess(undefined, { ...fields, indent: true }, {}, json)
    expect(indented).toContain('\n    "n": 1.5,\n')
  })

  it('is the same text for data and for its JSON, indented or not', () => {
    const page = fc.option(fc.record({ count: fc.nat(3) }), { nil: undefined })
    fc.assert(
      fc.property(fc.jsonValue(), page, fc.boolean(), (data, listed, indent) => {
        const given = { ...known, indent }
        const text = serializeSuccess(data, given, { page: listed })
        expect(serializeSuccess(undefined, given, { page: listed }, JSON.stringify(data))).toBe(text)
        expect(JSON.parse(text).data).toEqual(JSON.parse(JSON.stringify(data)))
      }),
      { numRuns: propertyRuns(100) },
    )
  })
})

describe('the envelope of a list in parts', () => {
  it('is the same text as that of all its items at once, indented or not', () => {
    const list = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 4 })
    const keys = fc.option(fc.string(), { nil: undefined })
    fc.assert(
      fc.property(list, keys, keys, fc.boolean(), (items, startKey, nextStartKey, indent) => {
        const given = { ...known, indent }
        const page = { count: items.length, nextStartKey }
        const text = listText(given)
        const joined = text.open + items.map(text.item).join(',') + text.close(page, startKey)
        expect(joined).toBe(serializeSuccess(items, given, { page, startKey }))
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

describe('the envelope of an error', () => {
  it('contains the status code as text, the name of the error and the data', () => {
    expect(serializeError(404, 'bad_identifier', { id: 'x' }, fields)).toBe(
      '{"data":{"id":"x"},"error":"404","message":"bad_identifier","status":"error",' +
        '"request_id":"r-1","timestamp":"2026-01-01T00:00:00Z","node":"n-1"}',
    )
  })

  it('contains the token and the version at its end when they are given', () => {
    const envelope = JSON.parse(serializeError(500, 'internal_error', {}, known))
    expect(Object.entries(envelope).slice(-2)).toEqual([
      ['auth_token', 'token'],
      ['version', '1.2.3'],
    ])
  })

  it('has an object as data, and omits fields of the request that are not known yet', () => {
    expect(serializeError(400, 'invalid_request', {}, {})).toBe(
      '{"data":{},"error":"400","message":"invalid_request","status":"error"}',
    )
  })

  it('is indented on request only', () => {
    expect(serializeError(400, 'n', {}, { indent: true }).split('\n')).toEqual([
      '{',
      '  "data": {},',
      '  "error": "400",',
      '  "message": "n",',
      '  "status": "error"',
      '}',
    ])
    expect(serializeError(400, 'n', {}, { indent: false })).not.toContain('\n')
  })
})

import { expect, it } from 'vitest'
import { renameProperties } from '../../src/values/json-schema.js'

it('spells the own properties of a schema another way and leaves deeper ones alone', () => {
  const schema = {
    type: 'object',
    required: ['callId'],
    properties: {
      callId: { type: 'string' },
      customData: { type: 'object', properties: { someKey: { type: 'string' } }, required: ['someKey'] },
    },
    additionalProperties: false,
  }
  const upper = renameProperties(schema, (name) => name.toUpperCase())
  expect(upper).toEqual({
    type: 'object',
    required: ['CALLID'],
    properties: { CALLID: schema.properties.callId, CUSTOMDATA: schema.properties.customData },
    additionalProperties: false,
  })
  expect(Object.keys(upper.properties ?? {})).toEqual(['CALLID', 'CUSTOMDATA'])
})

it('keeps a schema without properties as it is', () => {
  expect(renameProperties({ type: 'string' }, (name) => `${name}!`)).toEqual({ type: 'string' })
})

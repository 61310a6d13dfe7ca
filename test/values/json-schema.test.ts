import { expect, it } from 'vitest'
import { renameProperties } from '../../src/values/json-schema.js'

it('renames the top-level properties of a schema and leaves nested ones unchanged', () => {
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

it('leaves a schema without properties unchanged', () => {
  expect(renameProperties({ type: 'string' }, (name) => `${name}!`)).toEqual({ type: 'string' })
})

/**
 * Names chosen by a client were looked up in plain objects, which all have a `constructor`. The error of an event with
 * such a key named the field `function Object() { [native code] }`.
 */
import { describe, expect, it } from 'vitest'
import { parseEvents, toWireEventName } from '../../src/wire/event-names.js'
import { toWirePath } from '../../src/wire/field-names.js'
import { serviceFixture } from '../service/service-fixture.js'

const startService = serviceFixture()

describe('a field named like an inherited property', () => {
  for (const name of ['constructor', 'valueOf', 'toString', 'hasOwnProperty']) {
    it(`${name} appears under its own name in an error`, async () => {
      const { callApi } = await startService({ ingest: true })
      const event = { hook: 'channel_create', call_id: 'call', [name]: 'x' }
      const single = await callApi('PUT', '/v1/accounts/parent/events', { data: event })
      const list = await callApi('PUT', '/v1/accounts/parent/events', {
        data: [event, { ...event, [name]: undefined }],
      })
      expect([single.status, Object.keys(single.json.data)]).toEqual([400, [name]])
      expect([list.status, Object.keys(list.json.data)]).toEqual([400, [`0.${name}`]])
    })
  }

  it('has no wire spelling of its own', () => {
    expect(toWirePath('constructor.a')).toBe('constructor.a')
    expect(toWireEventName('constructor')).toBe('constructor')
    expect(parseEvents({ constructor: 1 }, 'a')).toEqual({ events: [{ constructor: 1, accountId: 'a' }] })
  })
})

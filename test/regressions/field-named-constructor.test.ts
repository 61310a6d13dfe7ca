/**
 * What went wrong: names that a client chose were looked up in plain objects, which all have a `constructor`. The error
 * of an event with such a key named the field `function Object() { [native code] }`.
 */
import { describe, expect, it } from 'vitest'
import { eventWireName, readEvents } from '../../src/wire/event-names.js'
import { wirePath } from '../../src/wire/names.js'
import { services } from '../service/running.js'

const running = services()

describe('a key that every object inherits', () => {
  for (const name of ['constructor', 'valueOf', 'toString', 'hasOwnProperty']) {
    it(`${name} is called by its own name in an error`, async () => {
      const { ask } = await running({ ingest: true })
      const event = { hook: 'channel_create', call_id: 'call', [name]: 'x' }
      const one = await ask('PUT', '/v1/accounts/parent/events', { data: event })
      const list = await ask('PUT', '/v1/accounts/parent/events', {
        data: [event, { ...event, [name]: undefined }],
      })
      expect([one.status, Object.keys(one.json.data)]).toEqual([400, [name]])
      expect([list.status, Object.keys(list.json.data)]).toEqual([400, [`0.${name}`]])
    })
  }

  it('has no other spelling', () => {
    expect(wirePath('constructor.a')).toBe('constructor.a')
    expect(eventWireName('constructor')).toBe('constructor')
    expect(readEvents({ constructor: 1 }, 'a')).toEqual({ events: [{ constructor: 1, accountId: 'a' }] })
  })
})

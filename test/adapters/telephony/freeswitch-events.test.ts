import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventValue, SwitchEvent } from '../../../adapters/telephony/freeswitch/event.js'
import { jsonEvent, jsonName } from '../../../adapters/telephony/freeswitch/json-event.js'
import { plainEvent, plainName } from '../../../adapters/telephony/freeswitch/plain-event.js'
import { mappingFor } from './freeswitch-mapped.js'
import { bytesOf, messagesOf } from './freeswitch-recorded.js'

type Fields = Readonly<Record<string, EventValue>>

/** What the switch does not encode (the sheet, "Encoding"). */
const encoded = (value: string) =>
  [...Buffer.from(value)]
    .map((byte) => {
      const char = String.fromCharCode(byte)
      return /[A-Za-z0-9!'()*,\-./_~]/.test(char)
        ? char
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')

const asText = (value: EventValue) => (typeof value === 'string' ? value : `ARRAY::${value.join('|:')}`)
const asJson = (fields: Fields) => jsonEvent(Buffer.from(JSON.stringify(fields)))
const asPlain = (fields: Fields) =>
  plainEvent(
    Buffer.from(
      `${Object.entries(fields)
        .map(([name, value]) => `${name}: ${encoded(asText(value))}\n`)
        .join('')}\n`,
    ),
  )
const bodies = (name: string) =>
  messagesOf(bytesOf(name)).filter(({ type }) => type.startsWith('text/event-'))

function variablesOf(event: SwitchEvent, prefix = 'variable_'): Record<string, EventValue> {
  const found: Record<string, EventValue> = {}
  event.each(prefix, (name, value) => {
    found[name] = value
  })
  return found
}

describe('the scanners', () => {
  it('find in every recorded JSON body what JSON.parse finds', () => {
    for (const { body } of bodies('json')) {
      const truth = JSON.parse(body.toString('utf8')) as Fields
      const event = jsonEvent(body)
      expect(event?.name).toBe(truth['Event-Name'])
      expect(jsonName(body)).toBe(truth['Event-Name'])
      for (const [name, value] of Object.entries(truth)) {
        if (JSON.stringify(event?.value(name)) !== JSON.stringify(value))
          expect({ name, value: event?.value(name) }).toEqual({ name, value })
      }
      const variables = Object.entries(truth).filter(([name]) => name.startsWith('variable_'))
      const expected = Object.fromEntries(variables.map(([name, value]) => [name.slice(9), value]))
      const seen = variablesOf(event as SwitchEvent)
      if (JSON.stringify(seen) !== JSON.stringify(expected)) expect(seen).toEqual(expected)
    }
  })

  it('find in every recorded plain body each of its lines', () => {
    for (const { body } of bodies('plain')) {
      const event = plainEvent(body)
      const [head = ''] = body.toString('latin1').split('\n\n')
      expect(plainName(body)).toBe(event?.name)
      for (const line of head.split('\n')) {
        const [name = '', ...rest] = line.split(': ')
        const raw = rest.join(': ')
        const seen = event?.header(name)
        if (raw.includes('%') ? seen === undefined : seen !== raw) expect({ line, seen }).toBeUndefined()
      }
    }
  })

  it('give the same for both formats, whatever the names and values', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z_-]{0,12}$/)
    // What the plain format cannot carry (the sheet): a raw `%41`; what looks like an array is one.
    const text = fc
      .oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom(...'",:{}[]\\\n%|= aé🎧') }))
      .map((value) => value.toWellFormed())
      .filter((value) => value !== '' && !value.startsWith('ARRAY::') && !/%[0-9A-F]{2}/.test(value))
    const list = fc.array(
      text.filter((value) => !value.includes('|:') && !value.startsWith(':') && !value.endsWith('|')),
      { minLength: 2, maxLength: 4 },
    )
    fc.assert(
      fc.property(
        fc.dictionary(name, text, { maxKeys: 6 }),
        fc.dictionary(name, fc.oneof(text, list), { maxKeys: 6 }),
        (headers, variables) => {
          const fields: Record<string, EventValue> = { 'Event-Name': 'CHANNEL_CREATE', ...headers }
          for (const [key, value] of Object.entries(variables)) fields[`variable_${key}`] = value
          const [json, plain] = [asJson(fields), asPlain(fields)]
          for (const [key, value] of Object.entries(fields)) {
            expect(json?.value(key)).toEqual(value)
            expect(plain?.value(key)).toEqual(value)
            expect(plain?.header(key)).toBe(json?.header(key))
          }
          expect(variablesOf(json!)).toEqual(variablesOf(plain!))
          expect(json?.header('Absent')).toBeUndefined()
          expect(plain?.header('Absent')).toBeUndefined()
        },
      ),
      { numRuns: 500 },
    )
  })

  it('take no value for a key', () => {
    const event = asJson({
      'Event-Name': 'X',
      Note: ',"Unique-ID":"no"',
      Legs: ['a', 'variable_ecallmgr_x', 'b'],
      variable_list: ['a', 'Unique-ID', 'variable_ecallmgr_y', 'c', 'variable_ecallmgr_z'],
      variable_back: 'ends with \\',
      'Unique-ID': 'yes',
    })
    expect(event?.header('Unique-ID')).toBe('yes')
    expect(event?.header('variable_back')).toBe('ends with \\')
    expect(event?.value('Legs')).toEqual(['a', 'variable_ecallmgr_x', 'b'])
    expect(variablesOf(event!, 'variable_ecallmgr_')).toEqual({})
  })

  it('leave a body behind an empty line alone', () => {
    const event = plainEvent(Buffer.from('Event-Name: X\nContent-Length: 12\n\nUnique-ID: a\n'))
    expect(event?.header('Unique-ID')).toBeUndefined()
    expect(event?.header('Content-Length')).toBe('12')
  })

  it('decode bytes that are no UTF-8 to U+FFFD, and a lone percent sign to itself', () => {
    const plain = plainEvent(Buffer.from('Event-Name: X\nA: Ren%E9 100%25 %zz %\nB: caf\xe9\n\n', 'latin1'))
    expect(plain?.header('A')).toBe('Ren\ufffd 100% %zz %')
    expect(plain?.header('B')).toBe('caf\ufffd')
    const json = jsonEvent(Buffer.from('{"Event-Name":"X","A":"Ren\xe9 \\ud800 \\u00e9"}', 'latin1'))
    expect(json?.header('A')).toBe('Ren\ufffd \ufffd é')
  })

  it('never throw and never hang, whatever the bytes', () => {
    const start = fc.constantFrom(
      '{"Event-Name":"CHANNEL_CREATE","Unique-ID":"a",',
      'Event-Name: CHANNEL_CREATE\nUnique-ID: a\n',
      '',
    )
    const end = fc.constantFrom('}', '\n\n', '"}', '\\"}', ']}', '')
    const middle = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.string({ unit: fc.constantFrom(...'",:{}[]\\\n% vU'), maxLength: 200 }),
      fc.string({
        unit: fc.constantFrom(
          ',"variable_ecallmgr_',
          '":"',
          '["',
          '"]',
          'a',
          '\\',
          '\nvariable_ecallmgr_',
          ': ',
          '%E9',
        ),
        maxLength: 30,
      }),
    )
    fc.assert(
      fc.property(start, middle, end, (first, then, last) => {
        const body = Buffer.from(first + then + last, 'latin1')
        for (const event of [jsonEvent(body), plainEvent(body)]) {
          if (!event) continue
          for (const name of ['Unique-ID', 'Caller-Channel-Created-Time', 'variable_x']) event.value(name)
          variablesOf(event)
          mappingFor().map(event)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['nothing', ''],
    ['no object', '[1]'],
    ['half an object', '{"Event-Name":"CHANNEL_CREATE","Unique-ID":"a'],
    ['an object without a name', '{"Unique-ID":"a"}'],
    ['a name that is no text', '{"Event-Name":7}'],
  ])('refuse %s', (_, text) => {
    expect(jsonEvent(Buffer.from(text))).toBeUndefined()
  })

  it.each([
    ['nothing', ''],
    ['half an event', 'Event-Name: CHANNEL_CREATE\nUnique-ID: a'],
    ['an event without a name', 'Unique-ID: a\n\n'],
  ])('refuse %s in plain', (_, text) => {
    expect(plainEvent(Buffer.from(text))).toBeUndefined()
  })
})

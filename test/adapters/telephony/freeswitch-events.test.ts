import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type EslEvent,
  type EventValue,
  parseEvent,
  peekEventName,
} from '../../../adapters/telephony/freeswitch/event.js'
import { propertyRuns } from '../../support/property-runs.js'
import { mappingFor } from './freeswitch-mapped.js'
import { bytesOf, messagesOf } from './freeswitch-recorded.js'

type Fields = Readonly<Record<string, EventValue>>

/** URL-encodes like the switch (recordings/freeswitch.md, "Encoding"). */
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
const asJson = (fields: Fields) => parseEvent('json', Buffer.from(JSON.stringify(fields)))
const asPlain = (fields: Fields) =>
  parseEvent(
    'plain',
    Buffer.from(
      `${Object.entries(fields)
        .map(([name, value]) => `${name}: ${encoded(asText(value))}\n`)
        .join('')}\n`,
    ),
  )
const bodies = (name: string) =>
  messagesOf(bytesOf(name)).filter(({ type }) => type.startsWith('text/event-'))

function variablesOf(event: EslEvent, prefix = 'variable_'): Record<string, EventValue> {
  const found: Record<string, EventValue> = {}
  event.forEach(prefix, (name, value) => {
    found[name] = value
  })
  return found
}

describe('the event parsers', () => {
  it('find the same values as JSON.parse in every recorded JSON body', () => {
    for (const { body } of bodies('json')) {
      const expectedFields = JSON.parse(body.toString('utf8')) as Fields
      const event = parseEvent('json', body)
      expect(event?.name).toBe(expectedFields['Event-Name'])
      expect(peekEventName(body)).toBe(expectedFields['Event-Name'])
      for (const [name, value] of Object.entries(expectedFields)) {
        if (JSON.stringify(event?.value(name)) !== JSON.stringify(value))
          expect({ name, value: event?.value(name) }).toEqual({ name, value })
      }
      const variables = Object.entries(expectedFields).filter(([name]) => name.startsWith('variable_'))
      const expected = Object.fromEntries(variables.map(([name, value]) => [name.slice(9), value]))
      const seen = variablesOf(event as EslEvent)
      if (JSON.stringify(seen) !== JSON.stringify(expected)) expect(seen).toEqual(expected)
    }
  })

  it('find every line of every recorded plain body', () => {
    for (const { body } of bodies('plain')) {
      const event = parseEvent('plain', body)
      const [head = ''] = body.toString('latin1').split('\n\n')
      expect(peekEventName(body)).toBe(event?.name)
      for (const line of head.split('\n')) {
        const [name = '', ...rest] = line.split(': ')
        const raw = rest.join(': ')
        const seen = event?.header(name)
        if (raw.includes('%') ? seen === undefined : seen !== raw) expect({ line, seen }).toBeUndefined()
      }
    }
  })

  it('return the same values for both formats, for any names and values', () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z_-]{0,12}$/)
    // The plain format cannot carry a raw `%41`, or a string that looks like an array (recordings/freeswitch.md).
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
      { numRuns: propertyRuns(500) },
    )
  })

  it('do not mistake a value for a key', () => {
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

  it('read the last of several headers with one name, and keys of prototypes like others', () => {
    const names = ['Event-Name', 'A', 'A', '__proto__', 'variable_constructor', 'A']
    const json = names.map((name, index) => `"${name}":"${index}"`).join(',')
    const plain = names.map((name, index) => `${name}: ${index}\n`).join('')
    for (const event of [
      parseEvent('json', Buffer.from(`{${json}}`)),
      parseEvent('plain', Buffer.from(`${plain}\n`)),
    ]) {
      expect([event?.name, event?.header('A'), event?.header('__proto__')]).toEqual(['0', '5', '3'])
      expect(event?.header('constructor')).toBeUndefined()
      expect(variablesOf(event!)).toEqual({ constructor: '4' })
    }
  })

  it('have no value for what is neither text nor a list of texts, however deep it is', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const text = `{"Event-Name":"X","A":${deep},"B":7,"C":{},"D":["a",1],"E":null,"F":"f"}`
    const event = parseEvent('json', Buffer.from(text))
    expect([...'ABCDEF'].map((name) => event?.value(name))).toEqual([...Array(5).fill(undefined), 'f'])
  })

  it('ignore a body after an empty line', () => {
    const event = parseEvent('plain', Buffer.from('Event-Name: X\nContent-Length: 12\n\nUnique-ID: a\n'))
    expect(event?.header('Unique-ID')).toBeUndefined()
    expect(event?.header('Content-Length')).toBe('12')
  })

  it('decode invalid UTF-8 to U+FFFD and keep a lone percent sign', () => {
    const plain = parseEvent(
      'plain',
      Buffer.from('Event-Name: X\nA: Ren%E9 100%25 %zz %\nB: caf\xe9\n\n', 'latin1'),
    )
    expect(plain?.header('A')).toBe('Ren\ufffd 100% %zz %')
    expect(plain?.header('B')).toBe('caf\ufffd')
    const json = parseEvent('json', Buffer.from('{"Event-Name":"X","A":"Ren\xe9 \\ud800 \\u00e9"}', 'latin1'))
    expect(json?.header('A')).toBe('Ren\ufffd \ufffd é')
    const names: string[] = []
    parseEvent('json', Buffer.from('{"Event-Name":"X","variable_\\ud800":"1"}'))?.forEach(
      'variable_',
      (name) => names.push(name),
    )
    expect(names).toEqual(['\ufffd'])
  })

  it('never throw and never hang, for any bytes', () => {
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
        for (const event of [parseEvent('json', body), parseEvent('plain', body)]) {
          if (!event) continue
          for (const name of ['Unique-ID', 'Caller-Channel-Created-Time', 'variable_x']) event.value(name)
          variablesOf(event)
          mappingFor().map(event)
        }
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it.each([
    ['nothing', ''],
    ['an array', '[1]'],
    ['an incomplete object', '{"Event-Name":"CHANNEL_CREATE","Unique-ID":"a'],
    ['an object without a name', '{"Unique-ID":"a"}'],
    ['a name that is not a string', '{"Event-Name":7}'],
  ])('reject %s', (_, text) => {
    expect(parseEvent('json', Buffer.from(text))).toBeUndefined()
  })

  it.each([
    ['nothing', ''],
    ['an incomplete event', 'Event-Name: CHANNEL_CREATE\nUnique-ID: a'],
    ['an event without a name', 'Unique-ID: a\n\n'],
  ])('reject %s in plain', (_, text) => {
    expect(parseEvent('plain', Buffer.from(text))).toBeUndefined()
  })
})

/** The parsers against a direct implementation of the two formats, on random events and random chunks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CommandChannel } from '../../../adapters/telephony/freeswitch/commands.js'
import { type EslEvent, parseEvent } from '../../../adapters/telephony/freeswitch/event.js'
import { createEventStream } from '../../../adapters/telephony/freeswitch/event-stream.js'
import type { EventPipeline } from '../../../adapters/telephony/source/event-pipeline.js'
import type { MappedBatch } from '../../../adapters/telephony/source/mapped-events.js'
import { propertyRuns } from '../../support/property-runs.js'
import { mappingFor } from './freeswitch-mapped.js'
import { bytesOf, messagesOf } from './freeswitch-recorded.js'

type Headers = readonly (readonly [name: string, value: Buffer])[]

const decode = (bytes: Buffer) => bytes.toString('utf8')
const lastOf = (headers: Headers, name: string) => {
  const found = headers.findLast(([known]) => known === name)
  return found && decode(found[1])
}

/** Writes an event like the switch, which does not check that a value is UTF-8. */
const writeJson = (headers: Headers) => {
  const escaped = (bytes: Buffer) =>
    bytes.toString('latin1').replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\u000d')
  const fields = headers.map(([name, value]) => `"${name}":"${escaped(value)}"`)
  return Buffer.from(`{${fields.join(',')}}`, 'latin1')
}
const writePlain = (headers: Headers) => {
  const encode = (bytes: Buffer) =>
    [...bytes].map((byte) =>
      byte > 32 && byte < 127 && byte !== 37
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).padStart(2, '0')}`,
    )
  return Buffer.from(
    `${headers.map(([name, value]) => `${name}: ${encode(value).join('')}\n`).join('')}\n`,
    'latin1',
  )
}
const FORMATS = { json: writeJson, plain: writePlain } as const

const NAMES = [
  'Unique-ID',
  'Other-Leg-Unique-ID',
  'Core-UUID',
  'Caller-Channel-Created-Time',
  'Hangup-Cause',
  'variable_cav_a',
  'variable_ecallmgr_Account-ID',
  'variable_ecallmgr_Account',
  'variable_sip_to_uri',
  'variable_x',
]
/** Text that looks like the end of a value and another header, in either format, and bytes that are not UTF-8. */
const value = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '","Unique-ID":"',
        '\nUnique-ID: ',
        '\\',
        '"',
        '%',
        '%41',
        'é',
        '\r\n',
        ',"variable_x":',
        '',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    ),
    { maxLength: 4 },
  )
  .chain((parts) =>
    fc
      .constantFrom<BufferEncoding>('utf8', 'latin1')
      .map((encoding) => Buffer.from(parts.join(''), encoding)),
  )
  // JSON.parse allows no other control characters, nor does the switch write them.
  .map((bytes) => Buffer.from(bytes.filter((byte) => byte >= 32 || byte === 10 || byte === 13)))
const headers = fc.array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 14 })
const eventName = fc.constantFrom('CHANNEL_CREATE', 'CHANNEL_ANSWER', 'CHANNEL_DESTROY')

describe.each(['json', 'plain'] as const)('%s', (format) => {
  const write = FORMATS[format]

  it('reads the values that were written, the last of several with one name', () => {
    const events = fc.array(fc.tuple(eventName, headers, fc.nat(14), fc.shuffledSubarray(NAMES)), {
      maxLength: 5,
    })
    fc.assert(
      fc.property(events, (all) => {
        for (const [name, others, nameAt, read] of all) {
          // The name is the first header, as the switch writes it, or another one.
          const at = nameAt % 2 === 0 ? 0 : Math.min(nameAt, others.length)
          const written: Headers = others.toSpliced(at, 0, ['Event-Name', Buffer.from(name)])
          const event = parseEvent(format, write(written)) as EslEvent
          expect(event.name).toBe(name)
          for (const one of ['Event-Name', ...read]) {
            expect(event.header(one)).toBe(lastOf(written, one))
          }
          for (const prefix of ['variable_ecallmgr_', 'variable_cav_']) {
            const visited: unknown[] = []
            event.forEach(prefix, (...header) => visited.push(header))
            const expected = new Map(written.filter(([known]) => known.startsWith(prefix)))
            expect(visited).toEqual(
              [...expected].map(([known, bytes]) => [known.slice(prefix.length), decode(bytes)]),
            )
          }
        }
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it('maps a recording to the same batches in chunks of any sizes', () => {
    const whole = bytesOf(format)
    const messages = messagesOf(whole)
    const events = messages.filter(({ type }) => type === `text/event-${format}`)
    const bytes = Buffer.concat(
      events
        .slice(0, 120)
        .flatMap(({ head, body }) => [Buffer.from(`${head.trimEnd()}\n\n`, 'latin1'), body]),
    )
    const expected = batchesOf([bytes])
    expect(expected.length).toBeGreaterThan(50)
    const sizes = fc.array(fc.oneof(fc.nat(30), fc.nat(70_000)), { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(sizes, (all) => {
        const chunks: Buffer[] = []
        let at = 0
        for (const size of all) {
          chunks.push(bytes.subarray(at, at + size))
          at += size
        }
        expect(batchesOf([...chunks, bytes.subarray(at)])).toEqual(expected)
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

it('reads a variable of 1 MiB, and the headers behind it', () => {
  const long = Buffer.alloc(1_048_576, 'a","Unique-ID":"b\nUnique-ID: c%')
  const written: Headers = [
    ['Event-Name', Buffer.from('CHANNEL_ANSWER')],
    ['variable_x', long],
    ['Unique-ID', Buffer.from('d')],
    ['variable_cav_a', Buffer.from('e')],
  ]
  for (const format of ['json', 'plain'] as const) {
    const event = parseEvent(format, FORMATS[format](written)) as EslEvent
    expect(event.header('Unique-ID')).toBe('d')
    expect(event.header('variable_cav_a')).toBe('e')
    expect(event.header('variable_x') === decode(long)).toBe(true)
  }
})

function batchesOf(chunks: readonly Buffer[]): MappedBatch[] {
  const batches: MappedBatch[] = []
  const pipeline = { push: (batch: MappedBatch) => void batches.push(batch) } as unknown as EventPipeline
  const commands = { onReply() {} } as unknown as CommandChannel
  const stream = createEventStream({ pipeline, mapping: mappingFor(), commands })
  for (const chunk of chunks) stream.receive(chunk)
  return batches
}

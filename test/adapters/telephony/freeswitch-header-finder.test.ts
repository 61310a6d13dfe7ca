import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHeaderFinder } from '../../../adapters/telephony/freeswitch/header-finder.js'
import { propertyRuns } from '../../support/property-runs.js'

const syntax = { before: '\n', after: ': ' }
const textOf = (headers: readonly (readonly [string, string])[]) =>
  headers.map(([name, value]) => `\n${name}: ${value}`).join('')

/** Names that are parts, beginnings and ends of each other, and one with every special character. */
const name = fc.constantFrom(
  'Unique-ID',
  'ID',
  'Other-Leg-Unique-ID',
  'Call',
  'Call-Direction',
  'a.b*c(d)[e]{f}|g^h$i+j?k/l',
  'variable_a',
  'variable_a_b',
  'variable_ab',
  'variable_cav_a',
  'cav_a',
)
const prefix = fc.constantFrom('variable_', 'variable_a', 'variable_a_', 'variable_cav_', 'variable_x')

const value = fc.string({ unit: fc.constantFrom('a', ':', ' ', 'ID') })
const headers = fc.array(fc.tuple(name, value), { maxLength: 12 })
const reads = fc.array(fc.oneof(name, prefix), { maxLength: 30 })

it('finds the first header of a name and all of a prefix, whatever was read from earlier events', () => {
  const events = fc.array(fc.tuple(fc.constantFrom('CHANNEL_CREATE', 'CHANNEL_ANSWER'), headers, reads), {
    minLength: 1,
    maxLength: 6,
  })
  fc.assert(
    fc.property(events, (all) => {
      const finder = createHeaderFinder(syntax)
      for (const [eventName, written, read] of all) {
        const text = textOf(written)
        const found = finder.find(eventName, text)
        for (const one of read) {
          const expected = text.indexOf(`\n${one}: `)
          expect(found.valueOf(one)).toBe(expected < 0 ? -1 : expected + one.length + 3)
          const behind = found.behindPrefix(one).map((offset) => text.slice(offset).split(': ', 1)[0])
          const names = written.map(([known]) => known).filter((known) => known.startsWith(one))
          expect(behind).toEqual(names.map((known) => known.slice(one.length)))
        }
      }
    }),
    { numRuns: propertyRuns(500) },
  )
})

it('finds the headers of two events that are read in turn', () => {
  const finder = createHeaderFinder(syntax)
  const one = textOf([
    ['Call', 'x'],
    ['Unique-ID', 'x'],
    ['variable_a', '1'],
    ['variable_ab', '1'],
  ])
  const two = textOf([
    ['Unique-ID', 'x'],
    ['variable_ab', '1'],
    ['Call', 'x'],
    ['variable_a', '1'],
  ])
  const names = ['Unique-ID', 'variable_a', 'Call', 'variable_ab', 'ID']
  for (let round = 0; round < 3; round += 1) {
    const [first, second] = [finder.find('CHANNEL_CREATE', one), finder.find('CHANNEL_CREATE', two)]
    for (const read of names) {
      const offsetIn = (text: string) => (read === 'ID' ? -1 : text.indexOf(`\n${read}: `) + read.length + 3)
      expect([first.valueOf(read), second.valueOf(read)]).toEqual([offsetIn(one), offsetIn(two)])
    }
  }
})

it('finds no header whose name contains a separator', () => {
  const finder = createHeaderFinder(syntax)
  const text = textOf([
    ['Unique-ID', 'a: b'],
    ['Call', 'x'],
  ])
  for (const separated of ['Unique-ID: a', 'a\nCall', 'Unique-ID: a: b\nCall'])
    for (let round = 0; round < 2; round += 1)
      expect(finder.find('CHANNEL_CREATE', text).valueOf(separated)).toBe(-1)
})

it('finds headers under any number of names and in any number of kinds of events', () => {
  const finder = createHeaderFinder(syntax)
  const text = textOf(Array.from({ length: 300 }, (_, i) => [`variable_${i}`, 'x'] as const))
  for (let round = 0; round < 150; round += 1) {
    const found = finder.find(`EVENT_${round}`, text)
    for (const i of [0, round, 299])
      expect(found.valueOf(`variable_${i}`)).toBe(
        text.indexOf(`\nvariable_${i}: `) + `variable_${i}`.length + 3,
      )
  }
  for (let round = 0; round < 2; round += 1) {
    const found = finder.find('EVENT_0', text)
    for (let i = 0; i < 300; i += 1) expect(found.valueOf(`variable_${i}`)).toBeGreaterThan(0)
  }
})

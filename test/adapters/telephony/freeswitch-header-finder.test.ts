import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHeaderFinder } from '../../../adapters/telephony/freeswitch/header-finder.js'
import { propertyRuns } from '../../support/property-runs.js'

const syntax = { before: '\n', beforeLength: 1, after: ': ' }
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

it('finds the same headers in every event, whether it is searched for them by itself or in one pass', () => {
  const headers = fc.uniqueArray(fc.tuple(name, fc.string({ unit: fc.constantFrom('a', ':', ' ', 'ID') })), {
    selector: ([one]) => one,
  })
  const reads = fc.array(fc.oneof(name, prefix), { maxLength: 30 })
  fc.assert(
    fc.property(fc.array(fc.tuple(headers, reads), { minLength: 1, maxLength: 5 }), (events) => {
      const finder = createHeaderFinder(syntax)
      for (const [all, read] of events) {
        const text = textOf(all)
        const found = finder.find(text)
        for (const one of read) {
          const at = found.valueOf(one)
          const expected = text.indexOf(`\n${one}: `)
          if (at !== undefined) expect(at).toBe(expected < 0 ? -1 : expected + one.length + 3)
          const behind = found.behindPrefix(one)?.map((offset) => text.slice(offset).split(': ', 1)[0])
          if (behind === undefined) continue
          const names = all.map(([known]) => known).filter((known) => known.startsWith(one))
          expect(behind).toEqual(names.map((known) => known.slice(one.length)))
        }
      }
    }),
    { numRuns: propertyRuns(500) },
  )
})

it('searches later events for the names that were read, in one pass', () => {
  const finder = createHeaderFinder(syntax)
  const text = textOf([
    ['Unique-ID', 'x'],
    ['variable_a', '1'],
  ])
  expect(finder.find(text).valueOf('variable_a')).toBeUndefined()
  expect(finder.find(text).valueOf('variable_a')).toBe(text.length - 1)
  expect(finder.find(textOf([['Unique-ID', 'x']])).valueOf('variable_a')).toBe(-1)
})

it('remembers a limited number of names', () => {
  const finder = createHeaderFinder(syntax)
  for (let i = 0; i < 1_000; i += 1) finder.find('').valueOf(`variable_${i}`)
  const found = finder.find('')
  const learned = Array.from({ length: 1_000 }, (_, i) => found.valueOf(`variable_${i}`))
  expect(learned.filter((at) => at === -1)).toHaveLength(200)
})

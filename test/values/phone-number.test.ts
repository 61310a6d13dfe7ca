import { describe, expect, it } from 'vitest'
import { normalizeNumber, searchedNumber, spellingsOf } from '../../src/values/phone-number.js'

describe('normalizeNumber', () => {
  it.each([
    ['+49 30 123456', '4930123456'],
    ['0049 30/12-34.56', '4930123456'],
    ['(030) 123456', '030123456'],
    ['sip:+4930123456@pbx.example;user=phone', '4930123456'],
    ['tel:+4930123456;ext=7', '4930123456'],
    ['SIPS:1001@pbx.example', '1001'],
    ['1001', '1001'],
    ['007', '007'],
    ['00', '00'],
    ['Alice@pbx.example', 'alice'],
    [' alice ', 'alice'],
    ['call-group.sales', 'call-group.sales'],
    ['*72', '*72'],
    ['9'.repeat(64), '9'.repeat(64)],
  ])('%s is %s', (text, number) => {
    expect(normalizeNumber(text)).toBe(number)
  })

  it.each(['', ' ', '@pbx.example', 'sip:@pbx.example', '+', 'x'.repeat(65), '9'.repeat(65)])(
    '"%s" is no number',
    (text) => {
      expect(normalizeNumber(text)).toBeUndefined()
    },
  )

  it.each([
    ['+49 30 123456', '4930123456'],
    ['Alice@pbx.example', 'Alice'],
    ['Zoë', 'Zoë'],
    ['12', undefined],
    ['Alice Smith', undefined],
    ['a"b"c', undefined],
    ['a\\b\\c', undefined],
    [7_654_321, undefined],
  ])('searches %s as %s', (text, number) => {
    expect(searchedNumber(text)).toBe(number)
  })

  it('knows the spellings of a number', () => {
    expect(spellingsOf('4930123456')).toEqual(['4930123456', '004930123456'])
    expect([spellingsOf('1001'), spellingsOf('alice')]).toEqual([['1001'], ['alice']])
  })

  it('takes linear time for long texts', () => {
    for (const text of [' '.repeat(1e6), '+'.repeat(1e6), `${'('.repeat(1e6)}1`])
      expect(normalizeNumber(text)).toBeUndefined()
  })
})

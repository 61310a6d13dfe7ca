import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTraceparent } from '../../src/values/traceparent.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

const hex = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: length, maxLength: length })
    .map((digits) => digits.map((digit) => digit.toString(16)).join(''))

describe('a traceparent', () => {
  it('of version 00 goes on as it is, whatever its flags', () => {
    for (const flags of ['00', '01', '02', 'ff']) {
      const text = `00-${TRACE}-${SPAN}-${flags}`
      expect(readTraceparent(text)).toBe(text)
    }
  })

  it('of a later version goes on as version 00, with the flag that we know', () => {
    expect(readTraceparent(`01-${TRACE}-${SPAN}-01`)).toBe(`00-${TRACE}-${SPAN}-01`)
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-fe-what-the-future-brings`)).toBe(`00-${TRACE}-${SPAN}-00`)
    expect(readTraceparent(`fe-${TRACE}-${SPAN}-ff-`)).toBe(`00-${TRACE}-${SPAN}-01`)
  })

  it.each([
    ['nothing', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with more behind it', `00-${TRACE}-${SPAN}-01-x`],
    ['a later version with more that no dash parts from it', `01-${TRACE}-${SPAN}-01x`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a trace id that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a span id that is too long', `00-${TRACE}-${SPAN}0-01`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['a space before it', ` 00-${TRACE}-${SPAN}-01`],
    ['a line feed behind it', `00-${TRACE}-${SPAN}-01\n`],
    ['a header smuggled in behind a later version', `01-${TRACE}-${SPAN}-01-\r\nx: y`],
    ['two headers joined', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['another type', 7],
    ['a list', [`00-${TRACE}-${SPAN}-01`]],
    ['null', null],
  ])('is none: %s', (_, text) => {
    expect(readTraceparent(text)).toBeUndefined()
  })

  it('that goes on is 55 characters of version 00 in the same trace, and goes on again', () => {
    const parts = fc.tuple(hex(2), hex(32), hex(16), hex(2), fc.option(fc.string(), { nil: undefined }))
    fc.assert(
      fc.property(parts, ([version, traceId, spanId, flags, more]) => {
        const text = `${version}-${traceId}-${spanId}-${flags}${more === undefined ? '' : `-${more}`}`
        const read = readTraceparent(text)
        if (read === undefined) return
        expect(read).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
        expect(read.slice(3, 52)).toBe(`${traceId}-${spanId}`)
        expect(readTraceparent(read)).toBe(read)
      }),
    )
  })

  it('is looked for in any text without throwing', () => {
    fc.assert(fc.property(fc.anything(), (value) => void readTraceparent(value)))
  })
})

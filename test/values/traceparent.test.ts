import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTraceparent } from '../../src/values/traceparent.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

const hex = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: length, maxLength: length })
    .map((digits) => digits.map((digit) => digit.toString(16)).join(''))

describe('parseTraceparent', () => {
  it('returns version 00 unchanged, with any flags', () => {
    for (const flags of ['00', '01', '02', 'ff']) {
      const text = `00-${TRACE}-${SPAN}-${flags}`
      expect(parseTraceparent(text)).toBe(text)
    }
  })

  it('reduces a later version to version 00 and its known flag', () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01`)).toBe(`00-${TRACE}-${SPAN}-01`)
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-fe-what-the-future-brings`)).toBe(`00-${TRACE}-${SPAN}-00`)
    expect(parseTraceparent(`fe-${TRACE}-${SPAN}-ff-`)).toBe(`00-${TRACE}-${SPAN}-01`)
  })

  it.each([
    ['an empty string', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['version 00 with trailing data', `00-${TRACE}-${SPAN}-01-x`],
    ['a later version with trailing data but no dash', `01-${TRACE}-${SPAN}-01x`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['an all-zero trace id', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['an all-zero span id', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a trace id that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a span id that is too long', `00-${TRACE}-${SPAN}0-01`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['a leading space', ` 00-${TRACE}-${SPAN}-01`],
    ['a trailing line feed', `00-${TRACE}-${SPAN}-01\n`],
    ['a header injected after a later version', `01-${TRACE}-${SPAN}-01-\r\nx: y`],
    ['two joined headers', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['a number', 7],
    ['a list', [`00-${TRACE}-${SPAN}-01`]],
    ['null', null],
  ])('rejects %s', (_, text) => {
    expect(parseTraceparent(text)).toBeUndefined()
  })

  it('returns 55 characters of version 00 with the same trace and span, and is idempotent', () => {
    const parts = fc.tuple(hex(2), hex(32), hex(16), hex(2), fc.option(fc.string(), { nil: undefined }))
    fc.assert(
      fc.property(parts, ([version, traceId, spanId, flags, more]) => {
        const text = `${version}-${traceId}-${spanId}-${flags}${more === undefined ? '' : `-${more}`}`
        const read = parseTraceparent(text)
        if (read === undefined) return
        expect(read).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
        expect(read.slice(3, 52)).toBe(`${traceId}-${spanId}`)
        expect(parseTraceparent(read)).toBe(read)
      }),
    )
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.anything(), (value) => void parseTraceparent(value)))
  })
})

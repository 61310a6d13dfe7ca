/**
 * Hostile texts for property tests. fast-check's own unit `binary`, which its `webUrl` uses too, first makes a table of
 * every code point there is: a second and a half, in every process of a run.
 */
import fc from 'fast-check'

const SURROGATES = 0x800
const FIRST_SURROGATE = 0xd800
const CODE_POINTS = 0x110000 - SURROGATES
/** The simplest of them, to which a failure is made smaller. */
const SIMPLEST = 0x61

/** Every code point but the halves of surrogate pairs, which are no text. */
export const anyCodePoint = fc.nat(CODE_POINTS - 1).map(
  (place) => {
    const turned = (place + SIMPLEST) % CODE_POINTS
    return String.fromCodePoint(turned < FIRST_SURROGATE ? turned : turned + SURROGATES)
  },
  (char) => {
    const point = typeof char === 'string' ? char.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== char) throw new TypeError('no code point')
    const turned = point < FIRST_SURROGATE ? point : point - SURROGATES
    return (turned - SIMPLEST + CODE_POINTS) % CODE_POINTS
  },
)

/** Texts of every code point, and those that are special to objects: `__proto__`, `toString`. */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}) =>
  fc.string({ ...constraints, unit: anyCodePoint })

const segment = fc.string({
  unit: fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom(..."abcxyzABCXYZ0123456789-._~!$&'()*+,;=:@") },
    { weight: 1, arbitrary: anyCodePoint.map(encodeURIComponent) },
  ),
})
const path = fc.array(segment, { maxLength: 6 }).map((parts) => parts.map((part) => `/${part}`).join(''))
const extra = (sign: string) =>
  fc.option(segment, { nil: undefined }).map((text) => (text === undefined ? '' : sign + text))

/** URLs of the web as RFC 3986 writes them, with a query and a fragment or without. */
export const webUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), path, extra('?'), extra('#'))
  .map(([scheme, host, ...rest]) => `${scheme}://${host}${rest.join('')}`)

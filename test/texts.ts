/**
 * Hostile texts for property tests. fast-check's own unit `binary`, which its `webUrl` uses too, first makes a table of
 * every code point there is: a second and a half, in every process of a run.
 */
import fc from 'fast-check'

const SURROGATES = 0x800
const FIRST_SURROGATE = 0xd800
const CODE_POINTS = 0x110000 - SURROGATES

/** Every code point but the halves of surrogate pairs, which are no text; the ends, NUL and such, more often. */
const anyCodePoint = fc.nat(CODE_POINTS - 1).map(
  (place) => String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES),
  (char) => {
    const point = typeof char === 'string' ? char.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== char) throw new TypeError('no code point')
    return point < FIRST_SURROGATE ? point : point - SURROGATES
  },
)
/** What means something to those who read lines, JSON, URLs, headers or forms, and the simplest letter. */
const special = fc.constantFrom(...'a \0\t\n\r\x1b\x7f"\\%/?#&=;:,<>{}[]\u0085\u2028\ufeff\uffff\u{10ffff}')
const hostileUnit = fc.oneof({ weight: 3, arbitrary: anyCodePoint }, { weight: 1, arbitrary: special })

/** Texts of every code point, and those that are special to objects: `__proto__`, `toString`. */
export const anyText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}) =>
  fc.string({ ...constraints, unit: hostileUnit })

const PLAIN = "abcxyzABCXYZ0123456789-._~!$&'()*+,;=:@"
const ofUrl = (alphabet: string) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom(...alphabet) },
    { weight: 1, arbitrary: anyCodePoint.map(encodeURIComponent) },
  )
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: ofUrl(PLAIN) }) },
  { weight: 1, arbitrary: fc.constantFrom('', '.', '..') },
)
const path = fc.array(segment, { maxLength: 6 }).map((parts) => parts.map((part) => `/${part}`).join(''))
const rest = fc.string({ unit: ofUrl(`${PLAIN}/?`) })
const extra = (sign: string) =>
  fc.option(rest, { nil: undefined }).map((text) => (text === undefined ? '' : sign + text))

/** URLs of the web as RFC 3986 writes them, with a query and a fragment or without. */
export const webUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), path, extra('?'), extra('#'))
  .map(([scheme, host, ...parts]) => `${scheme}://${host}${parts.join('')}`)

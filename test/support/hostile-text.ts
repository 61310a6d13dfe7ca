/**
 * Hostile strings and URLs for property tests. Replaces fast-check's unit `binary`, which its `webUrl` uses too: it builds
 * a table of all code points, which takes 1.5 s in every process of a run.
 */
import fc from 'fast-check'

const SURROGATES = 0x800
const FIRST_SURROGATE = 0xd800
const CODE_POINTS = 0x110000 - SURROGATES

/** Every code point except surrogates; both ends of the range (NUL, …) more often. */
const anyCodePoint = fc.nat(CODE_POINTS - 1).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (char) => {
    const point = typeof char === 'string' ? char.codePointAt(0) : undefined
    if (point === undefined || String.fromCodePoint(point) !== char) throw new TypeError('not a code point')
    return point < FIRST_SURROGATE ? point : point - SURROGATES
  },
)
/** Characters with a meaning in lines, JSON, URLs, headers or forms, and a plain letter. */
const special = fc.constantFrom(...'a \0\t\n\r\x1b\x7f"\\%/?#&=;:,<>{}[]\u0085\u2028\ufeff\uffff\u{10ffff}')
const hostileUnit = fc.oneof({ weight: 3, arbitrary: anyCodePoint }, { weight: 1, arbitrary: special })

/** Strings of any code points, and names that objects inherit: `__proto__`, `toString`. */
export const hostileText = (constraints: Omit<fc.StringConstraints, 'unit'> = {}) =>
  fc.string({ ...constraints, unit: hostileUnit })

const PLAIN = "abcxyzABCXYZ0123456789-._~!$&'()*+,;=:@"
const urlUnit = (alphabet: string) =>
  fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom(...alphabet) },
    { weight: 1, arbitrary: anyCodePoint.map(encodeURIComponent) },
  )
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: urlUnit(PLAIN) }) },
  { weight: 1, arbitrary: fc.constantFrom('', '.', '..') },
)
const path = fc.array(segment, { maxLength: 6 }).map((parts) => parts.map((part) => `/${part}`).join(''))
const rest = fc.string({ unit: urlUnit(`${PLAIN}/?`) })
const extra = (sign: string) =>
  fc.option(rest, { nil: undefined }).map((text) => (text === undefined ? '' : sign + text))

/** HTTP and HTTPS URLs (RFC 3986), with or without query and fragment. */
export const webUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), path, extra('?'), extra('#'))
  .map(([scheme, host, ...parts]) => `${scheme}://${host}${parts.join('')}`)

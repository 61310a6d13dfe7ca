// @ts-check
/** What may be done to the values of a JSON body. */

/** @typedef {import('./operations.js').Random} Random */

/** @param {number} depth */
function deep(depth) {
  /** @type {unknown} */
  let value = 1
  for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { a: value }
  return value
}

const VALUES = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  9_007_199_254_740_992,
  '',
  ' ',
  '0x10',
  '1e400',
  '3',
  'true',
  'all',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u2028',
  '\ufeff',
  'x'.repeat(256),
  'x'.repeat(70_000),
  [],
  {},
  [[]],
  [{}],
  { '': '' },
  deep(29),
  deep(31),
  deep(40),
  deep(200),
  'http://127.0.0.1/',
  'http://[::ffff:10.0.0.1]/',
  'http://user:pass@example.com/',
  'javascript:alert(1)',
  'https://example.com/\u0000',
  'https://ex%61mple.com:99999/',
  'https://xn--/',
  new Array(2_000).fill(0),
]
const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'prototype',
  '_id',
  'pvt_x',
  'id',
  'data',
  'enabled',
  '',
  'a.b',
  'x'.repeat(300),
  '\u0000',
]

/** Every place of a value that can be replaced. @param {unknown} value @returns {{ holder: any, key: string | number }[]} */
function places(value) {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [{ holder: value, key }, ...places(inner)])
}

/**
 * The body with one to three values or keys changed.
 *
 * @param {unknown} body
 * @param {Random} random
 */
export function changedBody(body, random) {
  const copy = structuredClone(body ?? { data: {} })
  for (let n = random.integer(1, 3); n > 0; n -= 1) {
    const all = places(copy)
    if (all.length === 0) break
    const { holder, key } = random.pick(all)
    const what = random.pick(['replace', 'replace', 'remove', 'add', 'move', 'wrap'])
    if (what === 'replace') holder[key] = structuredClone(random.pick(VALUES))
    else if (what === 'remove') delete holder[key]
    else if (what === 'move') holder[key] = structuredClone(random.pick(all).holder)
    else if (what === 'wrap') holder[key] = [holder[key]]
    else if (!Array.isArray(holder)) {
      // An own property even where the name is that of the prototype.
      Object.defineProperty(holder, random.pick(KEYS), {
        value: structuredClone(random.pick(VALUES)),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
  }
  return copy
}

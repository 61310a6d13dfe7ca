// @ts-check
/** Mutations of the values and keys of a JSON body. */

/** @typedef {import('./operations.js').Random} Random */

/** @param {number} depth */
function nestedValue(depth) {
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
  nestedValue(29),
  nestedValue(31),
  nestedValue(40),
  nestedValue(200),
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

/** Returns every entry of a value, at any depth. @param {unknown} value @returns {{ holder: any, key: string | number }[]} */
function mutableEntries(value) {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [{ holder: value, key }, ...mutableEntries(inner)])
}

/**
 * Returns a copy of the body with one to three changed values or keys.
 *
 * @param {unknown} body
 * @param {Random} random
 */
export function mutateBody(body, random) {
  const copy = structuredClone(body ?? { data: {} })
  for (let n = random.integer(1, 3); n > 0; n -= 1) {
    const entries = mutableEntries(copy)
    if (entries.length === 0) break
    const { holder, key } = random.pick(entries)
    const change = random.pick(['replace', 'replace', 'remove', 'add', 'move', 'wrap'])
    if (change === 'replace') holder[key] = structuredClone(random.pick(VALUES))
    else if (change === 'remove') delete holder[key]
    else if (change === 'move') holder[key] = structuredClone(random.pick(entries).holder)
    else if (change === 'wrap') holder[key] = [holder[key]]
    else if (!Array.isArray(holder)) {
      // Defines an own property, even for a name of the prototype.
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

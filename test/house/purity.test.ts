import { describe, expect, it } from 'vitest'
import { code, sourceFiles } from './sources.js'

/** Folders whose files are decisions or operations over injected dependencies. */
const PURE_FOLDERS = ['src/values', 'src/accounts', 'src/auth', 'src/webhooks', 'src/delivery', 'src/wire']

/** Files that use the deterministic, synchronous functions of node:crypto. */
const USES_CRYPTO = ['src/values/hash.ts', 'src/values/encryption.ts']

const IMPURE: readonly (readonly [string, RegExp])[] = [
  ['the time', /\bDate\b|\bperformance\b/],
  ['randomness', /Math\.random|randomBytes|randomUUID/],
  ['timers', /\bset(?:Timeout|Interval|Immediate)\b/],
  ['the process', /\bprocess\./],
  ['the network', /\bfetch\(/],
]

/** Files of `src` that may use real time: the system clock, sockets, test equipment, and a receiver's `verify`. */
const USES_REAL_TIME = [
  /^src\/runtime\/(clock|verify)\.ts$/,
  /^src\/send\//,
  /^src\/testkit\//,
  /^src\/simulator\//,
]

describe('purity', () => {
  it('decisions read no clock, randomness, process or network', () => {
    const violations = sourceFiles(...PURE_FOLDERS).flatMap((path) => {
      const text = code(path)
      const modules = [...text.matchAll(/['"](node:[^'"]+)['"]/g)]
        .map((match) => match[1]!)
        .filter((name) => !(name === 'node:crypto' && USES_CRYPTO.includes(path)))
      return [
        ...IMPURE.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${path} uses ${what}`),
        ...modules.map((name) => `${path} imports ${name}`),
      ]
    })
    expect(violations).toEqual([])
  })

  it('time passes only through the injected clock', () => {
    const violations = sourceFiles('src')
      .filter((path) => !USES_REAL_TIME.some((pattern) => pattern.test(path)))
      .filter((path) => /\bset(?:Timeout|Interval|Immediate)\b|Date\.now|performance\.now/.test(code(path)))
    expect(violations).toEqual([])
  })
})

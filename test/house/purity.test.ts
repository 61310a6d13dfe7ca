import { describe, expect, it } from 'vitest'
import { code, sourceFiles } from './sources.js'

/** Folders of decisions; the verbs and doors in them are named, everything else in them is pure. */
const DECIDING = ['src/values', 'src/accounts', 'src/auth', 'src/webhooks', 'src/delivery', 'src/wire']

/** Deterministic functions of node:crypto, used synchronously: values in, values out. */
const CRYPTO_ALONE = ['src/values/digest.ts', 'src/values/seal.ts']

const IMPURE: readonly (readonly [string, RegExp])[] = [
  ['the time', /\bDate\b|\bperformance\b/],
  ['chance', /Math\.random|randomBytes|randomUUID/],
  ['timers', /\bset(?:Timeout|Interval|Immediate)\b/],
  ['the process', /\bprocess\./],
  ['the network', /\bfetch\(/],
]

describe('decisions read no clock, no chance and no machine', () => {
  for (const path of sourceFiles(...DECIDING)) {
    it(path, () => {
      const text = code(path)
      for (const [what, pattern] of IMPURE) expect(text, what).not.toMatch(pattern)
      const modules = [...text.matchAll(/['"](node:[^'"]+)['"]/g)].map((match) => match[1])
      expect(modules).toEqual(CRYPTO_ALONE.includes(path) ? ['node:crypto'] : [])
    })
  }
})

describe('time passes through the clock door alone', () => {
  /** The real clock; sockets; doubles of them; a receiver's check of now; a limit to waiting for a real store. */
  const MAY = [
    /^src\/clock\.ts$/,
    /^src\/send\//,
    /^src\/testkit\//,
    /^src\/verify\.ts$/,
    /^src\/store\/conformance\/wakeups\.ts$/,
  ]
  for (const path of sourceFiles('src')) {
    if (MAY.some((pattern) => pattern.test(path))) continue
    it(path, () => {
      expect(code(path)).not.toMatch(/\bset(?:Timeout|Interval|Immediate)\b|Date\.now|performance\.now/)
    })
  }
})

import fc from 'fast-check'
import { seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  generateToken,
  hashToken,
  isUnexpired,
  isWellFormedToken,
  newTokenRow,
} from '../../src/auth/token.js'

const holder = { accountId: 'a', userId: 'u', credentialVersion: 'v' }

describe('a token', () => {
  it('is 43 characters that need no escaping, for any random bytes', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seededRandom(seed)
        const token = generateToken((count) => random.bytes(count))
        expect(isWellFormedToken(token)).toBe(true)
        expect(encodeURIComponent(token)).toBe(token)
      }),
    )
  })

  it('uses every character of its alphabet equally often and never repeats', () => {
    const tokens = Array.from({ length: 2000 }, (_, index) =>
      generateToken((count) => seededRandom(index).bytes(count)),
    )
    expect(new Set(tokens).size).toBe(tokens.length)
    const seen = new Map<string, number>()
    for (const character of tokens.join('')) seen.set(character, (seen.get(character) ?? 0) + 1)
    expect(seen.size).toBe(64)
    const mean = (2000 * 43) / 64
    for (const count of seen.values()) expect(Math.abs(count - mean)).toBeLessThan(mean * 0.2)
  })

  it('is not well-formed with other characters or another length', () => {
    const token = generateToken((count) => new Uint8Array(count))
    for (const other of [
      '',
      `${token}a`,
      token.slice(1),
      `${token}\n`,
      `${token.slice(1)}=`,
      undefined,
      [token],
      7,
    ]) {
      expect(isWellFormedToken(other)).toBe(false)
    }
  })

  it('is stored only as a hash', () => {
    const token = generateToken((count) => new Uint8Array(count).fill(5))
    const row = newTokenRow(token, holder, 1_000, 60_000)
    expect(row).toEqual({
      hash: hashToken(token),
      accountId: 'a',
      userId: 'u',
      credentialVersion: 'v',
      issuedMs: 1_000,
      expiresMs: 61_000,
    })
    expect(JSON.stringify(row)).not.toContain(token)
  })

  it('is unexpired until the millisecond of its expiry, even if the clock was set back', () => {
    const row = newTokenRow('t', holder, 1_000, 60_000)
    expect(isUnexpired(row, 60_999)).toBe(true)
    expect(isUnexpired(row, 61_000)).toBe(false)
    expect(isUnexpired(row, 0)).toBe(true)
  })
})

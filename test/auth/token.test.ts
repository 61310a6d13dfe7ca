import fc from 'fast-check'
import { seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { isLive, isToken, newToken, tokenHash, tokenRow } from '../../src/auth/token.js'

const holder = { accountId: 'a', userId: 'u', credentialVersion: 'v' }

describe('a token', () => {
  it('is 43 characters that need no escaping, whatever its bytes', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seededRandom(seed)
        const token = newToken((count) => random.bytes(count))
        expect(isToken(token)).toBe(true)
        expect(encodeURIComponent(token)).toBe(token)
      }),
    )
  })

  it('uses every character of its alphabet alike, and is never given twice', () => {
    const tokens = Array.from({ length: 2000 }, (_, index) =>
      newToken((count) => seededRandom(index).bytes(count)),
    )
    expect(new Set(tokens).size).toBe(tokens.length)
    const seen = new Map<string, number>()
    for (const character of tokens.join('')) seen.set(character, (seen.get(character) ?? 0) + 1)
    expect(seen.size).toBe(64)
    const mean = (2000 * 43) / 64
    for (const count of seen.values()) expect(Math.abs(count - mean)).toBeLessThan(mean * 0.2)
  })

  it('is nothing else', () => {
    const token = newToken((count) => new Uint8Array(count))
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
      expect(isToken(other)).toBe(false)
    }
  })

  it('is kept by its hash alone', () => {
    const token = newToken((count) => new Uint8Array(count).fill(5))
    const row = tokenRow(token, holder, 1_000, 60_000)
    expect(row).toEqual({
      hash: tokenHash(token),
      accountId: 'a',
      userId: 'u',
      credentialVersion: 'v',
      issuedMs: 1_000,
      expiresMs: 61_000,
    })
    expect(JSON.stringify(row)).not.toContain(token)
  })

  it('lives until its time is over, to the millisecond, also when the clock was set back', () => {
    const row = tokenRow('t', holder, 1_000, 60_000)
    expect(isLive(row, 60_999)).toBe(true)
    expect(isLive(row, 61_000)).toBe(false)
    expect(isLive(row, 0)).toBe(true)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLive, isToken, tokenHash, tokenRow, tokenText } from '../../src/auth/token.js'

const holder = { accountId: 'a', userId: 'u', credentialVersion: 'v' }

describe('a token', () => {
  it('is 43 characters of base64url, whatever its bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const token = tokenText(bytes)
        expect(isToken(token)).toBe(true)
        expect(Buffer.from(token, 'base64url')).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('is nothing else', () => {
    const token = tokenText(new Uint8Array(32))
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
    const token = tokenText(new Uint8Array(32).fill(5))
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

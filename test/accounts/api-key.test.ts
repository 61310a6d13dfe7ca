import { describe, expect, it } from 'vitest'
import {
  decryptApiKey,
  encryptApiKey,
  formatApiKey,
  hashApiKey,
  isApiKey,
} from '../../src/accounts/api-key.js'
import { createSecretCipher } from '../../src/values/encryption.js'

const cipher = createSecretCipher(['sixteen or more characters'])
const nonce = new Uint8Array(12).fill(7)
const key = formatApiKey(new Uint8Array(32).fill(0xab))

describe('an API key', () => {
  it('is 32 random bytes as 64 lower-case hex digits', () => {
    expect(key).toBe('ab'.repeat(32))
    expect(isApiKey(key)).toBe(true)
  })

  it('imported by a host may have 32 to 128 of the characters of an id', () => {
    expect(isApiKey('x'.repeat(31))).toBe(false)
    expect(isApiKey('aZ0_-xyz'.repeat(4))).toBe(true)
    expect(isApiKey('x'.repeat(128))).toBe(true)
    expect(isApiKey('x'.repeat(129))).toBe(false)
    expect(isApiKey(`${'x'.repeat(40)}\n`)).toBe(false)
    expect(isApiKey(`${'x'.repeat(40)} `)).toBe(false)
  })

  it('is stored as a hash and a ciphertext that decrypts only for its account', () => {
    const row = encryptApiKey(cipher, 'a1', key, 'v1', nonce)
    expect(row).toMatchObject({ accountId: 'a1', hash: hashApiKey(key), version: 'v1' })
    expect(JSON.stringify(row)).not.toContain(key)
    expect(decryptApiKey(cipher, row)).toBe(key)
    expect(decryptApiKey(cipher, { ...row, accountId: 'a2' })).toBeUndefined()
    expect(decryptApiKey(createSecretCipher(['another secret, as long']), row)).toBeUndefined()
    expect(
      decryptApiKey(createSecretCipher(['another secret, as long', 'sixteen or more characters']), row),
    ).toBe(key)
  })
})

import { describe, expect, it } from 'vitest'
import { apiKeyHash, apiKeyRow, apiKeyText, isApiKey, openApiKey } from '../../src/accounts/api-key.js'
import { secretBox } from '../../src/values/seal.js'

const box = secretBox(['sixteen or more characters'])
const nonce = new Uint8Array(12).fill(7)
const key = apiKeyText(new Uint8Array(32).fill(0xab))

describe('API keys', () => {
  it('are 64 lower-case hex digits of 32 random bytes', () => {
    expect(key).toBe('ab'.repeat(32))
    expect(isApiKey(key)).toBe(true)
  })

  it('of a host that moves in may have 32 to 128 of the characters of an id', () => {
    expect(isApiKey('x'.repeat(31))).toBe(false)
    expect(isApiKey('aZ0_-xyz'.repeat(4))).toBe(true)
    expect(isApiKey('x'.repeat(128))).toBe(true)
    expect(isApiKey('x'.repeat(129))).toBe(false)
    expect(isApiKey(`${'x'.repeat(40)}\n`)).toBe(false)
    expect(isApiKey(`${'x'.repeat(40)} `)).toBe(false)
  })

  it('are kept as a hash and as a ciphertext that opens for their account only', () => {
    const row = apiKeyRow(box, 'a1', key, 'v1', nonce)
    expect(row).toMatchObject({ accountId: 'a1', hash: apiKeyHash(key), version: 'v1' })
    expect(JSON.stringify(row)).not.toContain(key)
    expect(openApiKey(box, row)).toBe(key)
    expect(openApiKey(box, { ...row, accountId: 'a2' })).toBeUndefined()
    expect(openApiKey(secretBox(['another secret, as long']), row)).toBeUndefined()
    expect(openApiKey(secretBox(['another secret, as long', 'sixteen or more characters']), row)).toBe(key)
  })
})

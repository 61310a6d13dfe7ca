import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSecretCipher } from '../../src/values/encryption.js'

const text = fc.string({ unit: 'grapheme' })
const nonces = fc.uint8Array({ minLength: 12, maxLength: 12 })

describe('createSecretCipher', () => {
  const cipher = createSecretCipher(['first secret of many', 'the secret before it'])

  it('decrypts what it encrypted, for the same purpose only', () => {
    fc.assert(
      fc.property(text, text, text, nonces, (plain, purpose, other, nonce) => {
        const sealed = cipher.encrypt(plain, purpose, nonce)
        expect(cipher.decrypt(sealed, purpose)).toBe(plain)
        if (other !== purpose) expect(cipher.decrypt(sealed, other)).toBeUndefined()
      }),
    )
  })

  it('decrypts what an earlier secret encrypted, but not what an unknown one did', () => {
    const nonce = new Uint8Array(12)
    const older = createSecretCipher(['the secret before it']).encrypt('x', 'p', nonce)
    expect(cipher.decrypt(older, 'p')).toBe('x')
    expect(
      createSecretCipher(['the secret before it']).decrypt(cipher.encrypt('x', 'p', nonce), 'p'),
    ).toBeUndefined()
    expect(
      cipher.decrypt(createSecretCipher(['a foreign secret']).encrypt('x', 'p', nonce), 'p'),
    ).toBeUndefined()
  })

  it('rejects modified and arbitrary ciphertexts without throwing', () => {
    const arbitrary = fc.oneof(
      text,
      text.map((rest) => `v1.${rest}`),
      fc.base64String().map((rest) => `v1.${rest}`),
    )
    fc.assert(
      fc.property(arbitrary, (sealed) => {
        expect(cipher.decrypt(sealed, 'p')).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(
        text,
        nonces,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (plain, nonce, position, mask) => {
          const bytes = Buffer.from(cipher.encrypt(plain, 'p', nonce).slice(3), 'base64url')
          bytes[position % bytes.length]! ^= mask
          expect(cipher.decrypt(`v1.${bytes.toString('base64url')}`, 'p')).toBeUndefined()
        },
      ),
    )
  })

  it('does not reveal the plain text', () => {
    const sealed = cipher.encrypt('plain-text-in-here', 'p', new Uint8Array(12))
    expect(Buffer.from(sealed.slice(3), 'base64url').includes('plain-text')).toBe(false)
    expect(cipher.encrypt('x', 'p', new Uint8Array(12).fill(1))).not.toBe(
      cipher.encrypt('x', 'p', new Uint8Array(12)),
    )
  })

  it('derives one fingerprint per secret, in the order of the secrets', () => {
    const [first, second, ...others] = cipher.fingerprints('user:password')
    expect(others).toEqual([])
    expect(createSecretCipher(['first secret of many']).fingerprints('user:password')).toEqual([first])
    expect(createSecretCipher(['the secret before it']).fingerprints('user:password')).toEqual([second])
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(cipher.fingerprints('user:passwort')[0]).not.toBe(first)
  })
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  deriveCredentialKeys,
  deriveLookupKeys,
  hasCredential,
  hasPassword,
  parseCredentialDigest,
} from '../../src/accounts/credential.js'
import type { User } from '../../src/accounts/user.js'
import { createSecretCipher } from '../../src/values/encryption.js'

const OLD = 'the secret of last year'
const NEW = 'the secret of this year'
const cipher = createSecretCipher([NEW])
const hex = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('hex')

function userWith(keys: readonly string[], username = 'Bob'): User {
  return {
    id: 'u1',
    accountId: 'a1',
    username,
    credentialKeys: keys,
    credentialVersion: '1',
    createdMs: 0,
    modifiedMs: 0,
  }
}

describe('the digest that a client sends', () => {
  it('is accepted in any case and normalised to lower case', () => {
    const digest = hex('md5', 'bob:pw')
    expect(parseCredentialDigest('md5', digest.toUpperCase())).toBe(digest)
  })

  it('is invalid when it has the length of the other method or is not hex', () => {
    expect(parseCredentialDigest('sha', hex('md5', 'bob:pw'))).toBeUndefined()
    expect(parseCredentialDigest('md5', hex('sha1', 'bob:pw'))).toBeUndefined()
    expect(parseCredentialDigest('md5', 'g'.repeat(32))).toBeUndefined()
    expect(parseCredentialDigest('md5', `${'a'.repeat(32)}\n`)).toBeUndefined()
    expect(parseCredentialDigest('md5', '')).toBeUndefined()
  })
})

describe('credential keys', () => {
  it('match MD5 and SHA-1 of the user name as typed and lower-cased, and nothing else', () => {
    const user = userWith(deriveCredentialKeys(cipher, 'a1', 'Bob', 'Pw'))
    const matches = (method: 'md5' | 'sha', text: string) =>
      hasCredential(
        user,
        deriveLookupKeys(cipher, ['a1'], method, hex(method === 'md5' ? 'md5' : 'sha1', text)),
      )
    for (const method of ['md5', 'sha'] as const) {
      expect(matches(method, 'Bob:Pw')).toBe(true)
      expect(matches(method, 'bob:Pw')).toBe(true)
      expect(matches(method, 'BOB:Pw')).toBe(false)
      expect(matches(method, 'Bob:pw')).toBe(false)
      expect(matches(method, 'Bob:Pw ')).toBe(false)
    }
    expect(user.credentialKeys).toHaveLength(4)
  })

  it('are two instead of four for a lower-case user name', () => {
    expect(deriveCredentialKeys(cipher, 'a1', 'bob', 'pw')).toHaveLength(2)
  })

  it('differ between accounts for the same credentials', () => {
    const here = deriveCredentialKeys(cipher, 'a1', 'bob', 'pw')
    const there = deriveCredentialKeys(cipher, 'a2', 'bob', 'pw')
    expect(here.some((key) => there.includes(key))).toBe(false)
  })

  it('are stored under the first secret and found under every one', () => {
    const stored = deriveCredentialKeys(createSecretCipher([OLD]), 'a1', 'bob', 'pw')
    const digest = hex('md5', 'bob:pw')
    const rotated = createSecretCipher([NEW, OLD])
    expect(hasCredential(userWith(stored), deriveLookupKeys(rotated, ['a1'], 'md5', digest))).toBe(true)
    expect(hasCredential(userWith(stored), deriveLookupKeys(cipher, ['a1'], 'md5', digest))).toBe(false)
    expect(deriveCredentialKeys(rotated, 'a1', 'bob', 'pw')).toEqual(
      deriveCredentialKeys(cipher, 'a1', 'bob', 'pw'),
    )
  })

  it('contain no digest of any user name and password', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4 }), fc.string({ minLength: 4 }), (username, password) => {
        const text = JSON.stringify(deriveCredentialKeys(cipher, 'a1', username, password))
        for (const name of [username, username.toLowerCase()]) {
          expect(text).not.toContain(hex('md5', `${name}:${password}`))
          expect(text).not.toContain(hex('sha1', `${name}:${password}`))
        }
        expect(
          hasPassword(
            cipher,
            userWith(deriveCredentialKeys(cipher, 'a1', username, password), username),
            password,
          ),
        ).toBe(true)
        expect(
          hasPassword(
            cipher,
            userWith(deriveCredentialKeys(cipher, 'a1', username, password), username),
            `${password}x`,
          ),
        ).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  credentialDigest,
  credentialKeys,
  credentialLookupKeys,
  hasCredential,
  hasPassword,
} from '../../src/accounts/credential.js'
import type { User } from '../../src/accounts/user.js'
import { secretBox } from '../../src/values/seal.js'

const OLD = 'the secret of last year'
const NEW = 'the secret of this year'
const box = secretBox([NEW])
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

describe('the digest a client sends', () => {
  it('is taken in any case and compared in lower case', () => {
    const digest = hex('md5', 'bob:pw')
    expect(credentialDigest('md5', digest.toUpperCase())).toBe(digest)
  })

  it('is no digest when its length is that of the other method, or it is not hex', () => {
    expect(credentialDigest('sha', hex('md5', 'bob:pw'))).toBeUndefined()
    expect(credentialDigest('md5', hex('sha1', 'bob:pw'))).toBeUndefined()
    expect(credentialDigest('md5', 'g'.repeat(32))).toBeUndefined()
    expect(credentialDigest('md5', `${'a'.repeat(32)}\n`)).toBeUndefined()
    expect(credentialDigest('md5', '')).toBeUndefined()
  })
})

describe('credential keys', () => {
  it('fit md5 and sha1 of the user name as typed and lower-cased, and nothing else', () => {
    const user = userWith(credentialKeys(box, 'a1', 'Bob', 'Pw'))
    const fits = (method: 'md5' | 'sha', text: string) =>
      hasCredential(
        user,
        credentialLookupKeys(box, ['a1'], method, hex(method === 'md5' ? 'md5' : 'sha1', text)),
      )
    for (const method of ['md5', 'sha'] as const) {
      expect(fits(method, 'Bob:Pw')).toBe(true)
      expect(fits(method, 'bob:Pw')).toBe(true)
      expect(fits(method, 'BOB:Pw')).toBe(false)
      expect(fits(method, 'Bob:pw')).toBe(false)
      expect(fits(method, 'Bob:Pw ')).toBe(false)
    }
    expect(user.credentialKeys).toHaveLength(4)
  })

  it('are two, not four, for a user name that is lower-case already', () => {
    expect(credentialKeys(box, 'a1', 'bob', 'pw')).toHaveLength(2)
  })

  it('are bound to the account: the same credentials look different in another one', () => {
    const here = credentialKeys(box, 'a1', 'bob', 'pw')
    const there = credentialKeys(box, 'a2', 'bob', 'pw')
    expect(here.some((key) => there.includes(key))).toBe(false)
  })

  it('are stored under the first secret and found under every one', () => {
    const stored = credentialKeys(secretBox([OLD]), 'a1', 'bob', 'pw')
    const digest = hex('md5', 'bob:pw')
    const rotated = secretBox([NEW, OLD])
    expect(hasCredential(userWith(stored), credentialLookupKeys(rotated, ['a1'], 'md5', digest))).toBe(true)
    expect(hasCredential(userWith(stored), credentialLookupKeys(box, ['a1'], 'md5', digest))).toBe(false)
    expect(credentialKeys(rotated, 'a1', 'bob', 'pw')).toEqual(credentialKeys(box, 'a1', 'bob', 'pw'))
  })

  it('hold neither user name, password nor digest, whatever those are', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4 }), fc.string({ minLength: 4 }), (username, password) => {
        const text = JSON.stringify(credentialKeys(box, 'a1', username, password))
        for (const name of [username, username.toLowerCase()]) {
          expect(text).not.toContain(hex('md5', `${name}:${password}`))
          expect(text).not.toContain(hex('sha1', `${name}:${password}`))
        }
        expect(
          hasPassword(box, userWith(credentialKeys(box, 'a1', username, password), username), password),
        ).toBe(true)
        expect(
          hasPassword(box, userWith(credentialKeys(box, 'a1', username, password), username), `${password}x`),
        ).toBe(false)
      }),
      { numRuns: 50 },
    )
  })
})

import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { type SignInInput, signIn } from '../../src/auth/sign-in.js'
import { md5Of, sha1Of } from '../accounts/account-harness.js'
import { codeOf, createAuthHarness, DAY_MS } from './auth-harness.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

describe('signing in', () => {
  it('issues a token of the account for its API key, valid for a day', async () => {
    const harness = await createAuthHarness()
    const signedIn = await signIn(harness, { apiKey: harness.apiKey })
    expect(signedIn).toEqual({
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresMs: harness.clock.now() + DAY_MS,
      account: expect.objectContaining({ id: 'acme', name: 'Acme Telecom' }),
    })
    expect(await authenticate(harness, signedIn.token)).toEqual({
      accountId: 'acme',
      token: signedIn.token,
      expiresMs: signedIn.expiresMs,
    })
  })

  it.each<[string, SignInInput]>([
    ['md5 and realm', bob],
    ['md5 of the user name as typed', { ...bob, credentials: md5Of('Bob:pw') }],
    ['a digest in upper case', { ...bob, credentials: md5Of('bob:pw').toUpperCase() }],
    ['sha', { ...bob, credentials: sha1Of('bob:pw'), method: 'sha' }],
    ['a realm with spaces and capitals', { ...bob, realm: ' ACME.Test ' }],
    [
      'an account name by its letters and digits',
      { credentials: bob.credentials, accountName: 'acme-TELECOM!' },
    ],
    ['an account name with an unknown realm', { ...bob, realm: 'nowhere.test', accountName: 'Acme Telecom' }],
    ['an empty realm and an account name', { ...bob, realm: '', accountName: 'Acme Telecom' }],
  ])('accepts a user by %s', async (_, input) => {
    const harness = await createAuthHarness()
    const signedIn = await signIn(harness, input)
    expect(signedIn).toMatchObject({ account: { id: 'acme' }, userId: 'u1' })
    expect(await authenticate(harness, signedIn.token)).toMatchObject({ accountId: 'acme', userId: 'u1' })
  })

  it('chooses, among several accounts with one name, the one whose user matches', async () => {
    const harness = await createAuthHarness()
    await harness.accounts.create({
      id: 'acme2',
      name: 'ACME telecom',
      realm: 'acme2.test',
      users: [{ username: 'eve', password: 'pw' }],
    })
    const named = (username: string) =>
      signIn(harness, { credentials: md5Of(`${username}:pw`), accountName: 'Acme Telecom' })
    expect((await named('bob')).account.id).toBe('acme')
    expect((await named('eve')).account.id).toBe('acme2')
  })

  it('prefers an enabled account to a disabled one with the same name, user and password', async () => {
    const harness = await createAuthHarness()
    await harness.accounts.update('acme', { enabled: false })
    await harness.accounts.create({
      id: 'reopened',
      name: 'Acme Telecom',
      realm: 'acme2.test',
      users: [{ username: 'bob', password: 'pw' }],
    })
    const signedIn = await signIn(harness, { credentials: bob.credentials, accountName: 'Acme Telecom' })
    expect(signedIn.account.id).toBe('reopened')
  })
})

const wrongLogins: [string, SignInInput][] = [
  ['an unknown API key', { apiKey: 'f'.repeat(64) }],
  ['an empty API key', { apiKey: '' }],
  ['a wrong password', { ...bob, credentials: md5Of('bob:no') }],
  ['an unknown user', { ...bob, credentials: md5Of('eve:pw') }],
  ['an unknown realm', { ...bob, realm: 'nowhere.test' }],
  ['an unknown account name', { credentials: bob.credentials, accountName: 'Nobody' }],
  ['an account name without letters', { credentials: bob.credentials, accountName: '***' }],
  ['another account’s realm', { ...bob, realm: 'other.test' }],
  [
    'another account’s realm, even with its own name',
    { ...bob, realm: 'other.test', accountName: 'Acme Telecom' },
  ],
  ['the digest of the other method', { ...bob, method: 'sha' }],
  ['credentials that are not a digest', { ...bob, credentials: 'bob:pw' }],
  ['an empty digest', { ...bob, credentials: '' }],
  ['the zeros that replace a malformed digest', { ...bob, credentials: '0'.repeat(32) }],
]

describe('a wrong login', () => {
  it.each(wrongLogins)('with %s is rejected with the same error as every other', async (_, input) => {
    const harness = await createAuthHarness()
    const error = await signIn(harness, input).catch((thrown: unknown) => thrown)
    expect({ ...(error as object) }).toEqual({ name: 'HookswitchError', code: 'InvalidCredentials' })
    expect((error as Error).message).toBe('invalid credentials')
    expect(harness.calls.map((call) => (call as [string])[0])).not.toContain('issue')
  })

  it('makes the same store calls whichever part is wrong', async () => {
    const harness = await createAuthHarness()
    const storeCalls = async (input: SignInInput) => {
      harness.calls.length = 0
      expect(await codeOf(signIn(harness, input))).toBe('InvalidCredentials')
      return harness.calls.map((call) => (call as [string])[0])
    }
    const byRealm = await storeCalls({ ...bob, credentials: md5Of('bob:no') })
    expect(byRealm).toEqual(['byRealm', 'userByCredential', 'userByCredential'])
    for (const wrong of [
      { ...bob, realm: 'nowhere.test' },
      { ...bob, credentials: 'no digest' },
      { ...bob, credentials: md5Of('eve:pw') },
    ]) {
      expect(await storeCalls(wrong)).toEqual(byRealm)
    }
    await harness.accounts.update('acme', { enabled: false })
    expect(await storeCalls({ ...bob, credentials: md5Of('bob:no') })).toEqual(byRealm)
  })

  it('to a disabled account fails like any other; a correct one fails with AccountLocked', async () => {
    const harness = await createAuthHarness()
    await harness.accounts.update('acme', { enabled: false })
    expect(await codeOf(signIn(harness, bob))).toBe('AccountLocked')
    expect(await codeOf(signIn(harness, { apiKey: harness.apiKey }))).toBe('AccountLocked')
    expect(await codeOf(signIn(harness, { ...bob, credentials: md5Of('bob:no') }))).toBe('InvalidCredentials')
  })

  it('is one with an old password or a rotated key', async () => {
    const harness = await createAuthHarness()
    await harness.accounts.rotateApiKey('acme')
    await harness.accounts.setPassword('acme', 'bob', 'new')
    expect(await codeOf(signIn(harness, { apiKey: harness.apiKey }))).toBe('InvalidCredentials')
    expect(await codeOf(signIn(harness, bob))).toBe('InvalidCredentials')
    expect(await codeOf(signIn(harness, { ...bob, credentials: md5Of('bob:new') }))).toBe('resolved')
  })
})

describe('a malformed login', () => {
  it.each<[unknown, string[]]>([
    [{}, ['credentials required', 'realm required']],
    [null, [' type']],
    [{ apiKey: 'x', user: 'y' }, ['user additionalProperties']],
    [{ apiKey: 7 }, ['apiKey type']],
    [{ credentials: 'x' }, ['realm required']],
    [{ credentials: ['x'], realm: 'r' }, ['credentials type']],
    [{ credentials: 'x', realm: 'r', method: 'sha256' }, ['method enum']],
    [{ credentials: 'x', realm: 'r', method: 'constructor' }, ['method enum']],
  ])('%j is rejected with the missing or invalid fields', async (input, failures) => {
    const harness = await createAuthHarness()
    await expect(signIn(harness, input as SignInInput)).rejects.toMatchObject({
      code: 'InvalidInput',
      failures: failures.map((failure) => ({ path: failure.split(' ')[0], rule: failure.split(' ')[1] })),
    })
  })
})

describe('a burst of logins', () => {
  it('from one address is throttled, earlier when logins fail, and affects no other address', async () => {
    const harness = await createAuthHarness()
    const wrong = { ...bob, credentials: md5Of('bob:no') }
    const from = { address: '203.0.113.7' }
    const codes: string[] = []
    for (let i = 0; i < 25; i += 1) codes.push(await codeOf(signIn(harness, wrong, from)))
    expect(codes.filter((code) => code === 'InvalidCredentials')).toHaveLength(20)
    expect(codes.filter((code) => code === 'TooManyLogins')).toHaveLength(5)
    await expect(signIn(harness, bob, from)).rejects.toMatchObject({
      code: 'TooManyLogins',
      retryAfterSeconds: 1,
    })
    expect(await codeOf(signIn(harness, bob, { address: '203.0.113.8' }))).toBe('resolved')
    expect(await codeOf(signIn(harness, bob))).toBe('resolved')
    await harness.clock.advance(1_000)
    expect(await codeOf(signIn(harness, bob, from))).toBe('resolved')
  })
})

import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/auth/authenticate.js'
import { type SignInInput, signIn } from '../../src/auth/sign-in.js'
import { md5Of, sha1Of } from '../accounts/account-world.js'
import { authWorld, codeOf, DAY_MS } from './auth-world.js'

const bob = { credentials: md5Of('bob:pw'), realm: 'acme.test' }

describe('signing in', () => {
  it('trades an API key for a token of the account that lives a day', async () => {
    const world = await authWorld()
    const signedIn = await signIn(world, { apiKey: world.apiKey })
    expect(signedIn).toEqual({
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresMs: world.clock.now() + DAY_MS,
      account: expect.objectContaining({ id: 'acme', name: 'Acme Telecom' }),
    })
    expect(await authenticate(world, signedIn.token)).toEqual({
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
    [
      'an account name beside an unknown realm',
      { ...bob, realm: 'nowhere.test', accountName: 'Acme Telecom' },
    ],
    ['an empty realm and an account name', { ...bob, realm: '', accountName: 'Acme Telecom' }],
  ])('lets a user in by %s', async (_, input) => {
    const world = await authWorld()
    const signedIn = await signIn(world, input)
    expect(signedIn).toMatchObject({ account: { id: 'acme' }, userId: 'u1' })
    expect(await authenticate(world, signedIn.token)).toMatchObject({ accountId: 'acme', userId: 'u1' })
  })

  it('picks, of several accounts of one name, the one whose user fits', async () => {
    const world = await authWorld()
    await world.accounts.create({
      id: 'acme2',
      name: 'ACME telecom',
      realm: 'acme2.test',
      users: [{ username: 'eve', password: 'pw' }],
    })
    const named = (username: string) =>
      signIn(world, { credentials: md5Of(`${username}:pw`), accountName: 'Acme Telecom' })
    expect((await named('bob')).account.id).toBe('acme')
    expect((await named('eve')).account.id).toBe('acme2')
  })

  it('prefers an enabled account to a disabled one of the same name, user and password', async () => {
    const world = await authWorld()
    await world.accounts.update('acme', { enabled: false })
    await world.accounts.create({
      id: 'reopened',
      name: 'Acme Telecom',
      realm: 'acme2.test',
      users: [{ username: 'bob', password: 'pw' }],
    })
    const signedIn = await signIn(world, { credentials: bob.credentials, accountName: 'Acme Telecom' })
    expect(signedIn.account.id).toBe('reopened')
  })
})

const wrongLogins: [string, SignInInput][] = [
  ['an unknown API key', { apiKey: 'f'.repeat(64) }],
  ['an API key of no form', { apiKey: '' }],
  ['a wrong password', { ...bob, credentials: md5Of('bob:no') }],
  ['an unknown user', { ...bob, credentials: md5Of('eve:pw') }],
  ['an unknown realm', { ...bob, realm: 'nowhere.test' }],
  ['an unknown account name', { credentials: bob.credentials, accountName: 'Nobody' }],
  ['an account name without letters', { credentials: bob.credentials, accountName: '***' }],
  ['another account’s realm', { ...bob, realm: 'other.test' }],
  ['the digest of the other method', { ...bob, method: 'sha' }],
  ['no digest at all', { ...bob, credentials: 'bob:pw' }],
  ['an empty digest', { ...bob, credentials: '' }],
  ['the zeros that stand in for a digest', { ...bob, credentials: '0'.repeat(32) }],
]

describe('a wrong login', () => {
  it.each(wrongLogins)('by %s is refused, like every other', async (_, input) => {
    const world = await authWorld()
    const refused = await signIn(world, input).catch((thrown: unknown) => thrown)
    expect({ ...(refused as object) }).toEqual({ name: 'HookswitchError', code: 'InvalidCredentials' })
    expect((refused as Error).message).toBe('invalid credentials')
    expect(world.heard.map((call) => (call as [string])[0])).not.toContain('issue')
  })

  it('asks the store the same questions whichever part is wrong', async () => {
    const world = await authWorld()
    const questions = async (input: SignInInput) => {
      world.heard.length = 0
      expect(await codeOf(signIn(world, input))).toBe('InvalidCredentials')
      return world.heard.map((call) => (call as [string])[0])
    }
    const byRealm = await questions({ ...bob, credentials: md5Of('bob:no') })
    expect(byRealm).toEqual(['byRealm', 'userByCredential', 'userByCredential'])
    for (const wrong of [
      { ...bob, realm: 'nowhere.test' },
      { ...bob, credentials: 'no digest' },
      { ...bob, credentials: md5Of('eve:pw') },
    ]) {
      expect(await questions(wrong)).toEqual(byRealm)
    }
    await world.accounts.update('acme', { enabled: false })
    expect(await questions({ ...bob, credentials: md5Of('bob:no') })).toEqual(byRealm)
  })

  it('into a disabled account is as wrong as any; a right one is told that it is locked', async () => {
    const world = await authWorld()
    await world.accounts.update('acme', { enabled: false })
    expect(await codeOf(signIn(world, bob))).toBe('AccountLocked')
    expect(await codeOf(signIn(world, { apiKey: world.apiKey }))).toBe('AccountLocked')
    expect(await codeOf(signIn(world, { ...bob, credentials: md5Of('bob:no') }))).toBe('InvalidCredentials')
  })

  it('by an old password or a rotated key is wrong', async () => {
    const world = await authWorld()
    await world.accounts.rotateApiKey('acme')
    await world.accounts.setPassword('acme', 'bob', 'new')
    expect(await codeOf(signIn(world, { apiKey: world.apiKey }))).toBe('InvalidCredentials')
    expect(await codeOf(signIn(world, bob))).toBe('InvalidCredentials')
    expect(await codeOf(signIn(world, { ...bob, credentials: md5Of('bob:new') }))).toBe('resolved')
  })
})

describe('a login of the wrong form', () => {
  it.each<[unknown, string[]]>([
    [{}, ['credentials required', 'realm required']],
    [null, ['credentials required', 'realm required']],
    [{ apiKey: 7 }, ['apiKey type']],
    [{ credentials: 'x' }, ['realm required']],
    [{ credentials: ['x'], realm: 'r' }, ['credentials type']],
    [{ credentials: 'x', realm: 'r', method: 'sha256' }, ['method enum']],
    [{ credentials: 'x', realm: 'r', method: 'constructor' }, ['method enum']],
  ])('%j names what is missing or wrong', async (input, failures) => {
    const world = await authWorld()
    await expect(signIn(world, input as SignInInput)).rejects.toMatchObject({
      code: 'InvalidInput',
      failures: failures.map((one) => ({ path: one.split(' ')[0], rule: one.split(' ')[1] })),
    })
  })
})

describe('many logins', () => {
  it('from one address are slowed, wrong ones sooner, and nobody else is', async () => {
    const world = await authWorld()
    const wrong = { ...bob, credentials: md5Of('bob:no') }
    const from = { address: '203.0.113.7' }
    const codes: string[] = []
    for (let i = 0; i < 25; i += 1) codes.push(await codeOf(signIn(world, wrong, from)))
    expect(codes.filter((code) => code === 'InvalidCredentials')).toHaveLength(20)
    expect(codes.filter((code) => code === 'TooManyLogins')).toHaveLength(5)
    await expect(signIn(world, bob, from)).rejects.toMatchObject({
      code: 'TooManyLogins',
      retryAfterSeconds: 1,
    })
    expect(await codeOf(signIn(world, bob, { address: '203.0.113.8' }))).toBe('resolved')
    expect(await codeOf(signIn(world, bob))).toBe('resolved')
    await world.clock.advance(1_000)
    expect(await codeOf(signIn(world, bob, from))).toBe('resolved')
  })
})

import { describe, expect, it } from 'vitest'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { accountService } from '../../src/auth/account-service.js'
import { authenticate } from '../../src/auth/authenticate.js'
import { signIn } from '../../src/auth/sign-in.js'
import { signOut } from '../../src/auth/sign-out.js'
import { HookswitchError } from '../../src/errors.js'
import { md5Of } from '../accounts/account-harness.js'
import { codeOf, createAuthHarness } from './auth-harness.js'

/** A harness with tokens of all kinds in the cache. */
async function signedIn() {
  const harness = await createAuthHarness()
  const byKey = (await signIn(harness, { apiKey: harness.apiKey })).token
  const byUser = (await signIn(harness, { credentials: md5Of('bob:pw'), realm: 'acme.test' })).token
  const subKey = await harness.accounts.readApiKey('sub')
  const ofSub = (await signIn(harness, { apiKey: subKey })).token
  const states = async () => ({
    byKey: await codeOf(authenticate(harness, byKey)),
    byUser: await codeOf(authenticate(harness, byUser)),
    ofSub: await codeOf(authenticate(harness, ofSub)),
  })
  expect(await states()).toEqual({ byKey: 'resolved', byUser: 'resolved', ofSub: 'resolved' })
  return { harness, byKey, byUser, ofSub, states }
}

const invalid = 'InvalidCredentials'
const valid = 'resolved'

describe('tokens become invalid at once on the node where', () => {
  it('they are signed out, each by itself', async () => {
    const { harness, byKey, states } = await signedIn()
    await signOut(harness, byKey)
    expect(await states()).toEqual({ byKey: invalid, byUser: valid, ofSub: valid })
    await signOut(harness, byKey)
    await signOut(harness, 'no token')
    expect(await states()).toEqual({ byKey: invalid, byUser: valid, ofSub: valid })
  })

  it('the API key is rotated: those of the key, but not those of users', async () => {
    const { harness, states } = await signedIn()
    await harness.accounts.rotateApiKey('acme')
    expect(await states()).toEqual({ byKey: invalid, byUser: valid, ofSub: valid })
  })

  it('a password is set: only those of that user', async () => {
    const { harness, states } = await signedIn()
    await harness.accounts.setPassword('acme', 'bob', 'new')
    expect(await states()).toEqual({ byKey: valid, byUser: invalid, ofSub: valid })
  })

  it('the user is removed, even if a user with the same id, name and password is added', async () => {
    const { harness, states } = await signedIn()
    await harness.accounts.removeUser('acme', 'u1')
    expect(await states()).toEqual({ byKey: valid, byUser: invalid, ofSub: valid })
    await harness.accounts.addUser('acme', { id: 'u1', username: 'Bob', password: 'pw' })
    expect(await states()).toEqual({ byKey: valid, byUser: invalid, ofSub: valid })
  })

  it('the account is disabled, but not those of accounts below it; enabling makes them valid again', async () => {
    const { harness, states } = await signedIn()
    await harness.accounts.update('acme', { enabled: false })
    expect(await states()).toEqual({ byKey: invalid, byUser: invalid, ofSub: valid })
    await harness.accounts.update('acme', { enabled: true })
    expect(await states()).toEqual({ byKey: valid, byUser: valid, ofSub: valid })
  })

  it('the account is removed, even if an account with the same realm and key is created', async () => {
    const { harness, states } = await signedIn()
    const apiKey = await harness.accounts.readApiKey('sub')
    await harness.accounts.remove('sub')
    expect(await states()).toEqual({ byKey: valid, byUser: valid, ofSub: invalid })
    await harness.accounts.create({ id: 'sub2', name: 'Sub', realm: 'sub.test', apiKey })
    expect(await states()).toEqual({ byKey: valid, byUser: valid, ofSub: invalid })
  })

  it('accounts.ensure disables an account or changes a password, but not if it fails later', async () => {
    const { harness, states } = await signedIn()
    const acme = { id: 'acme', name: 'Acme Telecom', realm: 'acme.test' }
    await harness.accounts.ensure([{ ...acme, users: [{ username: 'bob', password: 'new' }] }])
    expect(await states()).toEqual({ byKey: valid, byUser: invalid, ofSub: valid })
    const failing = harness.accounts.ensure([
      { ...acme, enabled: false },
      { name: 'B', realm: 'acme.test', id: 'b' },
    ])
    expect(await codeOf(failing)).toBe('Conflict')
    expect(await states()).toEqual({ byKey: valid, byUser: invalid, ofSub: valid })
    await harness.accounts.ensure([{ ...acme, enabled: false }])
    expect(await states()).toEqual({ byKey: invalid, byUser: invalid, ofSub: valid })
  })

  it('the host reports a change of an account in its directory', async () => {
    const { harness, states } = await signedIn()
    const account = (await harness.accountDeps.accounts.lineage('acme'))[0]!
    await harness.accountDeps.accounts.update({ ...account, enabled: false })
    expect(await states()).toEqual({ byKey: valid, byUser: valid, ofSub: valid })
    harness.accounts.changed('acme')
    expect(await states()).toEqual({ byKey: invalid, byUser: invalid, ofSub: valid })
  })
})

describe('a change with an unknown outcome', () => {
  it.each(['rotateApiKey', 'setPassword'] as const)(
    'by %s invalidates tokens as a confirmed one does',
    async (operation) => {
      const { harness, byKey, byUser } = await signedIn()
      const lost = new HookswitchError('StoreUnavailable', 'connection lost during commit')
      const losing =
        <Args extends unknown[]>(call: (...args: Args) => Promise<void>) =>
        async (...args: Args) => {
          await call(...args)
          throw lost
        }
      const { accounts } = harness.accountDeps
      const accountDeps = {
        ...harness.accountDeps,
        accounts: { ...accounts, putApiKey: losing(accounts.putApiKey), putUser: losing(accounts.putUser) },
      }
      const service = accountService({ ...harness, accountDeps, directory: storeDirectory(accountDeps) })
      const change =
        operation === 'rotateApiKey' ? service.rotateApiKey('acme') : service.setPassword('acme', 'u1', 'new')
      expect(await codeOf(change)).toBe('StoreUnavailable')
      expect(await codeOf(authenticate(harness, operation === 'rotateApiKey' ? byKey : byUser))).toBe(invalid)
    },
  )

  it('succeeds when only the deletion of its tokens fails', async () => {
    const { harness, byKey } = await signedIn()
    const tokens = { ...harness.tokens, revokeAll: () => Promise.reject(new Error('down')) }
    const service = accountService({ ...harness, tokens, accountDeps: harness.accountDeps })
    const next = await service.rotateApiKey('acme')
    expect(await harness.accounts.readApiKey('acme')).toBe(next)
    expect(await codeOf(authenticate(harness, byKey))).toBe(invalid)
  })

  it('leaves a token valid that could not be revoked, and rejects', async () => {
    const { harness, byKey } = await signedIn()
    const tokens = {
      ...harness.tokens,
      revoke: () => Promise.reject(new HookswitchError('StoreUnavailable', 'down')),
    }
    expect(await codeOf(signOut({ ...harness, tokens }, byKey))).toBe('StoreUnavailable')
    expect(await codeOf(authenticate(harness, byKey))).toBe(valid)
  })
})
